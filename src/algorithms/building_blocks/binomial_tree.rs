//! The binomial tree over ranks 0 … p − 1 rooted at 0: the k-nomial tree of radix 2. A rank's parent lacks its lowest set bit.
//! And the scatter and the gather along it, of ceil(log2 p) rounds each.

use super::knomial_tree;
use crate::schedule::Schedule;
use std::ops::Range;

/// The ranks in the subtree below `rank`, itself included.
pub fn subtree(rank: usize, size: usize) -> Range<usize> {
    knomial_tree::subtree(rank, size, 2)
}

/// The parent.
pub fn parent(rank: usize) -> Option<usize> {
    knomial_tree::parent(rank, 2)
}

/// The children, the one with the largest subtree first.
pub fn children(rank: usize, size: usize) -> impl Iterator<Item = usize> + Clone {
    knomial_tree::children(rank, size, 2)
}

/// The children, the one with the smallest subtree first: it is ready first to be received from.
pub fn nearest_first(rank: usize, size: usize) -> Vec<usize> {
    knomial_tree::nearest_first(rank, size, 2)
}

/// Scatter of `size` blocks from rank 0: afterwards rank i holds the blocks of its subtree.
pub fn scatter(rank: usize, size: usize) -> Schedule {
    knomial_tree::scatter(rank, size, 2)
}

/// Gather of `size` blocks to rank 0, the mirror of [`scatter`].
pub fn gather(rank: usize, size: usize) -> Schedule {
    knomial_tree::gather(rank, size, 2)
}
