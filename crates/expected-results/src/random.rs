//! Pseudo-random numbers that are the same on all ranks.

use rustcoll::random::Random;
pub use rustcoll::random::nth;

/// Makes one seed from several numbers.
pub fn combine(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |seed, &number| nth(seed ^ number, number))
}

/// A sequence of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Generator(Random);

impl Generator {
    pub fn new(seed: u64) -> Self {
        Generator(Random(seed))
    }

    /// Returns the next number, from 0 to `bound` - 1.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound)
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<usize> = (0..100).collect();
        Generator::new(7).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn the_order_of_the_numbers_matters_in_a_seed() {
        assert_ne!(combine(&[1, 2]), combine(&[2, 1]));
    }
}
