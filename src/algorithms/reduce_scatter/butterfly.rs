//! Butterfly for MPI_Reduce_scatter: recursive halving with partners at distance 1, 2, 4, …, so that the order of
//! operands is kept; the sections, which are thereby dealt in bit-reversed order, then go where they belong.
//!
//! Source: Träff 2005; Open MPI (butterfly).
//! p a power of two: log2(p) + 1 rounds, p blocks sent, p − 1 reduced. Otherwise the ranks beyond a power of two are
//! folded, which adds a round and the whole vector; their blocks come in the last round as well.
//! Loses when: the operator commutes, to `circulant`.

use super::alone;
use crate::algorithms::phases::fold::{Fold, Role, give_to_keeper};
use crate::algorithms::phases::receive_in_scratch::{free_vector, receive_in_scratch};
use crate::algorithms::phases::recursive_halving::{reduce_scatter, section};
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const REDUCE_SCATTER: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    name: "butterfly",
    aliases: &[],
    source: "Träff 2005",
    parameters: &[],
    requires: &[],
    schedule,
};

pub const REDUCE_SCATTER_BLOCK: Algorithm =
    Algorithm { collective: Collective::ReduceScatterBlock, ..REDUCE_SCATTER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let fold = Fold::new(size);
    let blocks = fold.participants;
    // A section are the blocks of the ranks that a participant stands for.
    let start = |participant: usize| fold.member(participant);
    let halve = |participant: usize, operand: Buffer| {
        reduce_scatter(participant, blocks, blocks, operand).refine(size, start).embed(size, start)
    };
    let before = give_to_keeper(fold, (rank, size), size, Send);
    let halved = match fold.role(rank) {
        Role::Single(participant) => halve(participant, Send),
        Role::Keeper(participant) => before.then(halve(participant, Recv)),
        Role::Folded => before,
    };

    // Reversing the bits twice changes nothing: whose section a participant holds, that one holds its own.
    let mirrored = |participant: usize| section(participant, blocks.ilog2(), blocks).start;
    let vector = free_vector(&halved);
    let mut last = Builder::new(rank, size, size);
    let holder = fold.member(mirrored(fold.participant(rank)));
    if holder != rank {
        last.receive(holder, Recv.block(rank));
    }
    if fold.role(rank) != Role::Folded {
        let held = mirrored(fold.participant(rank));
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
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 1..8 {
            let size = 1 << exponent;
            // Rank 1 holds the section of rank p/2 after halving.
            let program = schedule(&Problem::new(size), 1);
            let last = usize::from(size > 2);
            assert_eq!(program.rounds(), exponent + last);
            assert_eq!(program.blocks_sent(), size - 1 + last);
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }

    #[test]
    fn one_more_round_when_folded() {
        for size in [3_usize, 5, 6, 7, 9, 12, 13, 31, 33, 100] {
            let most = (0..size).map(|rank| schedule(&Problem::new(size), rank).rounds()).max().unwrap();
            assert_eq!(most, 2 + size.ilog2() as usize, "p = {size}");
        }
    }
}
