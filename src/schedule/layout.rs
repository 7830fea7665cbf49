//! Which elements of a buffer a block stands for.

use std::ops::Range;

/// Binds block numbers to elements of a buffer, for one call.
///
/// Block numbers at or past the number of blocks address further copies of the same vector, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

impl Layout {
    /// Offset of a block's first element from the start of the buffer, in elements.
    pub fn offset(&self, block: usize) -> usize {
        match *self {
            Layout::Uniform { elements } => block * elements,
            Layout::Balanced { elements, blocks: 1 } => block * elements,
            Layout::Balanced { elements, blocks } => {
                let (copy, block) = (block / blocks, block % blocks);
                // Written so that it cannot overflow: elements * block may.
                let (quotient, remainder) = (elements / blocks, elements % blocks);
                copy * elements + block * quotient + block * remainder / blocks
            }
        }
    }

    /// The elements of consecutive blocks: always one contiguous range.
    pub fn elements(&self, blocks: Range<usize>) -> Range<usize> {
        self.offset(blocks.start)..self.offset(blocks.end)
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
                    (0..blocks).map(|block| layout.elements(block..block + 1).len()).collect();
                assert_eq!(lengths.iter().sum::<usize>(), elements);
                assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
            }
        }
    }

    #[test]
    fn later_copies_repeat_the_lengths() {
        let layout = Layout::Balanced { elements: 10, blocks: 3 };
        for block in 0..3 {
            assert_eq!(layout.elements(block + 3..block + 4).len(), layout.elements(block..block + 1).len());
            assert_eq!(layout.offset(block + 3), layout.offset(block) + 10);
        }
    }

    #[test]
    fn huge_vectors_do_not_overflow() {
        let layout = Layout::Balanced { elements: usize::MAX / 2, blocks: 1000 };
        assert_eq!(layout.offset(1000), usize::MAX / 2);
    }
}
