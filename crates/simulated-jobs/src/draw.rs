//! Draws from a seed.

use expected_results::random::combine;
use rustcoll::random::Random;

/// Draws one part of a history. Each part has draws of its own, so a change of one part leaves the others as they are.
pub struct Draw(Random);

impl Draw {
    pub fn new(seed: u64, part: u64) -> Draw {
        Draw(Random(combine(&[seed, part])))
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    pub fn one_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn one_of<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())]
    }
}
