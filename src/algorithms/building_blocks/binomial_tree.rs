//! The binomial tree over ranks 0 … p − 1 rooted at 0, and the scatter and the gather along it.

use super::knomial_tree;
use crate::algorithms::digits::doublings;
use crate::cost::Cost;
use crate::schedule::Schedule;
use std::ops::Range;

/// The ranks in the subtree below `rank`, itself included. Rank 0's is everything; any other's reaches as far as its
/// lowest set bit says.
pub fn subtree(rank: usize, size: usize) -> Range<usize> {
    let reach = if rank == 0 { size } else { 1 << rank.trailing_zeros() };
    rank..(rank + reach).min(size)
}

/// The parent: the rank without its lowest set bit.
pub fn parent(rank: usize) -> Option<usize> {
    (rank > 0).then(|| rank & (rank - 1))
}

/// The children, the one with the largest subtree first.
pub fn children(rank: usize, size: usize) -> impl DoubleEndedIterator<Item = usize> + Clone {
    let reach = if rank == 0 { size.next_power_of_two() } else { 1 << rank.trailing_zeros() };
    (0..reach.trailing_zeros()).rev().map(move |bit| rank + (1 << bit)).filter(move |&child| child < size)
}

/// Binomial scatter of `size` blocks from rank 0: afterwards rank i holds the blocks of its subtree.
/// ceil(log2 p) rounds.
pub fn scatter(rank: usize, size: usize) -> Schedule {
    knomial_tree::scatter(rank, size, 2)
}

/// Binomial gather of `size` blocks to rank 0, the mirror of [`scatter`]: rank i brings block i, and afterwards holds
/// the blocks of its subtree. ceil(log2 p) rounds.
pub fn gather(rank: usize, size: usize) -> Schedule {
    knomial_tree::gather(rank, size, 2)
}

/// What [`scatter`] costs: the root sends every other rank's block once.
pub fn scatter_cost(size: usize) -> Cost {
    Cost::of_rounds(doublings(size), size - 1, 0)
}

/// What [`gather`] costs.
pub fn gather_cost(size: usize) -> Cost {
    scatter_cost(size)
}

/// What a broadcast along the tree costs: the root sends every segment ceil(log2 p) times, and nobody waits for
/// anything but the last of them.
pub fn broadcast_cost(size: usize, segments: usize) -> Cost {
    let sent = segments * doublings(size);
    Cost::of_rounds(sent, sent, 0)
}

/// What a reduction along the tree costs, the smallest subtrees first: the mirror of the broadcast.
pub fn reduce_cost(size: usize, segments: usize) -> Cost {
    let received = segments * doublings(size);
    Cost::of_rounds(received, received, received)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_and_parents_agree() {
        for size in 1..40 {
            for rank in 0..size {
                let mut below: Vec<usize> =
                    children(rank, size).flat_map(|child| subtree(child, size)).collect();
                below.push(rank);
                below.sort();
                assert_eq!(below, subtree(rank, size).collect::<Vec<_>>());
                assert!(children(rank, size).all(|child| parent(child) == Some(rank)));
            }
        }
    }

    #[test]
    fn the_paper_s_trees() {
        assert_eq!(children(0, 8).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(children(0, 10).collect::<Vec<_>>(), [8, 4, 2, 1]);
        assert_eq!(subtree(8, 10), 8..10);
    }
}
