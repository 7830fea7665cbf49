//! Moments of a simulation: their times, or also why they are not earlier.

use super::charge::Charge;

/// When something happens.
pub trait Instant: Copy {
    /// When all ranks begin.
    const BEGIN: Self;

    /// Not known yet.
    const UNKNOWN: Self;

    /// In seconds.
    fn seconds(self) -> f64;

    /// Whether it is known.
    fn is_known(self) -> bool {
        !self.seconds().is_nan()
    }

    /// The later one of the two; this one, if they are at the same time.
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

/// A moment, and what it comes directly after.
#[derive(Clone, Copy, Debug)]
pub struct Caused {
    seconds: f64,
    /// A number in [`Causes`].
    cause: u32,
}

impl Instant for Caused {
    const BEGIN: Caused = Caused { seconds: 0.0, cause: 0 };
    const UNKNOWN: Caused = Caused { seconds: f64::NAN, cause: 0 };

    fn seconds(self) -> f64 {
        self.seconds
    }
}

/// What takes time, and after what.
pub struct Causes(Vec<(u32, Charge)>);

impl Causes {
    /// Nothing but the beginning.
    pub fn none() -> Causes {
        Causes(vec![(0, Charge::default())])
    }

    /// A moment that comes so long after another one.
    pub fn after(&mut self, instant: Caused, charge: Charge, seconds: f64) -> Caused {
        if seconds == 0.0 {
            return instant;
        }
        self.0.push((instant.cause, charge));
        Caused { seconds: instant.seconds + seconds, cause: self.0.len() as u32 - 1 }
    }

    /// All that takes time before a moment which could not come earlier, the last first.
    pub fn before(&self, instant: Caused) -> impl Iterator<Item = Charge> {
        let mut cause = instant.cause;
        std::iter::from_fn(move || {
            let (previous, charge) = self.0[cause as usize];
            (std::mem::replace(&mut cause, previous) != 0).then_some(charge)
        })
    }
}
