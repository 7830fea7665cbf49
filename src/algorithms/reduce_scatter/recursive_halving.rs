//! Recursive halving for MPI_Reduce_scatter: partners at distance p/2, p/4, …, 1 give each other the half that is the
//! other's.
//!
//! p a power of two: log2(p) rounds, p − 1 blocks sent and reduced. Otherwise the ranks beyond a power of two are
//! folded, which adds two rounds and the whole vector. With e ranks folded onto 2^l, rank 0 receives p blocks and then
//! Σ (2^j + min(2^j, e)), j from 0 to l − 1, and reduces them all.
//! Combines contributions of far ranks first, so the operator must commute; in return the blocks of a message lie
//! together.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::building_blocks::fold::{Fold, Role, reduce_folded};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "recursive_halving",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    idea: "Partners at distance p/2, p/4, …, 1 give each other the half of the blocks that belongs to the \
            other's side.",
    avoid_when: "the number of ranks is no power of two.",
    parameters: &[],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    among_participants(problem.size, rank, halve)
}

/// Reduce-scatter among any number of ranks by one among a power of two. `among(rank, size, operand)` reduces `operand`
/// among `size` ranks and leaves block i of the result in the receive buffer of rank i.
pub(super) fn among_participants(
    size: usize,
    rank: usize,
    among: impl Fn(usize, usize, Buffer) -> Schedule,
) -> Schedule {
    if size == 1 {
        return alone();
    }
    let fold = Fold::new(size);
    // A participant's block are those of the ranks that it stands for.
    let among = |participant, operand| {
        among(participant, fold.participants, operand).refine(size, |participant| fold.member(participant))
    };
    let program = reduce_folded((rank, size), size, Send, |rank| rank..rank + 1, among);
    if fold.role(rank) == Role::Folded { program } else { deliver_own_block(program) }
}

/// The rounds among the participants, of whom there are a power of two.
fn halve(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    let partner = |round: u32| rank ^ (1 << round);
    let rounds = (0..size.ilog2()).rev();
    let mut program = Builder::new(rank, size, size);
    let mut accumulator = Accumulator::new(rank, contribution, rounds.clone().map(partner));
    for round in rounds {
        // After this round the blocks of an aligned group of 2^round ranks are left.
        let group = |rank: usize| rank >> round << round..((rank >> round) + 1) << round;
        accumulator.exchange(&mut program, partner(round), group(partner(round)), group(rank));
    }
    accumulator.finish(&mut program, rank..rank + 1);
    program.build()
}
