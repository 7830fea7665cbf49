//! Chooses which calls of a communicator are timed, and which are kept to judge which rank came late. All ranks choose
//! the same calls without communication: they draw by the call's number on the communicator.

use super::parts;
use super::watch::{self, Subject};
use crate::algorithms::Collective;
use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings::profile_file;
use crate::mpi::shim::bindings::{rustcoll_shim_shared_number, rustcoll_shim_world_ranks};
use crate::report::lateness::{Sample, Samples, Visit};
use crate::report::profile::row_hash;
use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// All ranks of a communicator together keep about this many visits (a rank in a call). The most calls that a rank
/// keeps lie between the two bounds below.
const MOST_VISITS: usize = 64 << 10;
const FEWEST_CALLS: u64 = 4;
const MOST_CALLS: u64 = 256;

/// The most communicators whose calls are kept.
const MOST_COMMUNICATORS: usize = 32;

/// The first calls of a communicator, up to this number, are all timed. Of later ones at least one of 2^`RAREST` is.
const ALL_TIMED: u64 = 4096;
const RAREST: u32 = 3;

/// The first calls of each kind are all timed, up to this number.
const NEW: u64 = 64;

/// Calls of at least this many bytes are always timed.
const LONG: usize = 16 << 10;

/// Samples the blocking calls of a communicator.
pub struct Sampler {
    /// How many calls there were.
    number: u64,
    /// How many calls are kept at most.
    most: u64,
    kept: Option<Arc<Mutex<Kept>>>,
}

/// The calls of a communicator that are kept.
struct Kept {
    /// A number that identifies the communicator, the same at all its ranks.
    communicator: u64,
    size: u32,
    /// The least `rarity` of calls that are kept.
    rarity: u32,
    calls: Vec<SampledCall>,
}

struct SampledCall {
    number: u64,
    subject: Arc<Subject>,
    is_root: bool,
    came: u64,
    took: u64,
}

/// What to measure of a call.
#[derive(Clone, Copy)]
pub struct Timing {
    /// When the call began, in nanoseconds; `None` if it is not timed.
    start: Option<u64>,
    /// How many calls its time represents.
    weight: u64,
    /// If it is kept, its number and the least rarity of calls that are kept.
    kept: Option<(u64, u32)>,
    is_root: bool,
}

static ALL: Mutex<Vec<Arc<Mutex<Kept>>>> = Mutex::new(Vec::new());

/// How many communicators there were, by a hash of their ranks and their shared number.
static SEEN: Mutex<Option<HashMap<u64, u64>>> = Mutex::new(None);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Returns the rarity of the call with this number. One call of 2^r has a rarity of at least r.
fn rarity(number: u64) -> u32 {
    // The last step of splitmix64.
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (mixed ^ (mixed >> 31)).trailing_zeros()
}

/// Returns the least rarity of kept calls after `number` calls, so that between half of `most` and `most` are kept.
fn rarest(number: u64, most: u64) -> u32 {
    (number / most).checked_ilog2().map_or(0, |power| power + 1)
}

/// Returns the least rarity of timed calls after `number` calls. All kept calls are among the timed ones.
fn rarest_timed(number: u64) -> u32 {
    rarest(number, ALL_TIMED).min(RAREST)
}

