//! Who uses which lane of a communicator's shared memory, and when. A lane serves one collective at a time, and all ranks use a lane in the
//! same order.

use super::agreed_lanes::{self, AgreedLanes};
use super::allotment::Allotment;
use super::geometry::{Geometry, LANES, NONBLOCKING};
use super::lane_memory::LaneMemory;
use super::node::NodeMemory;
use super::sharing::Making;
use super::spared::Spared;
use crate::mpi::messages::transport::{Error, is_of_data};
use crate::mpi::shim::bindings::RUSTCOLL_ERR_INTERN;
use std::collections::BTreeSet;
use std::mem;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

/// The shared memory of a communicator, and its lanes.
#[derive(Default)]
pub struct Lanes {
    memory: Mutex<Search>,
    /// Counts the first non-blocking collectives, which send messages.
    pub spared: Arc<Spared>,
    /// How many persistent collectives the ranks have begun to prepare.
    preparations: AtomicU64,
    /// The number of prepared persistent collectives whose choice depends on shared memory.
    prepared: AtomicU64,
    /// The lanes of persistent collectives, if the ranks are on several nodes.
    agreed: Mutex<AgreedLanes>,
    /// The error after which this rank's count may differ from that of other ranks.
    miscounted: OnceLock<Error>,
    /// The error with which a message of a collective with a request failed at this rank.
    failed: OnceLock<Error>,
    /// The persistent collectives that this rank freed before it knew whether there is memory.
    freed_early: Mutex<BTreeSet<u64>>,
    /// Bytes of temporary memory that spare operations keep.
    pub kept_scratch: AtomicUsize,
    /// Made when a lane is used first.
    lanes: OnceLock<Box<[Lane; LANES]>>,
}

/// What this rank knows about the shared memory of the communicator.
#[derive(Default)]
enum Search {
    /// No call has needed it yet.
    #[default]
    Unbegun,
    /// The ranks are allocating it.
    Making(Box<Making>),
    /// The memory; `None` if at least one rank could not get any.
    Known(Option<Box<Allotment>>),
    /// The allocation failed with an error at this rank.
    Failed(Error),
}

/// A queue of collectives.
#[derive(Default)]
struct Lane {
    /// How many collectives have asked for a turn.
    asked: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many turns have ended.
    had: u64,
    lane_memory: Option<LaneMemory>,
    /// The error after which this rank may be at another collective than its peers.
    broken_by: Option<Error>,
}

/// A collective's turns in its lane.
pub struct Turn {
    lanes: Arc<Lanes>,
    lane: Option<usize>,
    /// Of a persistent collective: how many others were prepared before it.
    persistent: Option<u64>,
    /// The number of its current turn, from when it asks until the turn ends.
    asked: Option<u64>,
    /// Whether its current turn has begun. Only its own error ends it then: other ranks may read what it lends, and
    /// messages are in flight.
    has_begun: bool,
}

/// Whether a collective has a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    Has,
    /// All lanes are taken.
    HasNone,
    /// There is no memory to have a lane in.
    NoMemory,
    /// The first rank has not decided yet, or this one does not know whether there is memory.
    Unknown,
}

impl Lanes {
    /// Advances the allocation of the memory without waiting. Returns whether this rank knows the result. The first call starts the
    /// allocation.
    pub fn find(
        &self,
        begin: impl FnOnce() -> Result<Making, Error>,
        note: impl FnOnce(Option<Geometry>),
    ) -> Result<bool, Error> {
        // The holder of the lock advances the allocation. The holder may be this thread, in a frame further up.
        let Some(mut search) = unless_held(&self.memory) else { return Ok(false) };
        if let Search::Unbegun = *search {
            *search = begin().map_or_else(Search::Failed, |making| Search::Making(Box::new(making)));
        }
        let found = match &mut *search {
            Search::Known(_) => return Ok(true),
            Search::Failed(error) => return Err(*error),
            Search::Making(making) => making.advance(),
            Search::Unbegun => unreachable!("it has just begun"),
        };
        match found {
            Ok(None) => Ok(false),
            Ok(Some(memory)) => {
                note(memory.as_ref().map(NodeMemory::geometry));
                let freed_early = mem::take(&mut *locked(&self.freed_early));
                *search = Search::Known(memory.map(|memory| Allotment::new(memory, freed_early).into()));
                Ok(true)
            }
            Err(error) => {
                *search = Search::Failed(error);
                Err(error)
            }
        }
    }

