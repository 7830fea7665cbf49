//! Bine trees (De Sensi et al. 2025): binomial trees and butterflies with negabinary distances.
//!
//! In round k an even rank r meets rank r + d, and an odd rank meets r − d, modulo p. Here d = (1 − (−2)^(k+1)) / 3,
//! that is 1, −1, 3, −5, 11, −21, …: in base −2, k + 1 ones. Long distances are a third shorter than 1, 2, 4, 8, …. p
//! is a power of two. For other numbers of ranks a tree is folded onto a power of two; each folded rank becomes a leaf.

use super::fold::{Fold, Role};
use super::tree_gather::{tree_gather, tree_scatter};
use crate::schedule::{Buffer::Recv, Message, Schedule};
use std::ops::Range;

/// The digits of even weight in base −2, which add.
const ADDED: usize = usize::MAX / 3;
/// The digits of odd weight in base −2, which subtract.
const SUBTRACTED: usize = !ADDED;

/// Returns the rank that `rank` meets in a round.
pub fn partner(rank: usize, round: u32, size: usize) -> usize {
    let distance = (1 - (-2_isize).pow(round + 1)) / 3;
    let ahead = if rank.is_multiple_of(2) { distance } else { -distance };
    (rank as isize + ahead).rem_euclid(size as isize) as usize
}

/// Returns the rounds, as bits, that lead from one rank to another if each is taken once and in order. They
/// are the Gray code of the ranks' distance in base −2.
pub fn path(from: usize, to: usize, size: usize) -> usize {
    // Odd ranks are mirror images of even ones. To an even rank the distance counts backwards.
    let distance = if from.is_multiple_of(2) { to + size - from } else { from + size - to };
    let signed = if distance.is_multiple_of(2) { distance.wrapping_neg() } else { distance };
    let digits = (signed.wrapping_add(SUBTRACTED) ^ SUBTRACTED) & (size - 1);
    digits ^ digits >> 1
}

/// Returns the first of the 2^rounds ranks, consecutive modulo p, that `rank` reaches in rounds `rounds − 1` … 0.
fn first_reached(rank: usize, rounds: u32, size: usize) -> usize {
    let below = (1 << rounds) - 1;
    let behind = if rank.is_multiple_of(2) { SUBTRACTED & below } else { ADDED & below };
    (rank + size - behind) % size
}

/// The tree rooted at rank 0 among any number of ranks, with the longest distances first: ceil(log2 p) rounds.
#[derive(Clone, Copy)]
pub struct Tree(Fold);

impl Tree {
    pub fn new(size: usize) -> Self {
        Tree(Fold::new(size))
    }

    pub fn parent(self, rank: usize) -> Option<usize> {
        let Tree(fold) = self;
        let participant = match fold.role(rank) {
            Role::Folded => return Some(fold.other(rank)),
            Role::Single(participant) | Role::Keeper(participant) => participant,
        };
        let round = self.rounds_below(participant);
        (participant > 0).then(|| fold.member(partner(participant, round, fold.participants)))
    }

    /// Returns the children, the one with the largest subtree first.
    pub fn children(self, rank: usize) -> Vec<usize> {
        let Tree(fold) = self;
        let (participant, folded) = match fold.role(rank) {
            Role::Folded => return Vec::new(),
            Role::Single(participant) => (participant, None),
            Role::Keeper(participant) => (participant, Some(fold.other(rank))),
        };
        let rounds = (0..self.rounds_below(participant)).rev();
        let children = rounds.map(|round| fold.member(partner(participant, round, fold.participants)));
        children.chain(folded).collect()
    }

    /// Returns the ranks of `rank`'s subtree, itself included: those that wrap past the last rank, then the others.
    pub fn subtree(self, rank: usize) -> [Range<usize>; 2] {
        let Tree(fold) = self;
        if fold.role(rank) == Role::Folded {
            return [0..0, rank..rank + 1];
        }
        let (participant, size) = (fold.participant(rank), fold.participants);
        let rounds = self.rounds_below(participant);
        let start = first_reached(participant, rounds, size);
        let end = start + (1 << rounds);
        let ranks = |range: Range<usize>| fold.member(range.start)..fold.member(range.end);
        [0..end.saturating_sub(size), start..end.min(size)].map(ranks)
    }

    /// Returns the number of ranks in the subtree of `rank`.
    pub fn population(self, rank: usize) -> usize {
        self.subtree(rank).into_iter().map(|range| range.len()).sum()
    }

