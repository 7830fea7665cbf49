//! Butterfly for MPI_Reduce_scatter: recursive halving with partners at distance 1, 2, 4, …, which keeps the order of
//! operands. Halving in this order deals the sections in bit-reversed order. Then ranks send them to their owners.
//!
//! p a power of two, at least 4: log2(p) + 1 rounds, p blocks sent, p − 1 reduced. Otherwise the ranks beyond a power
//! of two are folded, which adds a round and the whole vector. Folded ranks also get their blocks in the last round, so
//! the section of a pair takes two messages there.

use super::alone;
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::fold::{Fold, Role, give_to_keeper};
use crate::algorithms::building_blocks::receive_in_scratch::{free_vector, receive_in_scratch};
use crate::algorithms::building_blocks::recursive_halving::{Segments, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "butterfly",
    aliases: &[],
    source: "Träff 2005; Open MPI (butterfly)",
    idea: "Partners at distance 1, 2, 4, … halve what they have, which keeps the order of operands; in the end \
            blocks go where they belong.",
    avoid_when: "the operator commutes, for then the last round can be saved.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_deliver(problem.size, rank, Butterfly::nearest_first)
}

/// Halves along a butterfly among a power of two of ranks, then sends blocks to their owners.
pub(super) fn halve_and_deliver(
    size: usize,
    rank: usize,
    butterfly: impl Fn(usize) -> Butterfly,
) -> Schedule {
    if size == 1 {
        return alone();
    }
    let fold = Fold::new(size);
    let butterfly = butterfly(fold.participants);
    let whole = Segments::whole(fold.participants);
    // A section consists of the blocks of the ranks that a participant acts for.
    let start = |participant: usize| fold.member(participant);
    let halve = |participant: usize, operand: Buffer| {
        reduce_scatter(butterfly, participant, whole, operand).refine(size, start).embed(size, start)
    };
    let before = give_to_keeper(fold, (rank, size), size, Send);
    let halved = match fold.role(rank) {
        Role::Single(participant) => halve(participant, Send),
        Role::Keeper(participant) => before.then(halve(participant, Recv)),
        Role::Folded => before,
    };

    let vector = free_vector(&halved);
    let mut last = Builder::new(rank, size, size);
    let participant = fold.participant(rank);
    let holder = fold.member(butterfly.holder(participant));
    if holder != rank {
        last.receive(holder, Recv.block(rank));
    }
    if fold.role(rank) != Role::Folded {
        let held = butterfly.place(participant);
        for owner in start(held)..start(held + 1) {
            if owner == rank {
                last.copy(Scratch.block(vector + owner), Recv.block(owner));
            } else {
                last.send(owner, Scratch.block(vector + owner));
            }
        }
    }
    receive_in_scratch(halved).then(last.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_more_round_when_folded() {
        for size in [3_usize, 5, 6, 7, 9, 12, 13, 31, 33, 100] {
            let most = (0..size).map(|rank| schedule(&Problem::new(size), rank).rounds()).max().unwrap();
            assert_eq!(most, 2 + size.ilog2() as usize, "p = {size}");
        }
    }
}
