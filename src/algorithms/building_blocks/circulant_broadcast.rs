//! Which segment reaches which rank in which round of Träff's broadcast along the circulant graph (2022, 2023).
//!
//! The skips are used in turn, the shortest first. In each round a rank may send to the rank one skip ahead and receive
//! from the rank one skip behind. k segments reach all p ranks in k − 1 + ceil(log2 p) rounds, the fewest possible.
//! The source is the root, rank 0.

use super::circulant::skips;
use crate::algorithms::digits::doublings;
use std::ops::Range;

/// A broadcast of `segments` segments among `size` ranks.
///
/// The base block of a rank is the first block that reaches it. Its number is that of the last skip on the
/// way from the root, if long skips come first. The root's base block is the number of skips.
pub struct CirculantBroadcast {
    size: usize,
    segments: usize,
    /// The skips, the shortest first, followed by the number of ranks.
    skips: Vec<usize>,
}

/// A set of block numbers, as bits.
type Blocks = u64;

/// A rank's part in one round.
pub struct Round {
    /// The distance to the rank ahead that this rank may send to, and to the rank behind that it may receive from.
    pub skip: usize,
    /// The segment that the rank sends, if any.
    pub sent: Option<usize>,
    /// The segment that the rank receives, if any.
    pub received: Option<usize>,
}

impl CirculantBroadcast {
    /// Computes the skips in O(log p) steps.
    pub fn new(size: usize, segments: usize) -> Self {
        let skips: Vec<usize> = skips(size, 2).rev().chain([size]).collect();
        CirculantBroadcast { size, segments, skips }
    }

    /// Returns what a rank does, round by round. O(log^3 p) steps, and log p for each round.
    pub fn rounds(&self, rank: usize) -> Vec<Round> {
        let arrivals_ahead = |skip: &usize| self.arrivals((rank + skip) % self.size);
        let sent: Vec<Vec<Option<usize>>> = self.skips.iter().map(arrivals_ahead).collect();
        let turns = self.turns().zip(self.arrivals(rank)).enumerate();
        turns
            .map(|(round, ((_, position), received))| Round {
                skip: self.skips[position],
                sent: sent[position][round],
                received,
            })
            .collect()
    }

    /// Returns the segment that reaches a rank in each round, none twice. O(log^2 p) steps, and one for each round.
    fn arrivals(&self, rank: usize) -> Vec<Option<usize>> {
        let received = self.received(rank);
        let mut missing = vec![rank != 0; self.segments];
        let arrival = |(block, position): (isize, usize)| {
            let block = usize::try_from(block + received[position]).ok()?;
            // Block numbers behind the last segment mean the last segment.
            let segment = block.min(self.segments - 1);
            std::mem::take(&mut missing[segment]).then_some(segment)
        };
        self.turns().map(arrival).collect()
    }

    /// Returns, for each round, the number to add to the block numbers of `received`, and the index of the
    /// skip. The last round takes the longest skip.
    fn turns(&self) -> impl Iterator<Item = (isize, usize)> {
        let cycle = self.skips.len() - 1;
        let count = rounds(self.size, self.segments);
        let skipped = count.next_multiple_of(cycle.max(1)) - count;
        (skipped..skipped + count)
            .map(move |round| ((round - round % cycle) as isize - skipped as isize, round % cycle))
    }

    /// Returns the block that a rank receives along each skip. In one cycle these are its base block, and all
    /// blocks of the cycle before (whose numbers are negative) but its base block.
    ///
    /// Along a skip the rank gets the highest unused base block among the ranks behind it at distances from
    /// that skip up to the next one. The next skip itself counts only if no other block is left.
    fn received(&self, rank: usize) -> Vec<isize> {
        let cycle = self.skips.len() - 1;
        let own = self.base_block(rank);
        let mut used = bit(own);
        let along = |pair: &[usize]| {
            let found = (self.blocks_behind(rank, pair[0]..pair[1]) & !used).checked_ilog2();
            let block = found.map_or_else(
                || self.base_block((rank + self.size - pair[1]) % self.size),
                |block| block as usize,
            );
            used |= bit(block);
            // A block from the root is new. All others are as old as the cycle before.
            if block == cycle { own as isize } else { block as isize - cycle as isize }
        };
        self.skips.windows(2).map(along).collect()
    }