/// Returns a number that identifies a communicator, the same at all its ranks; `None` if some are of another job.
fn identity(communicator: *const c_void, size: usize) -> Option<u64> {
    let mut ranks: Vec<c_int> = vec![0; size];
    // SAFETY: the handle is the communicator's, and there is room for its ranks.
    let number = unsafe {
        rustcoll_shim_world_ranks(communicator, ranks.as_mut_ptr(), size as c_int);
        rustcoll_shim_shared_number(communicator)
    };
    if ranks.iter().any(|&rank| rank < 0) {
        return None;
    }
    let bytes = ranks.iter().flat_map(|rank| rank.to_le_bytes()).chain(number.to_le_bytes());
    let group = crate::hash::hash(&bytes.collect::<Vec<u8>>());
    // A communicator gets the number of one that all its ranks have freed. If there are no numbers, all ranks first call
    // collectives on communicators of the same ranks in the same order, unless their threads do so.
    let mut seen = lock(&SEEN);
    let seen = seen.get_or_insert_default().entry(group).or_default();
    *seen += 1;
    Some(group ^ seen.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

impl Sampler {
    /// Returns the sampler of a communicator. It keeps calls if there is a profile, but not between two groups.
    pub fn new(communicator: *const c_void, group: Group) -> Sampler {
        let most = (MOST_VISITS / group.size.max(1)) as u64;
        let is_kept = profile_file().is_some() && group.remote == 0;
        let kept = is_kept.then(|| Kept::new(communicator, group.size)).flatten();
        Sampler { number: 0, most: most.clamp(FEWEST_CALLS, MOST_CALLS), kept }
    }

    /// Counts the next call, which began at `start` or begins now. All ranks must count their calls alike.
    #[inline]
    pub fn next(&mut self, subject: &Subject, start: Option<u64>, is_root: bool) -> Timing {
        self.number += 1;
        let (number, rarity) = (self.number, rarity(self.number));
        let rarest = rarest(number, self.most);
        let is_kept = self.kept.is_some() && rarity >= rarest;
        let is_timed = watch::times_all() || subject.bytes() >= LONG || subject.calls() < NEW;
        let timed = if is_timed { 0 } else { rarest_timed(number) };
        Timing {
            start: (rarity >= timed).then(|| start.unwrap_or_else(watch::now)),
            weight: 1 << timed,
            kept: is_kept.then_some((number, rarest)),
            is_root,
        }
    }

    /// Records a call that has ended.
    #[inline]
    pub fn end(&self, subject: &Arc<Subject>, timing: Timing) {
        let Timing { start, weight, kept, is_root } = timing;
        let Some(came) = start else { return subject.tell(None) };
        let now = watch::now();
        let took = now - came;
        subject.tell(Some((Duration::from_nanos(took), weight)));
        if let (Some((number, rarest)), Some(calls)) = (kept, &self.kept) {
            let subject = Arc::clone(subject);
            lock(calls).keep(SampledCall { number, subject, is_root, came, took }, rarest);
        }
        parts::write_if_due(now);
    }
}

impl Timing {
    /// Returns the timing of a call that began at `start`, and that an algorithm made.
    pub fn since(start: u64) -> Timing {
        Timing { start: Some(start), weight: 1, kept: None, is_root: false }
    }
}

impl Kept {
    /// Returns `None` if calls of too many communicators are kept, or if some ranks are of another job.
    fn new(communicator: *const c_void, size: usize) -> Option<Arc<Mutex<Kept>>> {
        if lock(&ALL).len() >= MOST_COMMUNICATORS {
            return None;
        }
        let communicator = identity(communicator, size)?;
        let mut all = lock(&ALL);
        let kept = Kept { communicator, size: u32::try_from(size).ok()?, rarity: 0, calls: Vec::new() };
        let kept = (all.len() < MOST_COMMUNICATORS).then(|| Arc::new(Mutex::new(kept)))?;
        all.push(Arc::clone(&kept));
        Some(kept)
    }

    /// Keeps a call, and from now on only calls of at least this rarity.
    fn keep(&mut self, call: SampledCall, rarest: u32) {
        if rarest > self.rarity {
            self.rarity = rarest;
            self.calls.retain(|call| rarity(call.number) >= rarest);
        }
        self.calls.push(call);
    }
}

/// The calls that this rank kept on all communicators.
pub fn samples(node: u64) -> Samples {
    let mut samples = Samples::default();
    for kept in lock(&ALL).iter() {
        let Kept { communicator, size, calls, .. } = &*lock(kept);
        for SampledCall { number, subject, is_root, came, took } in calls {
            let collective: Collective = subject.kind().collective;
            let visit = Visit { rank: watch::rank(), is_root: *is_root, came: *came, took: *took };
            let row = row_hash(subject.kind());
            let sample = Sample { size: *size, collective, row, node: Some(node), visits: vec![visit] };
            samples.add((*communicator, *number), sample);
        }
    }
    samples
}

/// Forgets all calls and communicators.
pub fn forget() {
    for kept in lock(&ALL).drain(..) {
        lock(&kept).calls.clear();
    }
    *lock(&SEEN) = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mpi::messages::work::Name;
    use crate::report::{CallKind, Form, bytes_from};

    /// Returns the timings of `calls` calls of `bytes` bytes, the first of which has this number.
    fn timings(number: u64, calls: u64, bytes: usize) -> Vec<Timing> {
        let kind = CallKind {
            communicator: "tests of the sampler".into(),
            size: 2,
            remote: 0,
            collective: Collective::Bcast,
            form: Form::Blocking,
            bytes_from: bytes_from(bytes),
            datatype: "MPI_BYTE".into(),
            operator: String::new(),
            served: format!("{number}"),
            decided: "forced".into(),
        };
        let name = Name { group: Group { rank: 0, size: 2, remote: 0 }, identifier: 0 };
        let subject = Subject::new(name, kind, None, bytes);
        let mut sampler = Sampler { number: number - 1, most: 16, kept: None };
        let timing = |_| {
            subject.tell(None);
            sampler.next(&subject, None, false)
        };
        (0..calls).map(timing).collect()
    }

    #[test]
    fn the_times_of_some_calls_stand_for_all() {
        let timings = timings(1, 100_000, 8);
        let timed: Vec<_> = timings.iter().filter(|timing| timing.start.is_some()).collect();
        assert!((16_000..20_000).contains(&timed.len()), "{}", timed.len());
        let weight: u64 = timed.iter().map(|timing| timing.weight).sum();
        assert!((97_000..103_000).contains(&weight), "{weight}");
        assert!(timings[..4095].iter().all(|timing| timing.start.is_some() && timing.weight == 1));
    }

    #[test]
    fn the_first_calls_of_a_kind_are_timed() {
        let timings = timings(1 << 40, 1000, 8);
        let timed = timings.iter().filter(|timing| timing.start.is_some()).count();
        assert!(timings[..62].iter().all(|timing| timing.start.is_some()));
        assert!((120..300).contains(&timed), "{timed}");
    }

    #[test]
    fn long_calls_are_all_timed() {
        assert!(timings(1 << 41, 1000, LONG).iter().all(|timing| timing.start.is_some()));
    }

    #[test]
    fn one_call_of_eight_is_thrice_rare() {
        let rare = (0..80_000).filter(|&number| rarity(number) >= 3).count();
        assert!((9_500..10_500).contains(&rare), "{rare}");
        // Whatever a program does every eighth time is seen as often as everything else.
        let rare = (0..80_000).step_by(8).filter(|&number| rarity(number) >= 3).count();
        assert!((1_150..1_350).contains(&rare), "{rare}");
    }
}