    /// A lane of the memory, if the ranks have memory.
    pub fn lane_memory(&self, lane: usize) -> Option<LaneMemory> {
        // Once the memory is known, no thread holds the lock while it waits for something.
        match &*locked(&self.memory) {
            Search::Known(Some(allotment)) => Some(allotment.memory().lane_memory(lane)),
            _ => None,
        }
    }

    /// Counts a persistent collective that is to be prepared. Returns whether all lanes may be assigned. The same on all ranks, because this comes
    /// before anything can fail.
    pub fn count_preparation(&self) -> bool {
        self.preparations.fetch_add(1, Relaxed) >= agreed_lanes::NUMBER as u64
    }

    /// Lets the ranks agree on the lanes that persistent collectives on several nodes have left. `greatest` returns the greatest numbers of all
    /// ranks. A rank that has miscounted does not know which lanes are left, so it gives none back.
    pub fn agree(&self, greatest: impl FnOnce(Vec<u64>) -> Result<Vec<u64>, Error>) -> Result<(), Error> {
        let kept = match self.miscounted.get() {
            None => locked(&self.agreed).kept(),
            Some(_) => vec![1; agreed_lanes::NUMBER],
        };
        // Without the lock, because other operations go on meanwhile.
        let kept = greatest(kept)?;
        locked(&self.agreed).take_back(&kept);
        Ok(())
    }

    /// Returns the turns of the next non-blocking or persistent collective whose choice depends on shared
    /// memory. All ranks must call this in the same order.
    pub fn of_next(self: &Arc<Self>, is_persistent: bool, is_on_several_nodes: bool) -> Result<Turn, Error> {
        let lanes = Arc::clone(self);
        match (is_persistent, self.miscounted.get()) {
            (false, _) => {
                Ok(Turn { lanes, lane: Some(NONBLOCKING), persistent: None, asked: None, has_begun: false })
            }
            (true, Some(error)) => Err(*error),
            (true, None) => {
                let number = self.prepared.fetch_add(1, Relaxed);
                if is_on_several_nodes {
                    locked(&self.agreed).assign(number);
                }
                Ok(Turn { lanes, lane: None, persistent: Some(number), asked: None, has_begun: false })
            }
        }
    }

    /// Notes that this rank refused a collective before it got a turn. The other ranks may carry it out, so
    /// every later one of its kind fails at this rank.
    pub fn miss(&self, is_persistent: bool, error: Error) {
        match is_persistent {
            true => drop(self.miscounted.set(error)),
            false => {
                self.spared.end();
                self.break_off(NONBLOCKING, error);
            }
        }
    }

    /// Notes that a message of a collective with a request failed at this rank. Collectives with requests
    /// that begin later fail here, too: after a failure, the caller may leave out calls, as MPI does when it
    /// duplicates a communicator. Turns and tags depend on the order of calls alone, so this rank's next call
    /// would meet another call of the other ranks.
    pub fn note_failed(&self, error: Error) {
        let _ = self.failed.set(error);
        self.break_off(NONBLOCKING, error);
    }

    /// Fails with the error of an earlier collective with a request, if one failed.
    pub fn check(&self) -> Result<(), Error> {
        self.failed.get().map_or(Ok(()), |error| Err(*error))
    }

    /// Whether there is memory, if this rank knows it now.
    fn have_memory(&self) -> Option<bool> {
        match &*unless_held(&self.memory)? {
            Search::Known(memory) => Some(memory.is_some()),
            Search::Unbegun | Search::Making(_) | Search::Failed(_) => None,
        }
    }

    /// Returns the lane of a persistent collective, as [`Allotment::lane`] does; `None` also without memory.
    fn allotted(&self, number: u64) -> Option<Option<usize>> {
        match &mut *unless_held(&self.memory)? {
            Search::Known(Some(allotment)) if allotment.memory().has_all_ranks() => {
                allotment.lane(number, self.prepared.load(Relaxed))
            }
            Search::Known(Some(_)) => Some(locked(&self.agreed).lane(number)),
            Search::Known(None) | Search::Unbegun | Search::Making(_) | Search::Failed(_) => None,
        }
    }

    /// Notes that a persistent collective was freed here.
    fn free(&self, number: u64) {
        if locked(&self.agreed).free(number) {
            return;
        }
        match &mut *locked(&self.memory) {
            Search::Known(Some(allotment)) if allotment.memory().has_all_ranks() => allotment.free(number),
            Search::Known(_) | Search::Failed(_) => {}
            Search::Unbegun | Search::Making(_) => drop(locked(&self.freed_early).insert(number)),
        }
    }

    fn lane(&self, lane: usize) -> &Lane {
        &self.lanes.get_or_init(Box::default)[lane]
    }

