//! Recursive doubling for MPI_Allreduce: whole vectors are exchanged at distances 1, 2, 4, …
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.5.
//! log2(p) rounds of the whole vector; off powers of two the ranks beyond are folded, which adds two rounds.
//! Keeps the order of operands. Loses when: vectors are long.
//!
//! ```text
//! p = 5        rank 0   rank 1   rank 2   rank 3   rank 4
//! fold         01       -        2        3        4
//! distance 1   012               012      34       34
//! distance 2   01234             01234    01234    01234
//! unfold       01234    01234    01234    01234    01234
//! ```

use super::{alone, contribution};
use crate::algorithms::phases::exchange_and_reduce::exchange_and_reduce;
use crate::algorithms::phases::fold::{Fold, Role};
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Allreduce,
    name: "recursive_doubling",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.5",
    parameters: &[],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (size, contribution) = (problem.size, contribution(problem));
    if size == 1 {
        return alone(problem);
    }
    let fold = Fold::new(size);
    let mut program = Builder::new(rank, size, 1);
    match fold.role(rank) {
        Role::Folded => {
            program.send(rank - 1, contribution.block(0));
            program.end_round();
            program.receive(rank - 1, Recv.block(0));
            program.build()
        }
        Role::Single(participant) => {
            let member = |participant| fold.member(participant);
            double(participant, fold.participants, contribution).embed(size, member)
        }
        Role::Keeper(participant) => {
            exchange_and_reduce(&mut program, contribution, (rank, rank + 1), 0..0, 0..1);
            let mut unfold = Builder::new(rank, size, 1);
            unfold.send(rank + 1, Recv.block(0));
            let member = |participant| fold.member(participant);
            program
                .build()
                .then(double(participant, fold.participants, Recv).embed(size, member))
                .then(unfold.build())
        }
    }
}

/// The rounds among the participants, of whom there are a power of two.
fn double(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    let mut program = Builder::new(rank, size, 1);
    for round in 0..size.ilog2() {
        let operand = if round == 0 { contribution } else { Recv };
        exchange_and_reduce(&mut program, operand, (rank, rank ^ (1 << round)), 0..1, 0..1);
    }
    program.build()
}
