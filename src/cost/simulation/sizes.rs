//! The lengths of a call's blocks in a simulation.

use crate::algorithms::{Collective, Problem};
use crate::engine::{Binding, View};
use crate::schedule::Layout;
use crate::selection::Measure;
use std::hash::{Hash, Hasher};

/// Where a call's blocks are, and how long their elements are.
pub struct Sizes {
    pub binding: Binding,
    /// Bytes of one element.
    pub element: Amount,
}

/// The lengths of blocks for which programs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lengths {
    /// Equal blocks of any length.
    AnyOne,
    /// Equal blocks of any length that are cut into stripes as blocks of so many bytes, a power of two, are.
    AnyLike(usize),
    /// As the engine cuts a call of so many bytes.
    Of(usize),
    /// Equal blocks of the mean length in a call of so many bytes.
    Mean(usize),
}

/// A number, of bytes or seconds: known, or to be multiplied by the length of blocks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Amount {
    Known(f64),
    ForEachByte(f64),
}

/// A sum of amounts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    known: f64,
    for_each_byte: f64,
}

impl Total {
    pub fn add(&mut self, amount: Amount) {
        match amount {
            Amount::Known(number) => self.known += number,
            Amount::ForEachByte(number) => self.for_each_byte += number,
        }
    }

    /// Returns the sum for blocks of so many bytes.
    pub fn with(self, block_bytes: f64) -> f64 {
        self.known + self.for_each_byte * block_bytes
    }
}

impl Sizes {
    /// Returns the blocks of a call; its schedule has `blocks` blocks.
    pub fn of(collective: Collective, problem: &Problem, blocks: usize, lengths: Lengths) -> Sizes {
        let parts = Sizes::parts(collective, problem, blocks);
        match lengths {
            _ if collective == Collective::Barrier => Sizes::each(1),
            Lengths::AnyOne => Sizes { element: Amount::ForEachByte(1.0), ..Sizes::each(1) },
            Lengths::AnyLike(model) => {
                Sizes { element: Amount::ForEachByte(1.0 / model as f64), ..Sizes::each(model) }
            }
            Lengths::Of(bytes) => Sizes::new(Layout::Balanced { elements: bytes, blocks: parts }),
            Lengths::Mean(bytes) => {
                let whole = bytes.div_ceil(parts);
                let mean = bytes as f64 / parts as f64;
                Sizes { element: Amount::Known(mean / whole.max(1) as f64), ..Sizes::each(whole) }
            }
        }
    }

    /// Returns blocks of so many bytes each, which may be 0.
    pub fn each(bytes: usize) -> Sizes {
        Sizes::new(Layout::Uniform { elements: bytes })
    }

    /// Returns into how many blocks a call's bytes are cut.
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

/// No number is NaN, and no zero is negative.
impl Eq for Amount {}

impl Hash for Amount {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let (Amount::Known(number) | Amount::ForEachByte(number)) = *self;
        (std::mem::discriminant(self), number.to_bits()).hash(state);
    }
}

impl Amount {
    pub fn times(self, factor: f64) -> Amount {
        match self {
            Amount::Known(number) => Amount::Known(factor * number),
            Amount::ForEachByte(number) => Amount::ForEachByte(factor * number),
        }
    }

    /// Returns the number for blocks of so many bytes.
    pub fn with(self, block_bytes: f64) -> f64 {
        match self {
            Amount::Known(number) => number,
            Amount::ForEachByte(number) => number * block_bytes,
        }
    }
}