    fn is_broken(&self, lane: usize) -> bool {
        locked(&self.lane(lane).state).broken_by.is_some()
    }

    fn break_off(&self, lane: usize, error: Error) {
        locked(&self.lane(lane).state).broken_by.get_or_insert(error);
    }
}

/// A lane during the turn of a collective.
pub struct HeldLane<'a> {
    lanes: &'a Lanes,
    lane: usize,
    lane_memory: &'a mut Option<LaneMemory>,
    broken_by: &'a mut Option<Error>,
}

impl<'a> HeldLane<'a> {
    /// Notes that this rank refuses the collective whose turn it is. Later ones in this lane fail at this rank.
    pub fn miss(&mut self, error: Error) {
        self.broken_by.get_or_insert(error);
    }

    /// The lane's memory, if the ranks have memory.
    pub fn memory(self) -> Option<&'a mut LaneMemory> {
        let HeldLane { lanes, lane, lane_memory, .. } = self;
        if lane_memory.is_none() {
            *lane_memory = lanes.lane_memory(lane);
        }
        lane_memory.as_mut()
    }
}

impl Turn {
    /// Whether the collective has a lane.
    pub fn standing(&mut self) -> Standing {
        match (self.lanes.have_memory(), self.lane, self.persistent) {
            (None, ..) => return Standing::Unknown,
            (Some(false), ..) => return Standing::NoMemory,
            (Some(true), None, Some(number)) => match self.lanes.allotted(number) {
                Some(Some(lane)) => self.lane = Some(lane),
                Some(None) => return Standing::HasNone,
                None => return Standing::Unknown,
            },
            (Some(true), ..) => {}
        }
        Standing::Has
    }

    /// Joins the end of the queue, unless the collective is in it.
    pub fn ask(&mut self) {
        if let (None, Some(lane)) = (self.asked, self.lane) {
            self.asked = Some(self.lanes.lane(lane).asked.fetch_add(1, Relaxed));
        }
    }

    /// Fails if the collective's lane is broken at this rank. Then the collective must not look for memory:
    /// if the other ranks do not allocate any yet, this rank would hang.
    pub fn check(&self) -> Result<(), Error> {
        let Some(lane) = self.lane else { return Ok(()) };
        // If the lock is held, an earlier collective is using the lane. This is called again later.
        let broken_by = unless_held(&self.lanes.lane(lane).state).and_then(|state| state.broken_by);
        broken_by.map_or(Ok(()), Err)
    }

    /// Whether the collective is in the queue.
    pub fn is_due(&self) -> bool {
        self.asked.is_some()
    }

    /// Calls `go` if it is this collective's turn. Returns whether the collective is complete; its turn ends then.
    pub fn take(&mut self, go: impl FnOnce(HeldLane) -> Result<bool, Error>) -> Result<bool, Error> {
        self.ask();
        let Some(lane) = self.lane else { return Ok(false) };
        // Another thread may hold the lock to start the next collective.
        let Some(mut state) = unless_held(&self.lanes.lane(lane).state) else { return Ok(false) };
        let State { had, lane_memory, broken_by } = &mut *state;
        if let Some(error) = *broken_by
            && !self.has_begun
        {
            return Err(error);
        }
        if Some(*had) != self.asked {
            return Ok(false);
        }
        self.has_begun = true;
        let ended = go(HeldLane { lanes: &self.lanes, lane, lane_memory, broken_by });
        if ended != Ok(false) {
            *had += 1;
            (self.asked, self.has_begun) = (None, false);
        }
        if let Err(error) = ended
            && !is_of_data(error)
        {
            *broken_by = Some(error);
        }
        ended
    }

    /// Leaves the queue without a failure. Without shared memory, every collective does so when it learns
    /// that: none may wait for another one.
    pub fn leave(mut self) {
        self.asked = None;
    }

    /// Leaves the queue, if the collective is in it. Later ones in this lane fail at this rank.
    pub fn miss(&mut self, error: Error) {
        if self.asked.take().is_some() {
            self.break_off(error);
        }
    }

    /// Notes that this rank cannot carry out the collective. Later ones in this lane fail at this rank.
    pub fn break_off(&mut self, error: Error) {
        if let Some(lane) = self.lane {
            self.lanes.break_off(lane, error);
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.miss(RUSTCOLL_ERR_INTERN);
        if let Some(number) = self.persistent
            && !self.lane.is_some_and(|lane| self.lanes.is_broken(lane))
        {
            self.lanes.free(number);
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Locks a mutex; returns `None` if it is held.
fn unless_held<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
