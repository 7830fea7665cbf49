//! Counts and times the calls that have ended, for the report, the profile and MPI_T, and logs them.

use crate::algorithms::Collective;
use crate::mpi::messages::work::Name;
use crate::mpi::parameters::settings::{Reported, profile_file, reported};
use crate::report::{CallKind, Report, Sum};
use std::collections::HashMap;
use std::ffi::c_int;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU32, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};
use std::time::Duration;

/// The target of log lines about single calls.
pub const CALLS: &str = "rustcoll::calls";

/// How many watchers want to know of every call: the report, the profile, the log, tools and trials of algorithms.
/// Without any, nothing is recorded, and short repeated calls are as fast as they can be.
static WATCHERS: AtomicIsize = AtomicIsize::new(0);

/// Those watchers that the last start of MPI added.
static OF_THIS_START: AtomicIsize = AtomicIsize::new(0);

/// No rank: MPI has not started with rustcoll.
const NOBODY: u32 = u32::MAX;

/// This process's rank in the job.
static RANK: AtomicU32 = AtomicU32::new(NOBODY);

/// Whether some watcher wants the time of every single call, rather than of a sample.
static TIMES_ALL: AtomicBool = AtomicBool::new(false);

/// When MPI started, in nanoseconds on the clock of [`now`].
static STARTED: AtomicU64 = AtomicU64::new(0);

static ROWS: LazyLock<Mutex<HashMap<Arc<CallKind>, Arc<Tally>>>> = LazyLock::new(Mutex::default);

/// The sums over calls of one kind.
#[derive(Default)]
pub struct Tally {
    /// The algorithm's number, 0 for the component below; `None` if nobody had anything to do.
    number: Option<c_int>,
    calls: AtomicU64,
    bytes: AtomicU64,
    nanoseconds: AtomicU64,
    /// Whether the time of any call is known.
    is_timed: AtomicBool,
}

/// What tools may count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    Calls,
    Bytes,
    Time,
}

/// What to record of a call.
pub struct Subject {
    communicator: Name,
    kind: Arc<CallKind>,
    tally: Arc<Tally>,
    bytes: usize,
}

/// Whether calls are watched.
#[inline]
pub fn is_on() -> bool {
    WATCHERS.load(Relaxed) != 0
}

/// Whether a remembered subject suffices to record a call. At level `Debug` each call also logs what decided it.
#[inline]
pub fn knows(subject: &Option<Arc<Subject>>) -> bool {
    subject.is_some() && log::max_level() < log::LevelFilter::Debug
}

/// Whether the time of every single call is wanted.
pub fn times_all() -> bool {
    TIMES_ALL.load(Relaxed)
}

/// Adds `more` counting tools to the watchers, or removes some if the number is negative.
pub fn add_tools(more: isize) {
    if more > 0 {
        TIMES_ALL.store(true, Relaxed);
    }
    WATCHERS.fetch_add(more, Relaxed);
}

/// A watcher of every call for as long as it lives.
pub struct Watcher(());

impl Watcher {
    pub fn start() -> Watcher {
        WATCHERS.fetch_add(1, Relaxed);
        Watcher(())
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        WATCHERS.fetch_sub(1, Relaxed);
    }
}

/// Nanoseconds on the clock that all processes of this node read.
#[inline]
pub fn now() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every system, and the place for the answer is valid.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// This process's rank in the job.
pub fn rank() -> u32 {
    RANK.load(Relaxed)
}

/// How long MPI has been running.
pub fn running() -> Duration {
    Duration::from_nanos(now() - STARTED.load(Relaxed))
}

/// Starts watching for the report, the profile and the log, once for each start of MPI.
pub fn start(rank: u32) {
    RANK.store(rank, Relaxed);
    STARTED.store(now(), Relaxed);
    let is_logged = log::max_level() >= log::LevelFilter::Debug;
    let wants_all = isize::from(is_logged) + isize::from(reported() != Reported::Nothing);
    TIMES_ALL.fetch_or(wants_all > 0, Relaxed);
    let watchers = wants_all + isize::from(profile_file().is_some());
    WATCHERS.fetch_add(watchers - OF_THIS_START.swap(watchers, Relaxed), Relaxed);
}

/// Prints the report at rank 0, if the user wants one, before MPI ends. All sums begin again from zero.
pub fn finish() {
    let rows = take_sums();
    if reported() != Reported::Nothing && rank() == 0 {
        let mut report = Report::default();
        rows.iter().for_each(|(kind, sum)| report.add(kind, *sum));
        // The job goes on if nobody can read that.
        let _ = match report.is_empty() {
            true => writeln!(io::stderr(), "rustcoll: no collective of rank 0 came here"),
            false => write!(io::stderr(), "rustcoll: the collectives of rank 0\n{report}"),
        };
    }
}

fn rows() -> MutexGuard<'static, HashMap<Arc<CallKind>, Arc<Tally>>> {
    ROWS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The sums of all rows so far.
pub fn sums() -> Vec<(Arc<CallKind>, Sum)> {
    let rows = rows();
    rows.iter()
        .map(|(kind, tally)| (Arc::clone(kind), tally.sum()))
        .filter(|(_, sum)| sum.calls > 0)
        .collect()
}

/// Returns the sums of all rows so far, and removes the rows.
fn take_sums() -> Vec<(Arc<CallKind>, Sum)> {
    let sums = sums();
    rows().clear();
    sums
}