    fn base_block(&self, rank: usize) -> usize {
        self.base_blocks(rank..rank + 1).ilog2() as usize
    }

    /// Returns the base blocks of the ranks at `distances` behind `rank`; `distances` has at most `size` elements.
    fn blocks_behind(&self, rank: usize, distances: Range<usize>) -> Blocks {
        let first = (rank + self.size + 1 - distances.end) % self.size;
        let last = first + distances.len();
        self.base_blocks(first..last.min(self.size)) | self.base_blocks(0..last.saturating_sub(self.size))
    }

    /// Returns the base blocks of some ranks in O(log p) steps. The ranks between a skip and the next one
    /// have the same base blocks as the first ranks behind the root.
    fn base_blocks(&self, ranks: Range<usize>) -> Blocks {
        let Range { start, end } = ranks;
        match start {
            _ if start >= end => 0,
            0 => bit(self.skips.len() - 1) | self.base_blocks(1..end),
            // Each skip below `end` is the last skip of one of these ranks.
            1 => bit(self.skips.partition_point(|&skip| skip < end)) - 1,
            _ => {
                let skip = self.skips.partition_point(|&skip| skip <= start) - 1;
                let (first, next) = (self.skips[skip], self.skips[skip + 1]);
                let until = end.min(next);
                let here = match start == first {
                    true => bit(skip) | self.base_blocks(1..until - first),
                    false => self.base_blocks(start - first..until - first),
                };
                here | self.base_blocks(until..end)
            }
        }
    }
}

fn bit(block: usize) -> Blocks {
    1 << block
}

/// Returns the number of rounds of a broadcast: the fewest possible. The root sends a segment in each.
pub fn rounds(size: usize, segments: usize) -> usize {
    if size == 1 { 0 } else { segments - 1 + doublings(size) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_example() {
        let broadcast = CirculantBroadcast::new(17, 1);
        assert_eq!(broadcast.skips, [1, 2, 3, 5, 9, 17]);
        assert_eq!(broadcast.received(1), [0, -4, -2, -3, -1]);
        assert_eq!(broadcast.received(8), [-4, -5, -2, 2, -1]);
        assert_eq!(broadcast.received(16), [-5, -2, -3, -1, 1]);
    }

    #[test]
    fn base_blocks_repeat_behind_each_skip() {
        for size in 1..70 {
            let broadcast = CirculantBroadcast::new(size, 1);
            let mut expected = vec![broadcast.skips.len() - 1];
            for (number, pair) in broadcast.skips.windows(2).enumerate() {
                expected.push(number);
                expected.extend_from_within(1..pair[1] - pair[0]);
            }
            for (start, end) in (0..=size).flat_map(|end| (0..=end).map(move |start| (start, end))) {
                let blocks = expected[start..end].iter().fold(0, |blocks, &block| blocks | bit(block));
                assert_eq!(broadcast.base_blocks(start..end), blocks, "p = {size}, {start}..{end}");
            }
        }
    }

    #[test]
    fn a_cycle_brings_as_many_blocks_as_it_has_rounds() {
        for size in 2..200 {
            let broadcast = CirculantBroadcast::new(size, 1);
            let cycle = broadcast.skips.len() as isize - 1;
            for rank in 1..size {
                let own = broadcast.base_block(rank) as isize;
                let expected = (-cycle..0).filter(|&block| block != own - cycle).chain([own]);
                let mut received = broadcast.received(rank);
                received.sort();
                assert!(received.into_iter().eq(expected), "p = {size}, rank {rank}");
            }
        }
    }

    #[test]
    fn as_few_rounds_as_possible() {
        for (size, segments, rounds) in
            [(1, 5, 0), (2, 1, 1), (2, 4, 4), (13, 4, 7), (16, 11, 14), (17, 3, 7)]
        {
            assert_eq!(CirculantBroadcast::new(size, segments).rounds(0).len(), rounds);
        }
    }
}