    /// Gathers a block from each rank at rank 0. Rank i brings block i and afterwards holds the blocks of its subtree.
    pub fn gather(self, rank: usize, size: usize) -> Schedule {
        tree_gather(rank, size, self.parent(rank), self.children(rank), |rank| self.blocks(rank))
    }

    /// Scatters a block to each rank from rank 0: the mirror of [`Tree::gather`].
    pub fn scatter(self, rank: usize, size: usize) -> Schedule {
        tree_scatter(rank, size, self.parent(rank), self.children(rank), |rank| self.blocks(rank))
    }

    /// Returns the blocks of the ranks in the subtree, in two runs if it contains both the last rank and the first.
    fn blocks(self, rank: usize) -> Message {
        self.subtree(rank).into_iter().map(|ranks| Recv.blocks(ranks)).collect()
    }

    /// Returns the number of rounds in which a participant sends to its children.
    fn rounds_below(self, participant: usize) -> u32 {
        let size = self.0.participants;
        path(0, participant, size).trailing_zeros().min(size.ilog2())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIZES: std::ops::Range<u32> = 1..9;

    #[test]
    fn distances_are_those_of_the_paper() {
        let forward = |round| partner(0, round, 1 << 20) as isize;
        let distances = [0, 1, 2, 3, 4, 5, 6].map(|round| match forward(round) {
            ahead if ahead < 1 << 19 => ahead,
            behind => behind - (1 << 20),
        });
        assert_eq!(distances, [1, -1, 3, -5, 11, -21, 43]);
    }

    #[test]
    fn partners_meet_each_other_and_are_of_different_parity() {
        for exponent in SIZES {
            let size = 1 << exponent;
            for (rank, round) in (0..size).flat_map(|rank| (0..exponent).map(move |round| (rank, round))) {
                let other = partner(rank, round, size);
                assert_eq!(partner(other, round, size), rank);
                assert_ne!(rank % 2, other % 2);
            }
        }
    }

    #[test]
    fn a_path_leads_to_its_rank() {
        for exponent in SIZES {
            let size = 1 << exponent;
            for (from, to) in (0..size).flat_map(|from| (0..size).map(move |to| (from, to))) {
                let path = path(from, to, size);
                let taken = (0..exponent).filter(|round| path >> round & 1 == 1);
                assert_eq!(taken.fold(from, |rank, round| partner(rank, round, size)), to);
            }
        }
    }

    #[test]
    fn the_first_rounds_lead_to_neighbouring_ranks() {
        for exponent in SIZES {
            let size = 1 << exponent;
            for (rank, rounds) in (0..size).flat_map(|rank| (0..=exponent).map(move |rounds| (rank, rounds)))
            {
                let start = first_reached(rank, rounds, size);
                let mut expected: Vec<usize> =
                    (start..start + (1 << rounds)).map(|rank| rank % size).collect();
                let mut reached = vec![rank];
                for round in (0..rounds).rev() {
                    reached.extend_from_within(..);
                    let half = reached.len() / 2;
                    reached[half..].iter_mut().for_each(|rank| *rank = partner(*rank, round, size));
                }
                expected.sort();
                reached.sort();
                assert_eq!(reached, expected, "{rounds} rounds from {rank} of {size}");
            }
        }
    }

    #[test]
    fn subtrees_partition_the_ranks() {
        for size in 1..70 {
            let tree = Tree::new(size);
            for rank in 0..size {
                let mut below: Vec<usize> = tree.subtree(rank).into_iter().flatten().collect();
                assert!(below.is_sorted());
                let mut parts = vec![rank];
                for child in tree.children(rank) {
                    assert_eq!(tree.parent(child), Some(rank), "p = {size}");
                    parts.extend(tree.subtree(child).into_iter().flatten());
                }
                parts.sort();
                below.sort();
                assert_eq!(parts, below, "p = {size}, rank {rank}");
            }
            assert!(tree.subtree(0).into_iter().flatten().eq(0..size));
            assert_eq!(tree.parent(0), None);
        }
    }

    #[test]
    fn no_rank_is_further_from_the_root_than_a_message_in_each_round() {
        for size in 1..70_usize {
            let tree = Tree::new(size);
            let round_of = |rank: usize| {
                let arrivals = std::iter::successors(Some(rank), |&rank| tree.parent(rank));
                let path: Vec<usize> = arrivals.collect();
                let waits = path.windows(2).map(|pair| {
                    1 + tree.children(pair[1]).iter().position(|&child| child == pair[0]).unwrap()
                });
                waits.sum::<usize>()
            };
            let most = (0..size).map(round_of).max().unwrap();
            assert!(most <= size.next_power_of_two().ilog2() as usize, "p = {size}: {most}");
        }
    }
}
