//! Who uses which lane of the memory that a communicator's ranks share, and when: in each lane one collective goes on at a time, in the
//! same order at all ranks.

use super::allotment::Allotment;
use super::geometry::{Geometry, LANES, NONBLOCKING};
use super::node::Memory;
use super::segment::Segment;
use super::sharing::Making;
use crate::mpi::messages::transport::Error;
use crate::mpi::shim::bindings::{RUSTCOLL_ERR_INTERN, RUSTCOLL_ERR_TRUNCATE};
use std::collections::BTreeSet;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, TryLockError};

/// The memory of a communicator.
#[derive(Default)]
pub struct Lanes {
    memory: Mutex<Search>,
    /// How many persistent collectives were prepared that depend on it.
    prepared: AtomicU64,
    /// The error after which ranks may disagree how many that were.
    miscounted: OnceLock<Error>,
    /// The persistent collectives that were freed before memory was found.
    freed_early: Mutex<BTreeSet<u64>>,
    lanes: [Lane; LANES],
}

/// How far the ranks are with finding out whether they can have memory.
#[derive(Default)]
enum Search {
    /// Nobody has asked.
    #[default]
    Unbegun,
    /// They tell each other.
    Making(Box<Making>),
    /// They know.
    Known(Option<Allotment>),
    /// This rank does not know, and never will.
    Failed(Error),
}

/// One that goes on in a lane after another.
#[derive(Default)]
struct Lane {
    /// How many have asked for their turn.
    asked: AtomicU64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// How many have had it.
    had: u64,
    segment: Option<Segment>,
    /// The error after which ranks may disagree whose turn it is.
    broken_by: Option<Error>,
}

/// A collective's turns in its lane.
pub struct Turn {
    lanes: Arc<Lanes>,
    lane: Option<usize>,
    /// Of a persistent collective how many were prepared before.
    persistent: Option<u64>,
    /// How many have asked before, if it has asked and not ended its turn.
    asked: Option<u64>,
}

/// Whether a collective has a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It does.
    Has,
    /// There is none for it.
    HasNone,
    /// The first rank has not told yet.
    Unknown,
}

impl Lanes {
    /// Goes on to find out whether the ranks can share memory; says whether this one knows. Whoever is first begins, and all who want to
    /// know go on.
    pub fn find(
        &self,
        begin: impl FnOnce() -> Result<Making, Error>,
        note: impl FnOnce(Option<Geometry>),
    ) -> Result<bool, Error> {
        // Whoever holds it goes on; it may be this very thread, further up.
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
                note(memory.as_ref().map(Memory::geometry));
                let freed_early = mem::take(&mut *locked(&self.freed_early));
                *search = Search::Known(memory.map(|memory| Allotment::new(memory, freed_early)));
                Ok(true)
            }
            Err(error) => {
                *search = Search::Failed(error);
                Err(error)
            }
        }
    }

    /// A lane of the memory, once it is found and if there is any.
    pub fn segment(&self, lane: usize) -> Option<Segment> {
        // Nobody holds it for longer than a look, once memory is found.
        match &*locked(&self.memory) {
            Search::Known(Some(allotment)) => Some(allotment.memory().segment(lane)),
            _ => None,
        }
    }

    /// The turns of a collective that does not block and depends on memory; all ranks ask in the same order.
    pub fn of_next(self: &Arc<Self>, is_persistent: bool) -> Result<Turn, Error> {
        let lanes = Arc::clone(self);
        if !is_persistent {
            return Ok(Turn { lanes, lane: Some(NONBLOCKING), persistent: None, asked: None });
        }
        match self.miscounted.get() {
            Some(error) => Err(*error),
            None => {
                let persistent = Some(self.prepared.fetch_add(1, Relaxed));
                Ok(Turn { lanes, lane: None, persistent, asked: None })
            }
        }
    }

    /// Notes that this rank, perhaps alone, has refused a collective that has no turn yet: later ones here could meet others of the ranks
    /// that have not.
    pub fn miss(&self, is_persistent: bool, error: Error) {
        match is_persistent {
            true => drop(self.miscounted.set(error)),
            false => self.break_off(NONBLOCKING, error),
        }
    }

    /// The lane of a persistent collective.
    fn allotted(&self, number: u64) -> Option<Option<usize>> {
        match &mut *unless_held(&self.memory)? {
            Search::Known(Some(allotment)) => allotment.lane(number, self.prepared.load(Relaxed)),
            Search::Known(None) => Some(None),
            Search::Unbegun | Search::Making(_) | Search::Failed(_) => None,
        }
    }

    /// Notes that a persistent collective was freed here.
    fn free(&self, number: u64) {
        match &mut *locked(&self.memory) {
            Search::Known(Some(allotment)) => allotment.free(number),
            Search::Known(None) | Search::Failed(_) => {}
            Search::Unbegun | Search::Making(_) => drop(locked(&self.freed_early).insert(number)),
        }
    }

    fn is_broken(&self, lane: usize) -> bool {
        locked(&self.lanes[lane].state).broken_by.is_some()
    }

    fn break_off(&self, lane: usize, error: Error) {
        locked(&self.lanes[lane].state).broken_by.get_or_insert(error);
    }
}

