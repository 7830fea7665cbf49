//! A watch over calls that never return.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use measurements::{Line, Trial};
use mpi_programs::environment;

use crate::print;

/// While nobody calls.
const AT_REST: u64 = u64::MAX;

/// The longest time between two looks at a call.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// What the watching thread sees of the calls.
#[derive(Debug)]
struct Watched {
    begin: Instant,
    limit: Duration,
    /// When the call begins or began, in nanoseconds, or [`AT_REST`].
    since: AtomicU64,
    trial: Mutex<Option<Trial>>,
}

/// Ends the job if a call takes longer than a limit.
#[derive(Debug)]
pub struct Watchdog(Option<Arc<Watched>>);

impl Watchdog {
    /// Watches over the calls of this rank; without a limit nobody does. One rank is enough, for none goes on before all
    /// have ended a call.
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

    /// Whose calls come next.
    pub fn watch_over(&self, trial: impl FnOnce() -> Trial) {
        if let Some(watched) = &self.0 {
            *watched.trial.lock().unwrap_or_else(PoisonError::into_inner) = Some(trial());
        }
    }

    /// A call begins after some time, and what was before has ended.
    pub fn call_begins_in(&self, time: Duration) {
        if let Some(watched) = &self.0 {
            let begin = watched.begin.elapsed() + time;
            watched.since.store(begin.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// All ranks have ended the call.
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
            // The job ends, whether anybody still reads or not.
            let _ = print(&Line::Hung(trial));
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
