//! Binary tree in the order of ranks for MPI_Reduce, whole or in segments: one child's subtree holds the ranks just below
//! a rank, the other's those just above.
//!
//! Here the root of the reduction is that of the tree and parts it in two; below it every subtree is rooted in its
//! middle. Up to 1 + floor(log2(p − 1)) levels. The result of m ranks reaches its parent in round
//! floor(log2(m + 1)) + floor(log2(2(m + 1)/3)); the later of both sides of the root ends the reduction, a round later
//! if they are equal. With k segments a rank reduces a segment while the next one arrives, in 2(k − 1) rounds more.
//! Keeps the order of operands for every root.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "binary_in_order",
    aliases: &["in-order_binary"],
    source: "after Open MPI (in-order_binary), whose tree is rooted at the last rank, so that another root gets \
            the result in a further hop",
    idea: "Vectors are combined up a binary tree: one child has the ranks just below its parent, the other \
            those just above, which keeps the order of operands.",
    avoid_when: "there are no segments, for every second rank combines two vectors one after the other.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let (parent, children) = neighbors(rank, size, root);
    at_root(problem, tree_reduce(rank, size, segments, contribution(problem, rank), parent, children))
}

/// A rank's parent and its children.
fn neighbors(rank: usize, size: usize, root: usize) -> (Option<usize>, impl Iterator<Item = usize>) {
    let (mut parent, mut node, mut subtree) = (None, root, 0..size);
    while node != rank {
        subtree = if rank < node { subtree.start..node } else { node + 1..subtree.end };
        parent = Some(node);
        node = middle(&subtree);
    }
    let below = [subtree.start..node, node + 1..subtree.end].into_iter();
    (parent, below.filter(|ranks| !ranks.is_empty()).map(|ranks| middle(&ranks)))
}

fn middle(ranks: &Range<usize>) -> usize {
    ranks.start + ranks.len() / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(rank: usize, size: usize, root: usize) -> usize {
        neighbors(rank, size, root).0.map_or(0, |parent| 1 + level(parent, size, root))
    }

    #[test]
    fn children_know_their_parents() {
        for size in 1..40 {
            for root in 0..size {
                for rank in 0..size {
                    let (_, mut children) = neighbors(rank, size, root);
                    assert!(children.all(|child| neighbors(child, size, root).0 == Some(rank)));
                }
            }
        }
    }

    #[test]
    fn levels_are_logarithmic() {
        for size in 2..100_usize {
            for root in 0..size {
                let levels = (0..size).map(|rank| level(rank, size, root)).max().unwrap();
                assert!(levels <= 1 + (size - 1).ilog2() as usize, "p = {size}, root {root}");
            }
        }
    }
}
