//! Statistics of measured times, and a test whether two samples differ.

use statrs::distribution::{ContinuousCDF, Normal};

/// Returns the quantile of sorted numbers, interpolated between two of them. `part` is from 0 to 1. Panics if
/// there are no numbers.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let place = part * (sorted.len() - 1) as f64;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

/// Returns the three quartiles; the second one is the median. Panics if there are no numbers.
pub fn quartiles(numbers: impl IntoIterator<Item = f64>) -> [f64; 3] {
    let mut sorted: Vec<f64> = numbers.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    [0.25, 0.5, 0.75].map(|part| quantile(&sorted, part))
}

/// Returns the median. Panics if there are no numbers.
pub fn median(numbers: &[f64]) -> f64 {
    Summary::of(numbers.iter().copied()).median
}

/// The median of times, and the spread of their middle half.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Summary {
    pub median: f64,
    /// The distance from the first to the third quartile.
    pub spread: f64,
}

impl Summary {
    /// Summarises numbers. Panics if there are none.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Summary {
        let [first, median, third] = quartiles(numbers);
        Summary { median, spread: third - first }
    }

    /// Summarises the times of several jobs: the median of the jobs' medians, and the spread of all times.
    /// Jobs differ from each other by more than the calls of one job. Panics if there are no jobs.
    pub fn of_launches(launches: &[Vec<f64>]) -> Summary {
        Summary { median: median_of_launches(launches), ..Summary::of(launches.concat()) }
    }
}

/// Returns the median of the jobs' medians. Panics if there are no jobs, or a job has no times.
pub fn median_of_launches(launches: &[Vec<f64>]) -> f64 {
    let medians: Vec<f64> = launches.iter().map(|times| median(times)).collect();
    median(&medians)
}

/// Returns the standard error of the mean as a part of the mean. Infinite for fewer than two numbers, or if
/// the mean is 0.
pub fn relative_standard_error(numbers: &[f64]) -> f64 {
    let count = numbers.len() as f64;
    let mean = numbers.iter().sum::<f64>() / count;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    let error = (squares / (count - 1.0) / count).sqrt() / mean;
    if error.is_finite() { error } else { f64::INFINITY }
}

/// With at most this many numbers, [`rank_sum`] counts the exact probability and does not approximate it.
const COUNTED: usize = 50;

/// Returns the probability that two samples from the same distribution differ by at least as much as these,
/// in either direction: Wilcoxon's rank-sum test (Mann and Whitney's U). Equal numbers share the mean of
/// their ranks. For up to 50 numbers, all ways to divide them are counted. For more, the sum's distribution
/// is taken as normal, with corrections for equal numbers and for continuity. Returns 1 if a sample is empty.
pub fn rank_sum(one: &[f64], other: &[f64]) -> f64 {
    if one.is_empty() || other.is_empty() {
        return 1.0;
    }
    let ranks = doubled_ranks(&[one, other].concat());
    let probability = match ranks.len() <= COUNTED {
        true => counted_probability(&ranks, one.len()),
        false => normal_probability(&ranks, one.len()),
    };
    probability.min(1.0)
}

/// Returns twice the rank of each number. It is an integer also if equal numbers share a rank.
fn doubled_ranks(numbers: &[f64]) -> Vec<usize> {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let below = |number: f64| sorted.partition_point(|other| *other < number);
    let not_above = |number: f64| sorted.partition_point(|other| *other <= number);
    numbers.iter().map(|&number| below(number) + not_above(number) + 1).collect()
}

/// Returns the distance of the sum of `first` doubled ranks from its expectation.
fn distance(ranks: &[usize], sum: usize, first: usize) -> usize {
    // The doubled ranks of N numbers have the sum N (N + 1).
    sum.abs_diff(first * (ranks.len() + 1))
}

/// Returns the share of the ways to choose `first` ranks whose sum is at least as far from the expectation as
/// the sum of the first ones.
fn counted_probability(ranks: &[usize], first: usize) -> f64 {
    let most: usize = ranks.iter().sum();
    // ways[chosen][sum]
    let mut ways = vec![vec![0.0; most + 1]; first + 1];
    ways[0][0] = 1.0;
    for &rank in ranks {
        for chosen in (1..=first).rev() {
            let (fewer, as_many) = ways.split_at_mut(chosen);
            let without = &fewer[chosen - 1][..=most - rank];
            as_many[0][rank..].iter_mut().zip(without).for_each(|(with, without)| *with += without);
        }
    }
    let found = distance(ranks, ranks[..first].iter().sum(), first);
    let far = ways[first].iter().enumerate().filter(|(sum, _)| distance(ranks, *sum, first) >= found);
    far.map(|(_, ways)| ways).sum::<f64>() / ways[first].iter().sum::<f64>()
}

