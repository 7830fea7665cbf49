//! Which elements of a buffer a block stands for.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

/// Binds block numbers to elements of a buffer, for one call.
///
/// With [`Layout::Uniform`], [`Layout::Balanced`] and [`Layout::Packed`], block numbers from the number of
/// blocks on address further copies of the same blocks, one copy after another. Scratch memory uses such
/// copies.
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
    /// Blocks at any places: offset and number of elements of each.
    Placed(Arc<[(usize, usize)]>),
    /// Every block is one element with a size of its own, and adjacent blocks are never joined.
    Separate,
    /// A buffer with one block, whose number is that of its rank.
    Single {
        /// Number of the block.
        block: usize,
        /// Elements of the block.
        elements: usize,
    },
    /// A buffer whose first block has the number `by`. From there on its blocks are laid out like the blocks
    /// from 0 on of another layout. Blocks of lower numbers are empty.
    Shifted {
        /// Number of the first block.
        by: usize,
        /// How its blocks are laid out.
        layout: Box<Layout>,
    },
    /// Some elements of each block of another layout.
    Striped {
        /// The first element, counted from the start of the block.
        from: usize,
        /// How many elements, as far as the block has them.
        elements: usize,
        /// How the whole blocks are laid out.
        layout: Box<Layout>,
    },
}

impl Layout {
    /// Returns the layout of blocks of these lengths, one after another.
    pub fn packed(lengths: impl IntoIterator<Item = usize>) -> Layout {
        let ends = lengths.into_iter().scan(0, |end, length| {
            *end += length;
            Some(*end)
        });
        Layout::Packed([0].into_iter().chain(ends).collect())
    }

    /// Returns the layout of up to `elements` elements of each block, from element `from` on.
    pub fn striped(&self, from: usize, elements: usize) -> Layout {
        Layout::Striped { from, elements, layout: Box::new(self.clone()) }
    }

    /// Returns the layout of such stripes of `blocks` blocks, one after the other.
    pub fn packed_stripes(&self, from: usize, elements: usize, blocks: usize) -> Layout {
        match *self {
            Layout::Uniform { elements: whole } => {
                Layout::Uniform { elements: whole.saturating_sub(from).min(elements) }
            }
            _ => {
                let striped = self.striped(from, elements);
                Layout::packed((0..blocks).map(|block| striped.block(block).len()))
            }
        }
    }

    /// Returns the number of elements of the longest of so many blocks.
    pub fn longest(&self, blocks: usize) -> usize {
        self.lengths(blocks).last().copied().unwrap_or(0)
    }

    /// Returns the different lengths of so many blocks, ascending, in elements. A layout with fewer places has no more blocks.
    pub fn lengths(&self, blocks: usize) -> BTreeSet<usize> {
        let different = match *self {
            Layout::Uniform { .. } | Layout::Separate => 0..blocks.min(1),
            // The first block is as short as any, the last as long as any.
            Layout::Balanced { blocks: all, .. } if blocks == all => {
                return [0, all - 1].map(|block| self.block(block).len()).into();
            }
            Layout::Single { block, elements } => {
                let own = (block < blocks).then_some(elements);
                let others = (blocks > usize::from(own.is_some())).then_some(0);
                return own.into_iter().chain(others).collect();
            }
            Layout::Placed(ref places) => 0..blocks.min(places.len()),
            _ => 0..blocks,
        };
        different.map(|block| self.block(block).len()).collect()
    }

    /// Returns the elements of consecutive blocks: one range where blocks follow each other without a gap,
    /// otherwise several; none is empty.
    pub fn ranges(&self, blocks: Range<usize>) -> impl Iterator<Item = Range<usize>> {
        let (layout, blocks) = self.unshifted(blocks);
        let is_whole = layout.is_without_gaps();
        let mut next = blocks.start;
        std::iter::from_fn(move || {
            let mut found = 0..0;
            while next < blocks.end {
                let end = if is_whole { blocks.end } else { next + 1 };
                let part =
                    if is_whole { layout.offset(next)..layout.offset(end) } else { layout.block(next) };
                if found.is_empty() {
                    found = part;
                } else if part.start == found.end && layout.joins() {
                    found.end = part.end;
                } else if !part.is_empty() {
                    break;
                }
                next = end;
            }
            (!found.is_empty()).then_some(found)
        })
    }