impl Subject {
    /// Returns what to record of such calls. `communicator`: its name in the log; `number`: the algorithm's.
    pub fn new(communicator: Name, kind: CallKind, number: Option<c_int>, bytes: usize) -> Subject {
        let mut rows = rows();
        let (kind, tally) = match rows.get_key_value(&kind) {
            Some((kind, tally)) => (Arc::clone(kind), Arc::clone(tally)),
            None => {
                let (kind, tally) = (Arc::new(kind), Arc::new(Tally { number, ..Tally::default() }));
                rows.insert(Arc::clone(&kind), Arc::clone(&tally));
                (kind, tally)
            }
        };
        Subject { communicator, kind, tally, bytes }
    }

    pub fn kind(&self) -> &Arc<CallKind> {
        &self.kind
    }

    /// How many calls of the kind there were.
    pub fn calls(&self) -> u64 {
        self.tally.calls.load(Relaxed)
    }

    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Records a call. `time`: how long it took, and how many calls it represents; `None` if it was not timed.
    #[inline]
    pub fn tell(&self, time: Option<(Duration, u64)>) {
        self.tally.add(self.bytes, time);
        if reported() == Reported::Calls {
            self.log(time);
        }
    }

    #[cold]
    fn log(&self, time: Option<(Duration, u64)>) {
        let Subject { communicator, kind, bytes, .. } = self;
        let CallKind { collective, served, decided, .. } = &**kind;
        let collective = collective.name();
        let time =
            time.map_or("an unknown time".into(), |(time, _)| format!("{:.1} us", time.as_secs_f64() * 1e6));
        log::info!(
            target: CALLS,
            "{communicator}: {collective} of {bytes} bytes by {served} ({decided}) took {time}"
        );
    }
}

impl Tally {
    fn add(&self, bytes: usize, time: Option<(Duration, u64)>) {
        self.calls.fetch_add(1, Relaxed);
        self.bytes.fetch_add(bytes as u64, Relaxed);
        if let Some((time, weight)) = time {
            self.nanoseconds.fetch_add(time.as_nanos() as u64 * weight, Relaxed);
            self.is_timed.store(true, Relaxed);
        }
    }

    fn sum(&self) -> Sum {
        let time = Duration::from_nanos(self.nanoseconds.load(Relaxed));
        Sum {
            calls: self.calls.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            time: self.is_timed.load(Relaxed).then_some(time),
        }
    }
}

/// Returns how many numbers count calls of a collective: one for each algorithm, and 0 for the component below.
pub fn counted_numbers(collective: Collective) -> usize {
    collective.algorithms().count() + 1
}

/// Returns the sums so far, by the algorithms' numbers; times in nanoseconds.
pub fn counted(collective: Collective, quantity: Quantity) -> Vec<u64> {
    let mut counted = vec![0; counted_numbers(collective)];
    for (kind, tally) in rows().iter() {
        if let Some(number) = tally.number.filter(|_| kind.collective == collective) {
            let counter = match quantity {
                Quantity::Calls => &tally.calls,
                Quantity::Bytes => &tally.bytes,
                Quantity::Time => &tally.nanoseconds,
            };
            counted[number as usize] += counter.load(Relaxed);
        }
    }
    counted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::messages::work::Group;
    use crate::report::{Form, bytes_from};

    fn subject(number: Option<c_int>, bytes: usize) -> Subject {
        let kind = CallKind {
            communicator: "tests".into(),
            size: 2,
            remote: 0,
            collective: Collective::Scan,
            form: Form::Blocking,
            bytes_from: bytes_from(bytes),
            datatype: "MPI_INT".into(),
            operator: "MPI_SUM".into(),
            served: number.map_or("nobody".into(), |number| number.to_string()),
            decided: "forced".into(),
        };
        Subject::new(
            Name { group: Group { rank: 0, size: 2, remote: 0 }, identifier: 0 },
            kind,
            number,
            bytes,
        )
    }

    #[test]
    fn calls_are_counted_by_the_algorithms_numbers() {
        let time = |nanoseconds| Some((Duration::from_nanos(nanoseconds), 1));
        subject(Some(2), 8).tell(time(30));
        subject(Some(2), 9).tell(None);
        subject(Some(2), 40).tell(Some((Duration::from_nanos(5), 4)));
        subject(Some(0), 1).tell(None);
        subject(None, 0).tell(time(7));
        let counted =
            [Quantity::Calls, Quantity::Bytes, Quantity::Time].map(|it| counted(Collective::Scan, it));
        assert_eq!(counted_numbers(Collective::Scan), 8);
        assert_eq!(counted, [[1, 0, 3, 0, 0, 0, 0, 0], [1, 0, 57, 0, 0, 0, 0, 0], [0, 0, 50, 0, 0, 0, 0, 0]]);
        let sums = sums();
        let of_scan = |(kind, _): &&(Arc<CallKind>, Sum)| kind.collective == Collective::Scan;
        let of_eight = sums.iter().filter(of_scan).find(|(kind, _)| kind.bytes_from == 8).unwrap();
        assert_eq!(of_eight.1, Sum { calls: 2, bytes: 17, time: Some(Duration::from_nanos(30)) });
        assert!(sums.iter().filter(of_scan).any(|(kind, sum)| kind.served == "0" && sum.time.is_none()));
    }
}
