//! What ranks do between a call and its `MPI_Wait`.

use std::hint::spin_loop;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::clock::AWAKE;

/// A time without calls of MPI.
#[derive(Clone, Copy, Debug, Default)]
pub struct Computing {
    /// Zero if the call does not overlap with computing.
    pub time: Duration,
    /// Whether the rank has its own processor. Otherwise it sleeps, because it would take processor time from other
    /// ranks.
    pub has_processor: bool,
}

impl Computing {
    pub fn perform(self) {
        if self.time.is_zero() {
            return;
        }
        let begin = Instant::now();
        if !self.has_processor {
            sleep(self.time.saturating_sub(Duration::from_secs_f64(AWAKE)));
        }
        while begin.elapsed() < self.time {
            spin_loop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_takes_as_long_as_asked() {
        for has_processor in [false, true] {
            let (time, begin) = (Duration::from_millis(2), Instant::now());
            Computing { time, has_processor }.perform();
            assert!(begin.elapsed() >= time);
        }
    }
}
