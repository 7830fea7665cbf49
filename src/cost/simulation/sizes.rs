//! How many bytes the blocks of a call have.

use crate::algorithms::{Collective, Problem};
use crate::engine::{Binding, View};
use crate::schedule::Layout;
use crate::selection::Measure;

/// Blocks in units of so many bytes.
pub struct Sizes {
    /// Where blocks stand, an element being a unit.
    pub binding: Binding,
    /// Bytes of a unit.
    pub unit: f64,
}

impl Sizes {
    /// The blocks of a call of so many bytes, of which a schedule has `blocks`; all of the mean length, if that will do.
    pub fn of(
        collective: Collective,
        problem: &Problem,
        blocks: usize,
        bytes: usize,
        is_mean: bool,
    ) -> Sizes {
        let parts = match Measure::of(collective) {
            _ if collective == Collective::Barrier => return Sizes::each(1.0),
            Measure::Vector => blocks,
            Measure::AllBlocks => problem.size,
            Measure::Block | Measure::Nothing => 1,
        };
        if is_mean || bytes.is_multiple_of(parts) {
            return Sizes::each(bytes as f64 / parts as f64);
        }
        Sizes { binding: binding(Layout::Balanced { elements: bytes, blocks: parts }), unit: 1.0 }
    }

    /// Blocks of so many bytes each.
    pub fn each(bytes: f64) -> Sizes {
        let elements = if bytes > 0.0 { 1 } else { 0 };
        Sizes { binding: binding(Layout::Uniform { elements }), unit: bytes }
    }
}

/// Blocks of the same number have the same length in every buffer.
fn binding(layout: Layout) -> Binding {
    Binding::uniform(View::new(layout, 1))
}
