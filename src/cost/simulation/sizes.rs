//! How many bytes the blocks of a call have.

use crate::algorithms::{Collective, Problem};
use crate::engine::{Binding, View};
use crate::schedule::Layout;
use crate::selection::Measure;

/// The lengths of blocks.
pub struct Sizes {
    /// Where blocks stand.
    pub binding: Binding,
    /// Bytes of an element.
    pub element: Amount,
}

/// A number, of bytes or seconds, that is known or to be multiplied by the length of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Known(f64),
    ForEachByte(f64),
}

impl Sizes {
    /// The blocks of a call of so many bytes, of which a schedule has `blocks`; of any one length, if no bytes are given.
    pub fn of(collective: Collective, problem: &Problem, blocks: usize, bytes: Option<usize>) -> Sizes {
        let parts = Sizes::parts(collective, problem, blocks);
        match bytes {
            _ if collective == Collective::Barrier => Sizes::each(1),
            None => Sizes { element: Amount::ForEachByte(1.0), ..Sizes::each(1) },
            Some(bytes) => Sizes::new(Layout::Balanced { elements: bytes, blocks: parts }),
        }
    }

    /// Blocks of so many bytes each, be it none.
    pub fn each(bytes: usize) -> Sizes {
        Sizes::new(Layout::Uniform { elements: bytes })
    }

    /// Into how many blocks a call's bytes are cut.
    pub fn parts(collective: Collective, problem: &Problem, blocks: usize) -> usize {
        match Measure::of(collective) {
            Measure::Vector => blocks,
            Measure::AllBlocks => problem.size,
            Measure::Block | Measure::Nothing => 1,
        }
    }

    /// Blocks of the same number have the same length in every buffer.
    fn new(layout: Layout) -> Sizes {
        Sizes { binding: Binding::uniform(View::new(layout, 1)), element: Amount::Known(1.0) }
    }
}

impl Amount {
    /// So many times as much.
    pub fn times(self, factor: f64) -> Amount {
        match self {
            Amount::Known(number) => Amount::Known(factor * number),
            Amount::ForEachByte(number) => Amount::ForEachByte(factor * number),
        }
    }

    /// The number, if blocks have so many bytes.
    pub fn with(self, block_bytes: f64) -> f64 {
        match self {
            Amount::Known(number) => number,
            Amount::ForEachByte(number) => number * block_bytes,
        }
    }
}
