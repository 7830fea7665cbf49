//! How probable it is that two contestants differ by chance alone.

use crate::statistics::{median, rank_sum};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Returns the probability that the times of two contestants differ by at least as much as these, in either
/// direction, if both are equally fast. Calls of one job have more in common than jobs, so the greater of two
/// probabilities counts: that of all calls (Wilcoxon's rank-sum test), and that of the jobs' medians (Student's
/// t-test of logarithms). If both took part in as many jobs, the test compares them job by job: they took turns in
/// each. With one job each, only the calls count.
pub fn chance(one: &[Vec<f64>], other: &[Vec<f64>]) -> f64 {
    let of_calls = rank_sum(&one.concat(), &other.concat());
    of_calls.max(of_jobs(one, other).unwrap_or(0.0))
}

/// Returns the probability by the jobs' medians; `None` if there are too few.
fn of_jobs(one: &[Vec<f64>], other: &[Vec<f64>]) -> Option<f64> {
    let logarithm = |times: &Vec<f64>| (!times.is_empty()).then(|| median(times).ln());
    if one.len() == other.len() {
        let pairs = one.iter().zip(other);
        let differences = pairs.filter_map(|(one, other)| Some(logarithm(one)? - logarithm(other)?));
        let differences = Moments::of(differences.collect());
        let freedom = differences.count - 1.0;
        return t_test(differences.mean, differences.squares / freedom / differences.count, freedom);
    }
    let [one, other] = [one, other].map(|jobs| Moments::of(jobs.iter().filter_map(logarithm).collect()));
    let freedom = one.count + other.count - 2.0;
    let variance = (one.squares + other.squares) / freedom;
    t_test(one.mean - other.mean, variance * (1.0 / one.count + 1.0 / other.count), freedom)
}

/// Returns the probability of a difference from 0 that is at least as great; `None` without a degree of freedom.
fn t_test(difference: f64, variance: f64, freedom: f64) -> Option<f64> {
    let distribution = StudentsT::new(0.0, 1.0, freedom).ok().filter(|_| freedom >= 1.0)?;
    match difference.abs() / variance.sqrt() {
        // Jobs that all measured the same time say nothing.
        undefined if undefined.is_nan() => Some(1.0),
        infinite if infinite.is_infinite() => Some(0.0),
        distance => Some(2.0 * distribution.sf(distance)),
    }
}

/// What a t-test needs of numbers.
struct Moments {
    count: f64,
    mean: f64,
    /// The sum of the squares of the distances from the mean.
    squares: f64,
}

impl Moments {
    fn of(numbers: Vec<f64>) -> Moments {
        let count = numbers.len() as f64;
        let mean = numbers.iter().sum::<f64>() / count;
        Moments { count, mean, squares: numbers.iter().map(|number| (number - mean).powi(2)).sum() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{decision, tried};
    use crate::{Demands, Tried, decide};
    use rustcoll::algorithms::Collective;

    /// Jobs of 20 calls with these medians.
    fn jobs(medians: &[f64]) -> Vec<Vec<f64>> {
        let calls = |median: &f64| (0..20).map(|call| median * (1.0 + 1e-4 * f64::from(call))).collect();
        medians.iter().map(calls).collect()
    }

    fn assert_near(found: Option<f64>, expected: f64) {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-4, "{found}, not {expected}");
    }

    #[test]
    fn the_t_tests_find_known_probabilities() {
        // R: t.test(log(c(e^1, e^2, e^3))), and t.test(c(0, 1, 2), c(4, 5), var.equal = TRUE).
        let one = [1.0_f64, 2.0, 3.0].map(|logarithm| vec![logarithm.exp()]);
        assert_near(of_jobs(&one, &[vec![1.0], vec![1.0], vec![1.0]]), 0.0742);
        let [one, other] = [&[0.0_f64, 1.0, 2.0][..], &[4.0, 5.0]]
            .map(|logarithms| logarithms.iter().map(|one| vec![one.exp()]).collect::<Vec<_>>());
        assert_near(of_jobs(&one, &other), 0.0246);
    }

    #[test]
    fn a_difference_of_one_job_is_chance() {
        let (default, candidate) = (jobs(&[1.0, 1.0, 1.3, 1.3, 1.3]), jobs(&[1.0, 1.0, 1.0, 1.3, 1.3]));
        assert!(rank_sum(&default.concat(), &candidate.concat()) < 0.05);
        assert!(chance(&default, &candidate) > 0.3);
        let mut cell = decision(Collective::Bcast, 4, 8).with("rustcoll:linear", 1.0);
        cell.default.launches = default;
        cell.candidates[0] = Tried { launches: candidate, ..tried("rustcoll:linear", 1.0) };
        let mut cells = [cell];
        decide(&mut cells, Demands { gain: 0.1, significance: 0.05 });
        assert_eq!(cells[0].chosen, None);
    }

    #[test]
    fn a_fifth_is_found_in_three_jobs() {
        // Jobs differ by more than the contestants, which take turns in each.
        let default = jobs(&[1.0, 1.6, 1.2]);
        assert!(chance(&default, &jobs(&[0.76, 1.36, 0.96])) < 0.05);
        assert!(chance(&default, &jobs(&[0.7, 1.6, 0.96])) > 0.05);
    }

    #[test]
    fn of_one_job_each_only_the_calls_count() {
        assert!(chance(&jobs(&[1.0]), &jobs(&[0.8])) < 1e-6);
        assert_eq!(chance(&jobs(&[1.0]), &[vec![0.8]]), rank_sum(&jobs(&[1.0]).concat(), &[0.8]));
        assert_eq!(chance(&[], &jobs(&[1.0])), 1.0);
    }

    #[test]
    fn jobs_without_times_do_not_count() {
        let with = |times: Vec<f64>| [jobs(&[1.0, 1.1]), vec![times]].concat();
        let other = jobs(&[0.8, 0.9, 0.7]);
        assert_eq!(of_jobs(&with(Vec::new()), &other), of_jobs(&jobs(&[1.0, 1.1]), &jobs(&[0.8, 0.9])));
    }
}
