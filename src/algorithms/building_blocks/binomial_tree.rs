//! The binomial tree over ranks 0 … p − 1 rooted at 0: the k-nomial tree of radix 2. A rank's parent lacks
//! the rank's lowest set bit. Scatter and gather along the tree take ceil(log2 p) rounds each.

use super::knomial_tree;
use crate::schedule::Schedule;
use std::ops::Range;

/// Returns the ranks in the subtree of `rank`, itself included.
pub fn subtree(rank: usize, size: usize) -> Range<usize> {
    knomial_tree::subtree(rank, size, 2)
}

pub fn parent(rank: usize) -> Option<usize> {
    knomial_tree::parent(rank, 2)
}

/// Returns the children, the one with the largest subtree first.
pub fn children(rank: usize, size: usize) -> impl Iterator<Item = usize> + Clone {
    knomial_tree::children(rank, size, 2)
}

/// Returns the children, the one with the smallest subtree first: that child is ready first.
pub fn nearest_first(rank: usize, size: usize) -> Vec<usize> {
    knomial_tree::nearest_first(rank, size, 2)
}

/// Scatters `size` blocks from rank 0. Afterwards rank i holds the blocks of its subtree.
pub fn scatter(rank: usize, size: usize) -> Schedule {
    knomial_tree::scatter(rank, size, 2)
}

/// Gathers `size` blocks at rank 0: the mirror of [`scatter`].
pub fn gather(rank: usize, size: usize) -> Schedule {
    knomial_tree::gather(rank, size, 2)
}
