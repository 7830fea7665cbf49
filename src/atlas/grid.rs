//! The numbers of ranks and of bytes of an atlas.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// The grid has every number of ranks up to this one.
const EVERY: usize = 32;

/// The grid has every number of full nodes up to this one.
const EVERY_NODE: usize = 16;

/// As [`EVERY_NODE`], in a sampled grid.
const EVERY_SAMPLED_NODE: usize = 8;

/// Numbers to each power of two in a sampled grid, the neighbours of the powers not counted.
const SAMPLES_PER_OCTAVE: usize = 2;

/// As [`SAMPLES_PER_OCTAVE`], in a full grid.
const PER_OCTAVE: usize = 8;

/// Returns numbers of ranks, ascending: all up to 32; above, eight to each power of two, the powers and their
/// neighbours (where algorithms change) and the bounds. Beyond `ranks_per_node` they are full nodes, chosen
/// in the same way, all up to 16 nodes: partly filled nodes take much longer to price.
pub fn numbers_of_ranks(range: RangeInclusive<usize>, ranks_per_node: usize) -> Vec<usize> {
    filling(range, ranks_per_node, EVERY_NODE, PER_OCTAVE)
}

/// As [`numbers_of_ranks`], with fewer numbers.
pub fn sampled_numbers_of_ranks(range: RangeInclusive<usize>, ranks_per_node: usize) -> Vec<usize> {
    filling(range, ranks_per_node, EVERY_SAMPLED_NODE, SAMPLES_PER_OCTAVE)
}

/// Numbers of ranks up to one node, then full nodes: all up to `every_node`, above as [`numbers`] does.
fn filling(
    range: RangeInclusive<usize>,
    ranks_per_node: usize,
    every_node: usize,
    per_octave: usize,
) -> Vec<usize> {
    let (first, last) = (*range.start(), *range.end());
    let few = numbers(first..=last.min(ranks_per_node.max(EVERY)), EVERY, per_octave);
    let few = few.into_iter().filter(|size| *size <= ranks_per_node || size.is_multiple_of(ranks_per_node));
    let filled = first.div_ceil(ranks_per_node)..=last / ranks_per_node;
    let nodes = numbers(filled, every_node, per_octave);
    let all: BTreeSet<usize> = few.chain(nodes.into_iter().map(|nodes| nodes * ranks_per_node)).collect();
    let all: Vec<usize> = all.into_iter().filter(|size| range.contains(size)).collect();
    if all.is_empty() { vec![last] } else { all }
}

/// All numbers up to `every`; above, `per_octave` to each power of two, the powers and their neighbours; and
/// the bounds.
fn numbers(range: RangeInclusive<usize>, every: usize, per_octave: usize) -> Vec<usize> {
    let (first, last) = (*range.start(), *range.end());
    let few = first..=last.min(every);
    let octaves = (every.ilog2()..usize::BITS).map(|exponent| 1 << exponent);
    let octaves = octaves.take_while(|&power: &usize| power <= last);
    let steps = octaves.flat_map(|power| {
        let step = move |number: usize| power as f64 * (number as f64 / per_octave as f64).exp2();
        let between = (0..per_octave).map(move |number| step(number).round() as usize);
        between.chain([power - 1, power, power + 1])
    });
    let all: BTreeSet<usize> = few.chain(steps).chain([first, last]).collect();
    all.into_iter().filter(|number| range.contains(number)).collect()
}

/// Returns numbers of bytes, ascending: every `one_of`-th power of two in the range, and the bounds.
pub fn numbers_of_bytes(range: RangeInclusive<usize>, one_of: usize) -> Vec<usize> {
    let (first, last) = (*range.start(), *range.end());
    let powers = (0..usize::BITS).map(|exponent| 1 << exponent).filter(|power| range.contains(power));
    let all: BTreeSet<usize> = powers.step_by(one_of).chain([first, last]).collect();
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_number_of_ranks_and_every_power_of_two_with_its_neighbours() {
        let found = numbers_of_ranks(2..=1024, 1);
        assert_eq!(found[..31], (2..=32).collect::<Vec<_>>());
        for exponent in 6..10 {
            for number in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
                assert!(found.contains(&number), "{number}");
            }
        }
        assert_eq!(found[found.len() - 2..], [1023, 1024]);
        assert!(found.is_sorted() && found.len() < 110, "{found:?}");
        assert_eq!(numbers_of_ranks(100..=101, 1), [100, 101]);
        assert_eq!(numbers_of_ranks(7..=7, 1), [7]);
    }

    #[test]
    fn nodes_are_filled() {
        let found = numbers_of_ranks(2..=1024, 64);
        assert!(found.iter().all(|size| *size <= 64 || size.is_multiple_of(64)), "{found:?}");
        assert_eq!(found[found.len() - 15..], (2..=16).map(|nodes| 64 * nodes).collect::<Vec<_>>());
        let found = sampled_numbers_of_ranks(2..=256, 12);
        assert_eq!(found[..12], [2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 24]);
        assert!(found[11..].iter().all(|size| size.is_multiple_of(12)), "{found:?}");
        assert_eq!(found.last(), Some(&252));
        let found = sampled_numbers_of_ranks(2..=100, 1);
        assert_eq!(found[31..], [33, 45, 63, 64, 65, 91, 100]);
        assert_eq!(sampled_numbers_of_ranks(13..=14, 12), [14]);
    }

    #[test]
    fn bytes_are_powers_of_two_and_the_bounds() {
        assert_eq!(numbers_of_bytes(8..=64, 1), [8, 16, 32, 64]);
        assert_eq!(numbers_of_bytes(8..=256, 2), [8, 32, 128, 256]);
        assert_eq!(numbers_of_bytes(0..=3, 1), [0, 1, 2, 3]);
        assert_eq!(numbers_of_bytes(5..=5, 1), [5]);
    }
}
