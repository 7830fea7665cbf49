//! Binomial tree for MPI_Scatter and MPI_Scatterv: every rank receives the blocks of its subtree together, then passes
//! them on.
//!
//! ceil(log2 p) rounds. A block moves once for each edge from the root: (p/2)·log2 p blocks in all if p is a power of
//! two. The root sends p − 1 blocks.
//!
//! MPI_Scatterv: the lengths of the blocks travel first, down the same tree, 8 bytes each. This doubles the rounds. A
//! rank inside the tree needs memory for the blocks of its subtree, at most p/2 of them. MPI_Scatterv is also slow with
//! few ranks, or with one long block far down the tree.

use crate::algorithms::building_blocks::binomial_tree::{scatter, subtree};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const SCATTER: Algorithm = Algorithm {
    collectives: &[Collective::Scatter],
    name: "binomial",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.2 (the first half of their long broadcast)",
    idea: "Every rank gets the blocks of its subtree of a binomial tree and passes them on.",
    avoid_when: "blocks are large, because ranks pass them on instead of receiving them straight from the root.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

pub const SCATTERV: Algorithm =
    Algorithm { collectives: &[Collective::Scatterv], requires: &[Requirement::BlockLengths], ..SCATTER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (relative, size) = (problem.relative(rank), problem.size);
    hand_out(problem, rank, subtree(relative, size).len(), scatter(relative, size))
}

/// Completes a scatter along a tree whose ranks are counted from the root. `subtree` is the size of the rank's subtree.
pub(super) fn hand_out(problem: &Problem, rank: usize, subtree: usize, scatter: Schedule) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    // Where the blocks of the subtree arrive; a leaf gets only its own block.
    let place = match subtree {
        _ if rank == root => Send,
        1 => Recv,
        _ => Scratch,
    };
    let mut own = Builder::new(rank, size, size);
    if rank != root || !in_place {
        own.copy(place.block(rank), Recv.block(rank));
    }
    let scatter = scatter.map_runs(|run| run.in_buffer(place));
    scatter.relabel(root).relabel_blocks(root).then(own.build())
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
}
