//! Pseudo-random numbers that are the same on all ranks.

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of splitmix64: spreads a number over all 64 bits.
pub fn mix(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// The `index`-th number of the sequence that starts from a seed.
pub fn nth(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(index.wrapping_add(1).wrapping_mul(GOLDEN)))
}

/// A seed made from several numbers.
pub fn combine(numbers: &[u64]) -> u64 {
    numbers.iter().fold(0, |seed, &number| nth(seed ^ number, number))
}

/// A sequence of pseudo-random numbers.
#[derive(Clone, Debug)]
pub struct Generator {
    seed: u64,
    drawn: u64,
}

impl Generator {
    /// The sequence that starts from a seed.
    pub fn new(seed: u64) -> Self {
        Generator { seed, drawn: 0 }
    }

    /// A number from 0 to `bound` - 1.
    pub fn below(&mut self, bound: usize) -> usize {
        self.drawn += 1;
        (nth(self.seed, self.drawn) % bound as u64) as usize
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
