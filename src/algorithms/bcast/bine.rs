//! Bine tree for MPI_Bcast, whole or in segments: the tree whose edges have the negabinary lengths …, 11, −5, 3, −1, 1, the longest
//! first.
//!
//! Rounds and volume as in `binomial`: ceil(log2 p) rounds of the whole vector, k ceil(log2 p) of one of k segments. Edges are a third
//! shorter.

use crate::algorithms::building_blocks::bine::Tree;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "bine",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "Every rank that has the vector sends it to one that does not, at distance …, 11, 5, 3, 1, 1, to the right and to \
            the left in turn.",
    avoid_when: "vectors are long, for the root sends them several times.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let (rank, tree) = (problem.relative(rank), Tree::new(size));
    tree_broadcast(rank, size, segments, tree.parent(rank), tree.children(rank)).relabel(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_receives_once() {
        for size in 1..40_usize {
            let problem = Problem { root: size / 3, ..Problem::new(size) };
            let sent = |rank: usize| schedule(&problem, rank).messages_sent();
            assert_eq!((0..size).map(sent).sum::<usize>(), size - 1);
            assert!(sent(problem.root) <= size.next_power_of_two().ilog2() as usize);
        }
    }
}
