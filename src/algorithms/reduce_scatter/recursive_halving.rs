//! Recursive halving for MPI_Reduce_scatter: partners at distance p/2, p/4, …, 1 send each other the half of
//! the blocks that belongs to the other's side.
//!
//! p a power of two: log2(p) rounds, p − 1 blocks sent and reduced. Otherwise the ranks beyond a power of two
//! are folded, which adds two rounds and the whole vector. With e ranks folded onto 2^l, rank 0 receives p
//! blocks, then Σ (2^j + min(2^j, e)), j from 0 to l − 1, and reduces them all.
//! Combines contributions of far ranks first, so the operator must commute. In return the blocks of a message
//! are contiguous.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::fold::{Fold, Role, reduce_folded};
use crate::algorithms::building_blocks::recursive_halving::{Segments, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::Send, Schedule};

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
    let halve = |participant, participants, operand| {
        let whole = Segments::whole(participants);
        reduce_scatter(Butterfly::farthest_first(participants), participant, whole, operand)
    };
    among_participants(problem.size, rank, halve)
}

/// Runs a reduce-scatter among a power of two of ranks for any number of ranks. `among(rank, size, operand)`
/// reduces `operand` among `size` ranks and leaves block i of the result in the receive buffer of rank i.
pub(super) fn among_participants(
    size: usize,
    rank: usize,
    among: impl Fn(usize, usize, Buffer) -> Schedule,
) -> Schedule {
    if size == 1 {
        return alone();
    }
    let fold = Fold::new(size);
    // A participant's block consists of the blocks of the ranks that it acts for.
    let among = |participant, operand| {
        among(participant, fold.participants, operand).refine(size, |participant| fold.member(participant))
    };
    let program = reduce_folded((rank, size), size, Send, |rank| rank..rank + 1, among);
    if fold.role(rank) == Role::Folded { program } else { deliver_own_block(program) }
}
