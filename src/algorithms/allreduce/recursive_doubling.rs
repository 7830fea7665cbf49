//! Recursive doubling for MPI_Allreduce: partners at distances 1, 2, 4, … exchange whole vectors.
//!
//! log2(p) rounds of the whole vector. If p is no power of two, surplus ranks are folded, in two more rounds.
//! Keeps the order of operands.
//!
//! ```text
//! p = 5        rank 0   rank 1   rank 2   rank 3   rank 4
//! fold         01       -        2        3        4
//! distance 1   012               012      34       34
//! distance 2   01234             01234    01234    01234
//! unfold       01234    01234    01234    01234    01234
//! ```

use super::contribution;
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::building_blocks::fold::{Fold, Role};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "recursive_doubling",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.5",
    idea: "Partners at distance 1, 2, 4, … exchange what they have combined so far, so that it stands for twice \
            as many ranks after every round.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (size, contribution) = (problem.size, contribution(problem));
    let fold = Fold::new(size);
    let mut program = Builder::new(rank, size, 1);
    let (folded, participant) = match fold.role(rank) {
        Role::Folded => {
            program.send(rank - 1, contribution.block(0));
            program.end_round();
            program.receive(rank - 1, Recv.block(0));
            return program.build();
        }
        Role::Keeper(participant) => (Some(rank + 1), participant),
        Role::Single(participant) => (None, participant),
    };
    let rounds = 0..fold.participants.ilog2();
    let partners: Vec<usize> = rounds.map(|round| fold.member(participant ^ (1 << round))).collect();

    let mut accumulator =
        Accumulator::new(rank, contribution, folded.into_iter().chain(partners.iter().copied()));
    if let Some(folded) = folded {
        accumulator.exchange(&mut program, folded, 0..0, 0..1);
    }
    for partner in partners {
        accumulator.exchange(&mut program, partner, 0..1, 0..1);
    }
    accumulator.finish(&mut program, 0..1);
    if let Some(folded) = folded {
        program.send(folded, Recv.block(0));
    }
    program.build()
}
