//! Moments of a simulation: their times and, if recorded, why they are not earlier.

use super::Prediction;
use super::charge::{Charge, Charged};
use super::timeline::Recorder;
use std::collections::BTreeMap;

/// When something happens.
pub trait Instant: Copy {
    /// When all ranks begin.
    const BEGIN: Self;

    /// Not known yet.
    const UNKNOWN: Self;

    /// In seconds.
    fn seconds(self) -> f64;

    fn is_known(self) -> bool {
        !self.seconds().is_nan()
    }

    /// Returns the later one of the two; `self`, if they are at the same time.
    fn or_later(self, other: Self) -> Self {
        if other.seconds() > self.seconds() { other } else { self }
    }
}

impl Instant for f64 {
    const BEGIN: f64 = 0.0;
    const UNKNOWN: f64 = f64::NAN;

    fn seconds(self) -> f64 {
        self
    }
}

/// A moment, and the charge that it directly follows.
#[derive(Clone, Copy, Debug)]
pub struct Caused {
    seconds: f64,
    /// Index in [`Causes`].
    cause: u32,
}

impl Instant for Caused {
    const BEGIN: Caused = Caused { seconds: 0.0, cause: 0 };
    const UNKNOWN: Caused = Caused { seconds: f64::NAN, cause: 0 };

    fn seconds(self) -> f64 {
        self.seconds
    }
}

/// All charges, each with the index of the one that it directly follows.
pub struct Causes(Vec<(u32, Charge)>);

impl Causes {
    /// The beginning alone.
    pub fn none() -> Causes {
        Causes(vec![(0, Charge::default())])
    }

    /// Returns the charges that lead to some moments, which would be earlier without them. Equal charges of
    /// all moments are added up.
    fn before(&self, moments: &[Caused]) -> Vec<Charge> {
        let mut times = vec![0u32; self.0.len()];
        moments.iter().for_each(|moment| times[moment.cause as usize] += 1);
        let mut sums: BTreeMap<(Charged, u64), f64> = BTreeMap::new();
        // A charge always stands behind the one that it follows.
        for (number, &(previous, charge)) in self.0.iter().enumerate().skip(1).rev() {
            let here = times[number];
            if here > 0 {
                times[previous as usize] += here;
                let sum = sums.entry((charge.what, charge.bytes.to_bits())).or_default();
                *sum += f64::from(here) * charge.amount;
            }
        }
        let charge = |((what, bytes), amount)| Charge { what, bytes: f64::from_bits(bytes), amount };
        sums.into_iter().map(charge).collect()
    }
}

impl Recorder for Causes {
    type Instant = Caused;

    fn after(&mut self, instant: Caused, charge: Charge, seconds: f64) -> Caused {
        if seconds == 0.0 {
            return instant;
        }
        self.0.push((instant.cause, charge));
        Caused { seconds: instant.seconds + seconds, cause: self.0.len() as u32 - 1 }
    }
}

/// The cost of a collective, and what its time is made of.
pub struct Explanation {
    pub prediction: Prediction,
    pub(super) causes: Causes,
    /// When each simulated rank is done.
    pub(super) ends: Vec<Caused>,
}

impl Explanation {
    /// Returns what a rank's time is made of. `rank` is an index of [`Prediction::ranks`].
    pub fn of_rank(&self, rank: usize) -> Vec<Charge> {
        self.causes.before(&[self.ends[rank]])
    }

    /// Returns what [`Prediction::time`] is made of.
    pub fn of_slowest(&self) -> Vec<Charge> {
        let time = |rank: &usize| self.prediction.ranks[*rank];
        let slowest = (0..self.ends.len()).max_by(|one, other| time(one).total_cmp(&time(other)));
        self.of_rank(slowest.expect("there is a rank"))
    }

    /// Returns what [`Prediction::mean_time`] is made of.
    pub fn of_mean(&self) -> Vec<Charge> {
        let ranks = self.ends.len() as f64;
        let mean = |charge: Charge| Charge { amount: charge.amount / ranks, ..charge };
        self.causes.before(&self.ends).into_iter().map(mean).collect()
    }
}
