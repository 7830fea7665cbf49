//! The k-nomial tree over ranks 0 … p − 1 rooted at 0, and scatter and gather along it. With ranks written in
//! radix k, the parent lacks the last digit that is not zero. The binomial tree has radix 2.

use super::tree_gather::{tree_gather, tree_scatter};
use crate::schedule::{Buffer::Recv, Schedule};
use std::ops::Range;

/// Returns the ranks in the subtree of `rank`, itself included.
pub fn subtree(rank: usize, size: usize, radix: usize) -> Range<usize> {
    let reach = if rank == 0 { size } else { reach(rank, rank + 1, radix) };
    rank..(rank + reach).min(size)
}

pub fn parent(rank: usize, radix: usize) -> Option<usize> {
    let weight = reach(rank, rank + 1, radix);
    (rank > 0).then(|| rank - rank / weight % radix * weight)
}

/// Returns the children, those with the largest subtrees first.
pub fn children(rank: usize, size: usize, radix: usize) -> impl Iterator<Item = usize> + Clone {
    let weights = std::iter::successors(Some(reach(rank, size, radix)), move |weight| Some(weight / radix));
    let below = weights.skip(1).take_while(|&weight| weight > 0);
    below
        .flat_map(move |weight| (1..radix).map(move |digit| rank + digit * weight))
        .filter(move |&child| child < size)
}

/// Scatters `size` blocks from rank 0. Afterwards rank i holds the blocks of its subtree.
pub fn scatter(rank: usize, size: usize, radix: usize) -> Schedule {
    let blocks = |rank| Recv.blocks(subtree(rank, size, radix)).into();
    tree_scatter(rank, size, parent(rank, radix), children(rank, size, radix), blocks)
}

/// Gathers `size` blocks at rank 0: the mirror of [`scatter`]. Rank i brings block i and afterwards holds the
/// blocks of its subtree.
pub fn gather(rank: usize, size: usize, radix: usize) -> Schedule {
    let blocks = |rank| Recv.blocks(subtree(rank, size, radix)).into();
    tree_gather(rank, size, parent(rank, radix), children(rank, size, radix), blocks)
}

/// Returns the children, those with the smallest subtrees first: these children are ready first.
pub fn nearest_first(rank: usize, size: usize, radix: usize) -> Vec<usize> {
    let mut children: Vec<usize> = children(rank, size, radix).collect();
    children.reverse();
    children
}

/// Returns the weight of the last nonzero digit; for rank 0, the least power of `radix` not below `size`.
fn reach(rank: usize, size: usize, radix: usize) -> usize {
    let mut weight = 1;
    while weight < size && rank.is_multiple_of(weight * radix) {
        weight *= radix;
    }
    weight
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_and_parents_agree() {
        for size in 1..40 {
            for radix in 2..=size.max(2) {
                let edges =
                    (0..size).flat_map(|rank| children(rank, size, radix).map(move |child| (child, rank)));
                let mut edges: Vec<(usize, usize)> = edges.collect();
                edges.sort();
                let upwards = (1..size).map(|rank| (rank, parent(rank, radix).unwrap()));
                assert_eq!(edges, upwards.collect::<Vec<_>>(), "p={size} k={radix}");
                assert_eq!(parent(0, radix), None);
                let below = |rank| children(rank, size, radix).flat_map(|child| subtree(child, size, radix));
                for rank in 0..size {
                    let mut below: Vec<usize> = below(rank).chain([rank]).collect();
                    below.sort();
                    assert_eq!(below, subtree(rank, size, radix).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn radix_two_drops_the_lowest_set_bit() {
        for rank in 1..40 {
            assert_eq!(parent(rank, 2), Some(rank & (rank - 1)));
            assert_eq!(subtree(rank, 64, 2), rank..rank + (1 << rank.trailing_zeros()));
        }
        assert_eq!(children(0, 8, 2).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(children(0, 10, 2).collect::<Vec<_>>(), [8, 4, 2, 1]);
        assert_eq!(subtree(8, 10, 2), 8..10);
    }
}
