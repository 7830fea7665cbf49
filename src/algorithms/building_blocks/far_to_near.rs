//! Binomial trees with a root at every rank, in which a block takes its longest hop first. The distance that
//! a block has to go is a sum of powers of two; the block goes the largest of them first.

use crate::algorithms::digits::doublings;
use crate::schedule::{Buffer::Recv, Run};
use std::iter::StepBy;
use std::ops::Range;

/// A round in which every rank sends blocks to the rank that is `distance` further on.
#[derive(Clone, Debug)]
pub struct Round {
    /// How far the blocks go in this round.
    pub distance: usize,
    /// How far each block is from its root after the round.
    pub offsets: StepBy<Range<usize>>,
}

impl Round {
    /// Returns the blocks that rank 0 sends. Block j belongs to the rank j further on.
    pub fn sent(&self, size: usize) -> impl Iterator<Item = Run> + use<> {
        let distance = self.distance;
        self.offsets.clone().map(move |offset| Recv.block((size - offset + distance) % size))
    }

    /// Returns the blocks that rank 0 receives.
    pub fn received(&self, size: usize) -> impl Iterator<Item = Run> + use<> {
        self.offsets.clone().map(move |offset| Recv.block(size - offset))
    }
}

/// Returns a stride, a power of two of at least 2, with which no message has more than `most` blocks.
pub fn stride(size: usize, most: usize) -> usize {
    size.div_ceil(most).next_power_of_two().max(2)
}

/// Returns rounds that bring every block to every rank: first to all multiples of `stride`, a power of two, and from
/// there 1, 2, 3, … ranks further. ceil(log2(p / stride)) + min(stride, p) − 1 rounds; ceil(log2 p) for stride 2.
pub fn rounds(size: usize, stride: usize) -> impl DoubleEndedIterator<Item = Round> {
    let round = move |first: usize, step| Round {
        distance: 1 << first.trailing_zeros(),
        offsets: (first..size).step_by(step),
    };
    let multiples = (stride.ilog2() as usize..doublings(size)).rev();
    multiples
        .map(move |bit| round(1 << bit, 2 << bit))
        .chain((1..stride.min(size)).map(move |first| round(first, stride)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_offset_is_reached_once_from_one_that_was() {
        for size in 1..70 {
            for stride in [2, 4, 8, 16, 32, 64, 128] {
                let mut reached = vec![0];
                for Round { distance, offsets } in rounds(size, stride) {
                    assert!(offsets.clone().all(|offset| reached.contains(&(offset - distance))));
                    reached.extend(offsets);
                }
                reached.sort();
                assert!(reached.iter().copied().eq(0..size), "p = {size}, stride {stride}: {reached:?}");
            }
        }
    }

    #[test]
    fn a_stride_bounds_messages_and_says_how_many_rounds_there_are() {
        for size in 2..200_usize {
            for most in 1..=size {
                let stride = stride(size, most);
                assert!(rounds(size, stride).all(|round| round.offsets.len() <= most));
                let expected = doublings(size.div_ceil(stride)) + stride.min(size) - 1;
                assert_eq!(rounds(size, stride).count(), expected, "p = {size}, stride {stride}");
            }
            assert_eq!(rounds(size, 2).count(), doublings(size));
        }
    }
}