/// A lane while it is somebody's turn.
pub struct Place<'a> {
    lanes: &'a Lanes,
    lane: usize,
    segment: &'a mut Option<Segment>,
    broken_by: &'a mut Option<Error>,
}

impl<'a> Place<'a> {
    /// Notes that this rank refuses the collective whose turn it is.
    pub fn miss(&mut self, error: Error) {
        self.broken_by.get_or_insert(error);
    }

    /// Its memory, once it is found and if there is any.
    pub fn segment(self) -> Option<&'a mut Segment> {
        let Place { lanes, lane, segment, .. } = self;
        if segment.is_none() {
            *segment = lanes.segment(lane);
        }
        segment.as_mut()
    }
}

impl Turn {
    /// Whether the collective has a lane.
    pub fn standing(&mut self) -> Standing {
        if let (None, Some(number)) = (self.lane, self.persistent) {
            match self.lanes.allotted(number) {
                Some(Some(lane)) => self.lane = Some(lane),
                Some(None) => return Standing::HasNone,
                None => return Standing::Unknown,
            }
        }
        Standing::Has
    }

    /// Asks for a turn behind all who have asked, unless it has.
    pub fn ask(&mut self) {
        if let (None, Some(lane)) = (self.asked, self.lane) {
            self.asked = Some(self.lanes.lanes[lane].asked.fetch_add(1, Relaxed));
        }
    }

    /// Whether it has asked for a turn that has not ended.
    pub fn is_due(&self) -> bool {
        self.asked.is_some()
    }

    /// Goes on with a collective if it is its turn, which ends with it; says whether it came to its end.
    pub fn take(&mut self, go: impl FnOnce(Place) -> Result<bool, Error>) -> Result<bool, Error> {
        self.ask();
        let Some(lane) = self.lane else { return Ok(false) };
        // Another thread may be starting the next one.
        let Some(mut state) = unless_held(&self.lanes.lanes[lane].state) else { return Ok(false) };
        let State { had, segment, broken_by } = &mut *state;
        if let Some(error) = *broken_by {
            return Err(error);
        }
        if Some(*had) != self.asked {
            return Ok(false);
        }
        let ended = go(Place { lanes: &self.lanes, lane, segment, broken_by });
        if ended != Ok(false) {
            *had += 1;
            self.asked = None;
        }
        if let Err(error) = ended
            && error != RUSTCOLL_ERR_TRUNCATE
        {
            *broken_by = Some(error);
        }
        ended
    }

    /// Notes that this rank, perhaps alone, will not come to the turn that it has asked for, if it has.
    pub fn miss(&mut self, error: Error) {
        if self.asked.take().is_some() {
            self.break_off(error);
        }
    }

    /// Notes that this rank, perhaps alone, will never come to a turn.
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

/// The same, unless somebody holds it.
fn unless_held<T>(mutex: &Mutex<T>) -> Option<MutexGuard<'_, T>> {
    match mutex.try_lock() {
        Ok(guard) => Some(guard),
        Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
        Err(TryLockError::WouldBlock) => None,
    }
}