fn normal_probability(ranks: &[usize], first: usize) -> f64 {
    let (all, chosen) = (ranks.len() as f64, first as f64);
    // The variance of a sum without replacement. The ranks' own variance takes equal numbers into account.
    let mean = all + 1.0;
    let squares: f64 = ranks.iter().map(|&rank| (rank as f64 - mean).powi(2)).sum();
    let deviation = (squares / all * chosen * (all - chosen) / (all - 1.0)).sqrt();
    if deviation == 0.0 {
        return 1.0;
    }
    let found = distance(ranks, ranks[..first].iter().sum(), first) as f64;
    // Continuity correction: sums are 1 apart, so sums of doubled ranks are 2 apart.
    2.0 * Normal::standard().sf((found - 1.0).max(0.0) / deviation)
}

/// Returns the geometric mean of ratios; `None` if there are none.
pub fn geometric_mean(ratios: impl IntoIterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<f64> = ratios.into_iter().map(f64::ln).collect();
    let count = logarithms.len() as f64;
    (!logarithms.is_empty()).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_and_the_quartiles_may_lie_between_times() {
        assert_eq!(Summary::of([3.0]), Summary { median: 3.0, spread: 0.0 });
        assert_eq!(Summary::of([4.0, 1.0, 2.0, 3.0]), Summary { median: 2.5, spread: 1.5 });
        assert_eq!(Summary::of([5.0, 1.0, 2.0, 100.0, 3.0]), Summary { median: 3.0, spread: 3.0 });
    }

    #[test]
    fn one_job_among_several_does_not_decide() {
        let launches = [vec![1.0, 2.0, 3.0], vec![2.0, 3.0, 4.0], vec![90.0; 9]];
        assert_eq!(Summary::of_launches(&launches).median, 3.0);
        assert_eq!(Summary::of_launches(&launches[..1]), Summary::of(launches[0].clone()));
    }

    #[test]
    fn the_error_of_a_mean_falls_with_the_count() {
        let four = relative_standard_error(&[9.0, 11.0, 9.0, 11.0]);
        assert!((four - (4.0 / 3.0_f64).sqrt() / 2.0 / 10.0).abs() < 1e-12, "{four}");
        assert!(relative_standard_error(&[[9.0, 11.0]; 50].concat()) < 0.011);
        assert_eq!(relative_standard_error(&[5.0; 3]), 0.0);
        for unknown in [&[][..], &[1.0], &[0.0, 0.0]] {
            assert_eq!(relative_standard_error(unknown), f64::INFINITY);
        }
    }

    fn assert_near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
    }

    #[test]
    fn the_rank_sum_test_finds_known_probabilities() {
        // All five numbers are below the other five: 2 of the 252 ways.
        assert_near(rank_sum(&[1.0, 2.0, 3.0, 4.0, 5.0], &[6.0, 7.0, 8.0, 9.0, 10.0]), 2.0 / 252.0);
        // Hollander and Wolfe 1973, table 4.1, which is R's example of `wilcox.test`: 0.1272 in one direction.
        let one = [0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46];
        let other = [1.15, 0.88, 0.90, 0.74, 1.21];
        assert_near(rank_sum(&one, &other), 0.2544122544122544);
        assert_near(rank_sum(&other, &one), 0.2544122544122544);
    }

    #[test]
    fn equal_numbers_share_a_rank() {
        assert_eq!(doubled_ranks(&[3.0, 1.0, 3.0, 9.0]), [5, 2, 5, 8]);
        assert_eq!(rank_sum(&[2.0; 5], &[2.0; 7]), 1.0);
        assert_eq!(rank_sum(&[2.0; 50], &[2.0; 70]), 1.0);
        // Among the 6 ways to choose two of 1, 2, 2 and 3, two have the sum 1 + 2, and two have the sum 2 +
        // 3.
        assert_near(rank_sum(&[1.0, 2.0], &[2.0, 3.0]), 4.0 / 6.0);
    }

    #[test]
    fn few_numbers_prove_nothing() {
        assert_eq!(rank_sum(&[], &[1.0]), 1.0);
        assert_eq!(rank_sum(&[1.0], &[2.0]), 1.0);
        assert_near(rank_sum(&[1.0, 2.0, 3.0], &[4.0, 5.0, 6.0]), 0.1);
    }

    #[test]
    fn counting_and_the_normal_distribution_agree() {
        let one: Vec<f64> = (0..25).map(|number| f64::from(number * 7 % 25 / 2)).collect();
        for shift in [0.5, 1.0, 2.5, 4.0] {
            let other: Vec<f64> = one.iter().map(|number| number + shift).collect();
            let ranks = doubled_ranks(&[&one[..], &other[..]].concat());
            let (counted, normal) = (counted_probability(&ranks, 25), normal_probability(&ranks, 25));
            assert!((counted - normal).abs() < 0.004, "{counted}, {normal}");
        }
    }

    #[test]
    fn many_numbers_that_differ_little_are_told_apart() {
        let one: Vec<f64> = (0..200).map(|number| 100.0 + f64::from(number % 10)).collect();
        let other: Vec<f64> = one.iter().map(|number| number + 2.0).collect();
        assert!(rank_sum(&one, &other) < 1e-9);
        assert!(rank_sum(&one, &one) > 0.99);
    }

    #[test]
    fn twice_and_half_are_level() {
        assert_eq!(geometric_mean([2.0, 0.5]), Some(1.0));
        assert_eq!(geometric_mean([]), None);
    }
}
