//! Which elements of a buffer a block stands for.

use std::ops::Range;
use std::sync::Arc;

/// Binds block numbers to elements of a buffer, for one call.
///
/// With [`Layout::Uniform`], [`Layout::Balanced`] and [`Layout::Packed`], block numbers at or past the number of blocks address further
/// copies of the same blocks, one copy after another, as scratch memory wants them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Every block has the same number of elements.
    Uniform {
        /// Elements of one block.
        elements: usize,
    },
    /// A vector cut into blocks whose lengths differ by at most one element.
    Balanced {
        /// Elements of the vector.
        elements: usize,
        /// Number of blocks.
        blocks: usize,
    },
    /// Blocks of given lengths, one after another: entry `i` is where block `i` starts, the last entry their sum.
    Packed(Arc<[usize]>),
    /// Blocks wherever the caller says: offset and number of elements of each.
    Placed(Arc<[(usize, usize)]>),
    /// Every block is one element of a kind of its own, and no two are ever taken together.
    Separate,
    /// A buffer of one block, which bears the number of its rank.
    Single {
        /// The block's number.
        block: usize,
        /// Its elements.
        elements: usize,
    },
    /// A buffer whose blocks are numbered from `by` on, and laid out like the blocks from 0 on of another layout. There
    /// are no blocks of lower numbers.
    Shifted {
        /// Number of the first block.
        by: usize,
        /// How its blocks are laid out.
        layout: Box<Layout>,
    },
    /// Of each block of another layout some elements only.
    Striped {
        /// The first of them, counted from the start of the block.
        from: usize,
        /// How many, if the block has so many.
        elements: usize,
        /// How the whole blocks are laid out.
        layout: Box<Layout>,
    },
}

impl Layout {
    /// Blocks of these lengths, one after another.
    pub fn packed(lengths: impl IntoIterator<Item = usize>) -> Layout {
        let ends = lengths.into_iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Layout::Packed([0].into_iter().chain(ends).collect())
    }

    /// Of each block so many elements from one on, as far as it has them.
    pub fn striped(&self, from: usize, elements: usize) -> Layout {
        Layout::Striped { from, elements, layout: Box::new(self.clone()) }
    }

    /// The elements of consecutive blocks, as far as they lie together: one range where blocks follow each other
    /// without a gap, else several; none is empty.
    pub fn ranges(&self, blocks: Range<usize>) -> Vec<Range<usize>> {
        if blocks.is_empty() {
            return Vec::new();
        }
        if let Layout::Separate = self {
            return blocks.map(|block| block..block + 1).collect();
        }
        if let Layout::Shifted { by, layout } = self {
            return layout.ranges(blocks.start.saturating_sub(*by)..blocks.end.saturating_sub(*by));
        }
        let mut ranges: Vec<Range<usize>> = Vec::new();
        let mut push = |range: Range<usize>| match ranges.last_mut() {
            _ if range.is_empty() => {}
            Some(last) if last.end == range.start => last.end = range.end,
            _ => ranges.push(range),
        };
        match self {
            Layout::Striped { from, elements, layout } => {
                for whole in blocks.flat_map(|block| layout.ranges(block..block + 1)) {
                    let start = whole.end.min(whole.start + from);
                    push(start..whole.end.min(start + elements));
                }
            }
            Layout::Placed(places) => {
                places[blocks].iter().for_each(|&(offset, elements)| push(offset..offset + elements));
            }
            Layout::Single { block, elements } => push(0..if blocks.contains(block) { *elements } else { 0 }),
            Layout::Uniform { .. }
            | Layout::Balanced { .. }
            | Layout::Packed(_)
            | Layout::Separate
            | Layout::Shifted { .. } => {
                push(self.offset(blocks.start)..self.offset(blocks.end));
            }
        }
        ranges
    }

    /// How many elements consecutive blocks have.
    pub fn elements(&self, blocks: Range<usize>) -> usize {
        self.ranges(blocks).iter().map(|range| range.len()).sum()
    }

    /// Where a block starts, in a layout whose blocks follow each other.
    fn offset(&self, block: usize) -> usize {
        match self {
            Layout::Uniform { elements } => block * elements,
            Layout::Balanced { elements, blocks } => {
                let (copy, block) = (block / blocks, block % blocks);
                // Written so that it cannot overflow: elements * block may.
                let (quotient, remainder) = (elements / blocks, elements % blocks);
                copy * elements + block * quotient + block * remainder / blocks
            }
            Layout::Packed(starts) => {
                let blocks = starts.len() - 1;
                block / blocks * starts[blocks] + starts[block % blocks]
            }
            Layout::Placed(_)
            | Layout::Single { .. }
            | Layout::Separate
            | Layout::Shifted { .. }
            | Layout::Striped { .. } => {
                unreachable!("these blocks need not follow each other")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn balanced_blocks_cover_the_vector_and_differ_by_one() {
        for elements in 0..50 {
            for blocks in 1..20 {
                let layout = Layout::Balanced { elements, blocks };
                let lengths: Vec<usize> =
                    (0..blocks).map(|block| layout.elements(block..block + 1)).collect();
                assert_eq!(lengths.iter().sum::<usize>(), elements);
                assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn later_copies_repeat_the_lengths() {
        for layout in [Layout::Balanced { elements: 10, blocks: 3 }, Layout::packed([5, 0, 5])] {
            for block in 0..3 {
                assert_eq!(layout.elements(block + 3..block + 4), layout.elements(block..block + 1));
                assert_eq!(layout.offset(block + 3), layout.offset(block) + 10);
            }
        }
    }

    #[test]
    fn placed_blocks_are_joined_where_they_touch() {
        let layout = Layout::Placed([(4, 2), (6, 1), (0, 3), (9, 0)].into());
        assert_eq!(layout.ranges(0..4), [4..7, 0..3]);
    }

    #[test]
    fn separate_blocks_stay_apart() {
        assert_eq!(Layout::Separate.ranges(1..3), [1..2, 2..3]);
    }

    #[test]
    fn a_single_block_starts_its_buffer() {
        let layout = Layout::Single { block: 3, elements: 7 };
        assert_eq!(layout.ranges(3..4), std::iter::once(0..7).collect::<Vec<_>>());
    }

    #[test]
    fn a_layout_without_blocks_has_no_elements() {
        assert_eq!(Layout::packed([]).elements(0..0), 0);
    }

    #[test]
    fn shifted_blocks_have_other_numbers() {
        let shifted = |layout| Layout::Shifted { by: 3, layout: Box::new(layout) };
        assert_eq!(
            shifted(Layout::Uniform { elements: 4 }).ranges(4..6),
            std::iter::once(4..12).collect::<Vec<_>>()
        );
        assert_eq!(shifted(Layout::Separate).ranges(3..5), [0..1, 1..2]);
        assert_eq!(shifted(Layout::packed([5, 6])).ranges(1..4), std::iter::once(0..5).collect::<Vec<_>>());
    }

    #[test]
    fn huge_vectors_do_not_overflow() {
        let layout = Layout::Balanced { elements: usize::MAX / 2, blocks: 1000 };
        assert_eq!(layout.offset(1000), usize::MAX / 2);
    }
}
