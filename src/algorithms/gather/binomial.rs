//! Binomial tree for MPI_Gather and MPI_Gatherv: every rank collects the blocks of its subtree, then sends them on
//! together.
//!
//! ceil(log2 p) rounds. A block moves once for each edge to the root: (p/2)·log2 p blocks in all if p is a power of
//! two.
//!
//! MPI_Gatherv: the lengths of the blocks travel first, up the same tree, 8 bytes each. This doubles the rounds. A rank
//! inside the tree needs memory for the blocks of its subtree, at most p/2 of them. MPI_Gatherv is also slow with few
//! ranks, or with one long block far down the tree.

use crate::algorithms::building_blocks::binomial_tree::{gather, subtree};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const GATHER: Algorithm = Algorithm {
    collectives: &[Collective::Gather],
    name: "binomial",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4 (as in MPICH)",
    idea: "Every rank collects the blocks of its subtree of a binomial tree and sends them on together.",
    avoid_when: "blocks are large, because ranks pass them on instead of sending them straight to the root.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

pub const GATHERV: Algorithm =
    Algorithm { collectives: &[Collective::Gatherv], requires: &[Requirement::BlockLengths], ..GATHER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (relative, size) = (problem.relative(rank), problem.size);
    collect(problem, rank, subtree(relative, size).len(), gather(relative, size))
}

/// Completes a gather along a tree whose ranks are counted from the root. `subtree` is the size of the rank's subtree.
pub(super) fn collect(problem: &Problem, rank: usize, subtree: usize, gather: Schedule) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    // Where the blocks of the subtree are collected; a leaf has only its own block.
    let place = match subtree {
        _ if rank == root => Recv,
        1 => Send,
        _ => Scratch,
    };
    let mut own = Builder::new(rank, size, size);
    if rank != root || !in_place {
        own.copy(Send.block(rank), place.block(rank));
    }
    let gather = gather.map_runs(|run| run.in_buffer(place));
    own.build().then(gather.relabel(root).relabel_blocks(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_powers_of_two() {
        for exponent in 0..7 {
            let problem = Problem { root: (1 << exponent) / 3, ..Problem::new(1 << exponent) };
            let blocks: usize = (0..problem.size).map(|rank| schedule(&problem, rank).blocks_sent()).sum();
            assert_eq!(blocks, problem.size / 2 * exponent);
        }
    }

    #[test]
    fn one_message_for_each_rank_but_the_root() {
        let problem = Problem { root: 4, ..Problem::new(13) };
        for rank in 0..13 {
            assert_eq!(schedule(&problem, rank).messages_sent(), usize::from(rank != 4));
        }
    }
}
