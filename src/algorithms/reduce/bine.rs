//! Bine tree for MPI_Reduce, whole or in segments: the tree whose edges have the negabinary lengths 1, −1, 3, −5, 11, ….
//!
//! Rounds and volume as in `binomial`: ceil(log2 p) rounds of the whole vector; with k segments, k ceil(log2
//! p) rounds of one segment. Edges are a third shorter.
//! Ranks are counted from the root and combined out of order, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::bine::Tree;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "bine",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "In every round half of the ranks that are left send what they have combined to the other half. Each of them sends \
            to one rank, first at distance 1, then 1, 3, 5, 11, …, to the right and to the left in turn.",
    avoid_when: "vectors are long, for the root combines several of them one after the other.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let (relative, tree) = (problem.relative(rank), Tree::new(size));
    // The child with the smallest subtree is ready first.
    let children = tree.children(relative).into_iter().rev();
    let contribution = contribution(problem, rank);
    let program = tree_reduce(relative, size, segments, contribution, tree.parent(relative), children);
    at_root(problem, program.relabel(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_sends_once() {
        for size in 1..40_usize {
            let problem = Problem { root: size / 3, ..Problem::new(size) };
            for rank in 0..size {
                let program = schedule(&problem, rank);
                assert_eq!(program.messages_sent(), usize::from(rank != problem.root));
                assert!(program.blocks_reduced() <= size.next_power_of_two().ilog2() as usize);
            }
        }
    }
}
