//! Sums over calls. Those of one rank are printed as a table; those of all ranks become a job's profile.

#![forbid(unsafe_code)]

pub mod lateness;
pub mod part;
pub mod profile;
mod profile_text;
mod table;

pub use profile_text::ranges;
pub use table::Report;

use crate::algorithms::Collective;
use std::time::Duration;

/// The end of the decision about a communicator's first calls, for which no rule can choose shared memory.
pub const NO_SHARED_MEMORY_YET: &str = "no shared memory yet";

/// How a collective was called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Form {
    /// The call returns when its result is there.
    Blocking,
    /// The call returns at once.
    NonBlocking,
    /// The call was prepared and is started again and again.
    Persistent,
    /// An algorithm that consists of other collectives made the call.
    Inner,
}

impl Form {
    pub const ALL: [Form; 4] = [Form::Blocking, Form::NonBlocking, Form::Persistent, Form::Inner];

    /// Its name in profiles.
    pub fn name(self) -> &'static str {
        match self {
            Form::Blocking => "blocking",
            Form::NonBlocking => "non-blocking",
            Form::Persistent => "persistent",
            Form::Inner => "inner",
        }
    }
}

/// What calls of one row have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CallKind {
    /// How the communicator was made, or its name.
    pub communicator: String,
    /// Number of ranks in the own group.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, else 0.
    pub remote: usize,
    pub collective: Collective,
    pub form: Form,
    /// The greatest power of two that is not more than the bytes of a call, or 0.
    pub bytes_from: u64,
    pub datatype: String,
    /// The operator of a reduction, else empty.
    pub operator: String,
    /// The algorithm with its parameters; `below` for the component below, `nobody` for calls without data.
    pub served: String,
    /// What chose the algorithm, such as a rule.
    pub decided: String,
}

/// The sums over calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub calls: u64,
    /// Bytes of data.
    pub bytes: u64,
    /// How long the calls took; `None` if no call's time is known.
    pub time: Option<Duration>,
}

impl Sum {
    pub fn add(&mut self, other: Sum) {
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.time = self.time.map_or(other.time, |time| Some(time + other.time.unwrap_or_default()));
    }
}

/// The greatest power of two that is not more than a number of bytes, or 0.
pub fn bytes_from(bytes: usize) -> u64 {
    bytes.checked_ilog2().map_or(0, |power| 1 << power)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_is_unknown_adds_nothing() {
        let mut sum = Sum::default();
        for time in [None, Some(Duration::from_secs(1)), None] {
            sum.add(Sum { calls: 1, bytes: 1, time });
        }
        assert_eq!(sum, Sum { calls: 3, bytes: 3, time: Some(Duration::from_secs(1)) });
    }

    #[test]
    fn sums_of_bytes_do_not_overflow() {
        let mut sum = Sum::default();
        let most = Sum { calls: 1, bytes: u64::MAX, time: None };
        sum.add(most);
        sum.add(most);
        assert_eq!(sum, Sum { calls: 2, ..most });
    }

    #[test]
    fn bytes_are_rounded_down_to_powers_of_two() {
        assert_eq!([0, 1, 12, 4096, 5000].map(bytes_from), [0, 1, 8, 4096, 4096]);
    }
}
