//! Ends the job if a call never returns.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use measurements::{OutputLine, Trial};
use mpi_programs::environment;

use crate::print;

/// The value of `since` while no call runs.
const AT_REST: u64 = u64::MAX;

/// The longest time between two looks at a call.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// What the watching thread sees of the calls.
#[derive(Debug)]
struct Watched {
    begin: Instant,
    limit: Duration,
    /// When the call begins or began, in nanoseconds after `begin`, or [`AT_REST`].
    since: AtomicU64,
    trial: Mutex<Option<Trial>>,
}

/// Ends the job if a call takes longer than a limit.
#[derive(Debug)]
pub struct Watchdog(Option<Arc<Watched>>);

impl Watchdog {
    /// Watches the calls of this rank; without a limit does nothing. One rank is enough, because no rank goes
    /// on before all ranks have ended a call.
    pub fn new(limit: Option<Duration>) -> Self {
        let watched = limit.map(|limit| {
            let (since, trial) = (AtomicU64::new(AT_REST), Mutex::new(None));
            Arc::new(Watched { begin: Instant::now(), limit, since, trial })
        });
        if let Some(watched) = watched.clone() {
            thread::spawn(move || watched.watch());
        }
        Watchdog(watched)
    }

    /// Names the trial of the next calls.
    pub fn watch_over(&self, trial: impl FnOnce() -> Trial) {
        if let Some(watched) = &self.0 {
            *watched.trial.lock().unwrap_or_else(PoisonError::into_inner) = Some(trial());
        }
    }

    /// Notes that a call begins after `time`, and that the previous one has ended.
    pub fn call_begins_in(&self, time: Duration) {
        if let Some(watched) = &self.0 {
            let begin = watched.begin.elapsed() + time;
            watched.since.store(begin.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// Notes that all ranks have ended the call.
    pub fn call_has_ended(&self) {
        if let Some(watched) = &self.0 {
            watched.since.store(AT_REST, Ordering::Relaxed);
        }
    }
}

impl Watched {
    fn watch(&self) {
        let sleep = LONGEST_SLEEP.min(self.limit / 4);
        while !self.is_over() {
            thread::sleep(sleep);
        }
        let trial = self.trial.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(trial) = trial {
            // The job ends even if nobody reads this line any more.
            let _ = print(&OutputLine::Hung(trial));
        }
        environment::kill();
    }

    fn is_over(&self) -> bool {
        let since = self.since.load(Ordering::Relaxed);
        since != AT_REST && self.begin.elapsed().saturating_sub(Duration::from_nanos(since)) > self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_over_its_limit_until_it_has_ended() {
        let (since, trial) = (AtomicU64::new(AT_REST), Mutex::new(None));
        let limit = Duration::from_millis(1);
        let watched = Arc::new(Watched { begin: Instant::now(), limit, since, trial });
        let watchdog = Watchdog(Some(watched.clone()));
        assert!(!watched.is_over());
        watchdog.call_begins_in(Duration::from_secs(100));
        thread::sleep(2 * limit);
        assert!(!watched.is_over());
        watchdog.call_begins_in(Duration::ZERO);
        thread::sleep(2 * limit);
        assert!(watched.is_over());
        watchdog.call_has_ended();
        assert!(!watched.is_over());
    }
}
