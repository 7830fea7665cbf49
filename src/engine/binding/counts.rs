//! How much data each buffer of a call has, and where the blocks of the buffer are.

use super::{ElementBytes, View};
use crate::schedule::Layout;
use std::sync::Arc;

/// The counts of one buffer of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Counts {
    /// One count: of the whole vector, or of each block.
    One {
        count: usize,
        /// Bytes of data in an element.
        bytes: usize,
    },
    /// A count and a place for each rank's or neighbour's block.
    Each {
        /// Offset and number of elements of each block.
        places: Arc<[(usize, usize)]>,
        /// Bytes of data in an element.
        bytes: usize,
    },
    /// Each rank's or neighbour's block has a datatype of its own.
    Typed {
        /// Bytes of data in each block.
        bytes: Arc<[usize]>,
    },
}

impl Counts {
    /// The counts of a buffer that the call does not have.
    pub const NONE: Counts = Counts::One { count: 0, bytes: 0 };

    /// Returns the same data counted in bytes. [`Counts::NONE`] stays so.
    pub fn in_bytes(&self) -> Counts {
        match self {
            none if *none == Counts::NONE => Counts::NONE,
            Counts::One { count, bytes } => Counts::One { count: count * bytes, bytes: 1 },
            Counts::Each { places, bytes } => {
                let places = places.iter().map(|&(offset, elements)| (offset * bytes, elements * bytes));
                Counts::Each { places: places.collect(), bytes: 1 }
            }
            Counts::Typed { .. } => self.clone(),
        }
    }

    /// Returns the same data counted in bytes, each block directly behind the previous one.
    pub fn in_packed_bytes(&self) -> Counts {
        self.in_bytes_with_gaps(0)
    }

    /// Returns the same data counted in bytes, with so many bytes between blocks that have a place each.
    pub fn in_bytes_with_gaps(&self, gap: usize) -> Counts {
        let Counts::Each { places, bytes } = self else { return self.in_bytes() };
        let place = |end: &mut usize, &(_, elements): &(usize, usize)| {
            let start = *end;
            *end += elements * bytes + gap;
            Some((start, elements * bytes))
        };
        Counts::Each { places: places.iter().scan(0, place).collect(), bytes: 1 }
    }

    /// Returns the bytes of data in an element, or 0 if blocks have different datatypes.
    pub fn element_bytes(&self) -> usize {
        match self {
            Counts::One { bytes, .. } | Counts::Each { bytes, .. } => *bytes,
            Counts::Typed { .. } => 0,
        }
    }

    /// Returns one of several blocks by itself; `None` if only a vector, or blocks of one length, are known.
    pub fn block(&self, block: usize) -> Option<Counts> {
        match self {
            Counts::Each { places, bytes } => Some(Counts::One { count: places[block].1, bytes: *bytes }),
            Counts::One { .. } | Counts::Typed { .. } => None,
        }
    }

    /// Returns the bytes of data in the vector or in all blocks; if all blocks have the same count, in one.
    pub fn bytes(&self) -> usize {
        match self {
            Counts::One { count, bytes } => count * bytes,
            Counts::Each { .. } | Counts::Typed { .. } => self.block_bytes().iter().sum(),
        }
    }

    /// Returns the bytes of data in the longest block, if blocks have a count each.
    pub fn longest_block(&self) -> Option<usize> {
        match self {
            Counts::One { .. } => None,
            Counts::Each { .. } | Counts::Typed { .. } => self.block_bytes().into_iter().max(),
        }
    }

    /// Returns the bytes of data in each block, or in the vector.
    fn block_bytes(&self) -> Vec<usize> {
        match self {
            Counts::One { count, bytes } => vec![count * bytes],
            Counts::Each { places, bytes } => places.iter().map(|(_, elements)| elements * bytes).collect(),
            Counts::Typed { bytes } => bytes.to_vec(),
        }
    }

    /// Returns the view of the caller's buffer.
    pub(super) fn view(&self, layout: impl FnOnce(usize) -> Layout) -> View {
        match self {
            Counts::One { count, bytes } => View::new(layout(*count), *bytes),
            Counts::Each { places, bytes } => View::new(Layout::Placed(Arc::clone(places)), *bytes),
            Counts::Typed { bytes } => {
                View { layout: Layout::Separate, bytes: ElementBytes::Listed(Arc::clone(bytes)) }
            }
        }
    }

    /// Returns the view of scratch memory that holds copies of the blocks, in elements of the same datatype.
    pub(super) fn copies(&self, layout: impl FnOnce(usize) -> Layout) -> View {
        match self {
            Counts::Each { places, bytes } => {
                View::new(Layout::packed(places.iter().map(|(_, elements)| *elements)), *bytes)
            }
            Counts::One { .. } | Counts::Typed { .. } => self.view(layout),
        }
    }

    /// Returns the view of scratch memory that holds the data of the blocks as bytes, without gaps.
    pub(super) fn packed(&self) -> View {
        let layout = match self.block_bytes()[..] {
            [elements] => Layout::Uniform { elements },
            ref lengths => Layout::packed(lengths.iter().copied()),
        };
        View::new(layout, 1)
    }
}
