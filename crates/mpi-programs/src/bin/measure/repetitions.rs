//! How often a contestant calls a collective in a cell.

use tuning::statistics::relative_standard_error;

use crate::options::Options;

/// Repetitions in a batch. After a batch the program estimates how many repetitions it needs.
const BATCH: usize = 5;

/// The most repetitions of the shortest calls.
const MOST_OF_REFERENCE: usize = 500;

/// How many repetitions are necessary, possible, and desired.
#[derive(Clone, Copy, Debug)]
pub struct Repetitions {
    at_least: usize,
    at_most: usize,
    wish: Wish,
}

#[derive(Clone, Copy, Debug)]
enum Wish {
    /// As many as possible.
    Most,
    /// Until the relative standard error of the times is at most this number.
    Precision(f64),
    /// As many as fit into `seconds`, by the shortest time of a batch. If the first batch's relative standard
    /// error exceeds `batch_precision`, a second batch follows.
    Seconds { seconds: f64, batch_precision: f64 },
}

impl Repetitions {
    /// As many repetitions as time allows.
    pub fn of(options: &Options) -> Self {
        let (at_least, at_most) = (options.at_least as usize, options.at_most as usize);
        Repetitions { at_least, at_most, wish: Wish::Most }
    }

    /// As many repetitions of the shortest calls as their precision requires.
    pub fn of_reference(options: &Options) -> Self {
        let wish = Wish::Precision(options.precision);
        Repetitions { at_least: BATCH, at_most: MOST_OF_REFERENCE, wish }
    }

    /// As many repetitions as fit into `seconds`, the total time of the shortest calls.
    pub fn within(seconds: f64, options: &Options) -> Self {
        let wish = Wish::Seconds { seconds, batch_precision: options.batch_precision };
        Repetitions { wish, ..Repetitions::of(options) }
    }

    /// Whether another repetition must follow. `seconds` are the times so far; not every try gave one.
    pub fn go_on(&self, tried: usize, seconds: &[f64], has_time: bool) -> bool {
        let is_wished = || tried < self.wished(tried, seconds).min(self.at_most);
        tried < self.at_least || has_time && is_wished()
    }

    fn wished(&self, tried: usize, seconds: &[f64]) -> usize {
        match self.wish {
            Wish::Most => self.at_most,
            Wish::Precision(precision) if relative_standard_error(seconds) > precision => self.at_most,
            Wish::Precision(_) => 0,
            Wish::Seconds { seconds: all, batch_precision } => {
                let first = &seconds[..seconds.len().min(BATCH)];
                let is_steady = relative_standard_error(first) <= batch_precision;
                let batches = if is_steady { BATCH } else { 2 * BATCH };
                if tried < batches { batches } else { fitting(all, &seconds[..seconds.len().min(batches)]) }
            }
        }
    }
}

/// Returns how often the shortest of `seconds` fits into `all` seconds, rounded up.
fn fitting(all: f64, seconds: &[f64]) -> usize {
    let shortest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    (all / shortest).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn within(seconds: f64) -> Repetitions {
        let wish = Wish::Seconds { seconds, batch_precision: 0.05 };
        Repetitions { at_least: 3, at_most: 50, wish }
    }

    /// Returns the number of repetitions if these times recur.
    fn number(repetitions: Repetitions, times: &[f64]) -> usize {
        let endless: Vec<f64> = times.iter().copied().cycle().take(1000).collect();
        (0..1000).find(|&tried| !repetitions.go_on(tried, &endless[..tried], true)).unwrap()
    }

    #[test]
    fn steady_times_are_known_after_one_batch() {
        assert_eq!(number(within(0.001), &[1.0]), 5);
        assert_eq!(number(within(0.001), &[1.0, 2.0]), 10);
    }

    #[test]
    fn short_calls_are_repeated_until_they_took_as_long_together() {
        assert_eq!(number(within(12.5), &[1.0]), 13);
        // The second batch has the shortest time of the two batches.
        assert_eq!(number(within(12.0), &[2.0, 4.0, 2.0, 4.0, 2.0, 4.0, 1.0, 4.0]), 12);
        assert_eq!(number(within(1e9), &[1e-9]), 50);
    }

    #[test]
    fn the_reference_ends_as_soon_as_it_is_precise() {
        let repetitions = Repetitions { at_least: 5, at_most: 500, wish: Wish::Precision(0.01) };
        assert_eq!(number(repetitions, &[1.0]), 5);
        let varied = number(repetitions, &[1.0, 1.2]);
        assert!((50..150).contains(&varied), "{varied}");
        assert_eq!(number(repetitions, &[0.0001, 100.0]), 500);
    }

    #[test]
    fn without_time_there_are_no_more_than_there_must_be() {
        let go_on = |tried: usize| within(1e9).go_on(tried, &vec![1.0; tried], false);
        assert_eq!([2, 3].map(go_on), [true, false]);
    }

    #[test]
    fn repetitions_in_which_ranks_were_late_count() {
        assert!(!within(1.0).go_on(50, &[], true));
        assert!(within(1.0).go_on(9, &[], true));
    }
}
