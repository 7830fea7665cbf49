//! What is told of calls that have ended: to the report, to the log, and to tools that count by MPI_T.

use crate::algorithms::Collective;
use crate::mpi::parameters::settings::{Reported, reported};
use crate::report::{Kind, Report};
use std::ffi::c_int;
use std::mem::take;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

/// The target of log lines about single calls.
pub const CALLS: &str = "rustcoll::calls";

/// How many there are that want to know of every call. While there are none, nothing is told, and short calls that repeat
/// themselves are as fast as they can be.
static WATCHERS: AtomicIsize = AtomicIsize::new(0);

/// Those of them that came with the last start of MPI.
static OF_THIS_START: AtomicIsize = AtomicIsize::new(0);

/// Whether the report is this rank's to print.
static IS_FIRST_OF_JOB: AtomicBool = AtomicBool::new(false);

static REPORT: LazyLock<Mutex<Report>> = LazyLock::new(Mutex::default);

/// Of each collective, by the numbers of algorithms, with the component below first.
static COUNTED: LazyLock<Vec<Vec<Counters>>> = LazyLock::new(|| {
    let counters =
        |collective: Collective| (0..=collective.algorithms().count()).map(|_| Counters::default());
    Collective::ALL.into_iter().map(|collective| counters(collective).collect()).collect()
});

#[derive(Default)]
struct Counters {
    calls: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
}

/// What tools may count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Calls.
    Calls,
    /// Their bytes.
    Bytes,
    /// Their time.
    Time,
}

/// What is to be told of a call.
#[derive(Clone)]
pub struct Subject {
    /// How log lines begin.
    pub communicator: Arc<str>,
    /// What it has in common with others.
    pub kind: Arc<Kind>,
    /// The algorithm's number, 0 for the component below; `None` if nobody had anything to do.
    pub number: Option<c_int>,
    /// Bytes of data.
    pub bytes: usize,
}

/// Whether anybody wants to know of calls.
#[inline]
pub fn is_on() -> bool {
    WATCHERS.load(Relaxed) != 0
}

/// Notes that there are more who want to know of calls, or fewer.
pub fn add_watchers(more: isize) {
    WATCHERS.fetch_add(more, Relaxed);
}

/// The time at which a call starts, if anybody wants to know.
#[inline]
pub fn now() -> Option<Instant> {
    is_on().then(Instant::now)
}

/// Starts watching for the report and the log, once for each start of MPI.
pub fn start(is_first_of_job: bool) {
    IS_FIRST_OF_JOB.store(is_first_of_job, Relaxed);
    let is_logged = log::max_level() >= log::LevelFilter::Debug;
    let watchers = isize::from(is_logged) + isize::from(reported() != Reported::Nothing);
    add_watchers(watchers - OF_THIS_START.swap(watchers, Relaxed));
}

/// Prints the report, where there is one; MPI is about to end. If it starts again, another one begins.
pub fn finish() {
    let report = take(&mut *REPORT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()));
    if reported() != Reported::Nothing && IS_FIRST_OF_JOB.swap(false, Relaxed) {
        match report.is_empty() {
            true => eprintln!("rustcoll: no collective of rank 0 came here"),
            false => eprint!("rustcoll: the collectives of rank 0\n{report}"),
        }
    }
}

impl Subject {
    /// Tells of the call, which took so long, if that is known.
    pub fn tell(&self, time: Option<Duration>) {
        let Subject { communicator, kind, number, bytes } = self;
        if let Some(number) = number {
            count(kind.collective, *number, *bytes, time);
        }
        let reported = reported();
        if reported != Reported::Nothing {
            REPORT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).add(kind, *bytes, time);
        }
        if reported == Reported::Calls {
            let Kind { collective, served, decided, .. } = &**kind;
            let collective = collective.name();
            let time =
                time.map_or("an unknown time".into(), |time| format!("{:.1} us", time.as_secs_f64() * 1e6));
            log::info!(
                target: CALLS,
                "{communicator}: {collective} of {bytes} bytes by {served} ({decided}) took {time}"
            );
        }
    }
}

fn count(collective: Collective, number: c_int, bytes: usize, time: Option<Duration>) {
    let Counters { calls, bytes: sum, nanoseconds } = &COUNTED[collective as usize][number as usize];
    calls.fetch_add(1, Relaxed);
    sum.fetch_add(bytes as u64, Relaxed);
    nanoseconds.fetch_add(time.unwrap_or_default().as_nanos() as u64, Relaxed);
}

/// How many numbers are counted of a collective: one for each algorithm, after that of the component below.
pub fn counted_numbers(collective: Collective) -> usize {
    COUNTED[collective as usize].len()
}

/// What was counted so far, by the algorithms' numbers; time in nanoseconds.
pub fn counted(collective: Collective, quantity: Quantity) -> impl Iterator<Item = u64> {
    COUNTED[collective as usize].iter().map(move |counters| {
        let counter = match quantity {
            Quantity::Calls => &counters.calls,
            Quantity::Bytes => &counters.bytes,
            Quantity::Time => &counters.nanoseconds,
        };
        counter.load(Relaxed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_counted_by_the_algorithms_numbers() {
        let of = |quantity| counted(Collective::Scan, quantity).collect::<Vec<_>>();
        let before = [Quantity::Calls, Quantity::Bytes, Quantity::Time].map(of);
        count(Collective::Scan, 2, 8, Some(Duration::from_nanos(30)));
        count(Collective::Scan, 2, 8, None);
        count(Collective::Scan, 0, 1, None);
        let after = [Quantity::Calls, Quantity::Bytes, Quantity::Time].map(of);
        let more: Vec<Vec<u64>> = after
            .iter()
            .zip(&before)
            .map(|(after, before)| after.iter().zip(before).map(|(after, before)| after - before).collect())
            .collect();
        assert_eq!(counted_numbers(Collective::Scan), 7);
        assert_eq!(more, [[1, 0, 2, 0, 0, 0, 0], [1, 0, 16, 0, 0, 0, 0], [0, 0, 30, 0, 0, 0, 0]]);
    }
}