    /// How many elements consecutive blocks have.
    pub fn elements(&self, blocks: Range<usize>) -> usize {
        self.ranges(blocks).map(|range| range.len()).sum()
    }

    /// The elements of a block.
    pub fn block(&self, block: usize) -> Range<usize> {
        match self {
            Layout::Striped { from, elements, layout } => {
                let whole = layout.block(block);
                let start = whole.end.min(whole.start + from);
                start..whole.end.min(start + elements)
            }
            Layout::Placed(places) => {
                let (offset, elements) = places[block];
                offset..offset + elements
            }
            Layout::Single { block: own, elements } => 0..if block == *own { *elements } else { 0 },
            Layout::Separate => block..block + 1,
            Layout::Shifted { by, layout } => {
                block.checked_sub(*by).map_or(0..0, |block| layout.block(block))
            }
            Layout::Uniform { .. } | Layout::Balanced { .. } | Layout::Packed(_) => {
                self.offset(block)..self.offset(block + 1)
            }
        }
    }

    /// Returns the underlying layout that is not shifted, and the numbers of the blocks in it.
    fn unshifted(&self, blocks: Range<usize>) -> (&Layout, Range<usize>) {
        match self {
            Layout::Shifted { by, layout } => {
                layout.unshifted(blocks.start.saturating_sub(*by)..blocks.end.saturating_sub(*by))
            }
            _ => (self, blocks),
        }
    }

    /// Whether blocks follow each other without gaps.
    pub fn is_without_gaps(&self) -> bool {
        matches!(self, Layout::Uniform { .. } | Layout::Balanced { .. } | Layout::Packed(_))
    }

    /// Whether adjacent blocks are joined.
    fn joins(&self) -> bool {
        !matches!(self, Layout::Separate)
    }

    /// Returns where a block starts, in a layout without gaps.
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

    fn ranges(layout: &Layout, blocks: Range<usize>) -> Vec<Range<usize>> {
        layout.ranges(blocks).collect()
    }

    fn once(range: Range<usize>) -> Vec<Range<usize>> {
        vec![range]
    }

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
        assert_eq!(ranges(&layout, 0..4), [4..7, 0..3]);
    }

    #[test]
    fn separate_blocks_stay_apart() {
        assert_eq!(ranges(&Layout::Separate, 1..3), [1..2, 2..3]);
    }

    #[test]
    fn lengths_are_those_of_all_blocks() {
        for layout in [
            Layout::Uniform { elements: 3 },
            Layout::Balanced { elements: 10, blocks: 4 },
            Layout::Balanced { elements: 3, blocks: 4 },
            Layout::Single { block: 2, elements: 7 },
            Layout::Single { block: 0, elements: 7 },
            Layout::packed([5, 0, 5, 2]),
        ] {
            for blocks in 0..=4 {
                let each = (0..blocks).map(|block| layout.block(block).len());
                assert_eq!(layout.lengths(blocks), each.collect(), "{blocks} of {layout:?}");
            }
        }
    }

    #[test]
    fn a_single_block_starts_its_buffer() {
        let layout = Layout::Single { block: 3, elements: 7 };
        assert_eq!(ranges(&layout, 3..4), once(0..7));
    }

    #[test]
    fn a_layout_without_blocks_has_no_elements() {
        assert_eq!(Layout::packed([]).elements(0..0), 0);
    }

    #[test]
    fn shifted_blocks_have_other_numbers() {
        let shifted = |layout| Layout::Shifted { by: 3, layout: Box::new(layout) };
        assert_eq!(ranges(&shifted(Layout::Uniform { elements: 4 }), 4..6), once(4..12));
        assert_eq!(ranges(&shifted(Layout::Separate), 3..5), [0..1, 1..2]);
        assert_eq!(ranges(&shifted(Layout::packed([5, 6])), 1..4), once(0..5));
    }

    #[test]
    fn huge_vectors_do_not_overflow() {
        let layout = Layout::Balanced { elements: usize::MAX / 2, blocks: 1000 };
        assert_eq!(layout.offset(1000), usize::MAX / 2);
    }
}
