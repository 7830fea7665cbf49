//! Carries out non-blocking and persistent collectives. Each has its own memory, and advances when MPI makes progress.

use super::job::Shifts;
use super::nonblocking::{Undecided, is_refused_by_all};
use super::staged::Staged;
use super::transfer::Transfer;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::{Error, is_of_data, status};
use crate::mpi::messages::work::{Work, note_call_in_slots};
use crate::mpi::parameters::settings;
use crate::mpi::reporting::watch::{self, Subject};
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use crate::mpi::shared_memory::lanes::{Lanes, Standing, Turn};
use crate::mpi::shim::bindings::*;
use std::ffi::{c_int, c_void};
use std::mem;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// A prepared non-blocking or persistent collective.
pub struct Operation {
    pub course: Course,
    pub channel: Channel,
    /// Its turn in shared memory, if it needs one.
    pub turn: Option<Turn>,
    /// The lanes of the communicator's shared memory.
    pub lanes: Arc<Lanes>,
    /// Copies of the buffers that lie on a device.
    pub staged: Option<Staged>,
    pub work: Work,
    /// MPI's request for the collective.
    pub request: *mut c_void,
    /// What to record of it, once it is decided.
    pub subject: Option<Arc<Subject>>,
    /// When it was last started, in nanoseconds; `None` if no call was watched.
    pub start: Option<u64>,
    /// How it moves to the buffers of the next same call; `None` if it cannot.
    pub shifts: Option<Shifts>,
    /// Where it waits for the next same call, once its request is freed.
    pub spare: Weak<Spare>,
    /// Bytes of temporary memory that it keeps as a spare.
    pub kept: usize,
}

/// Whether the algorithm of an operation is decided.
pub enum Course {
    Undecided(Undecided),
    Decided(Transfer),
}

/// Why an operation cannot begin.
enum Refused {
    /// All ranks refuse it.
    Everywhere(Error),
    /// Perhaps only this rank refuses it.
    Here(Error),
}

impl Refused {
    fn of(error: Error) -> Refused {
        if is_refused_by_all(error) { Refused::Everywhere(error) } else { Refused::Here(error) }
    }

    fn error(self) -> Error {
        let (Refused::Everywhere(error) | Refused::Here(error)) = self;
        error
    }
}

/// An operation whose request was freed.
pub type Spare = Mutex<Option<Box<Operation>>>;

/// Operations that are under way. Each is owned by its request, which MPI does not free before it is complete.
struct UnderWay(Vec<*mut Operation>);

// SAFETY: the thread that drives an operation holds the lock. The owner leaves it alone while it is under way.
unsafe impl Send for UnderWay {}

static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay(Vec::new()));

/// Operations that were started since the last progress. They have a lock of their own, because an operation may be
/// started from within the progress of another one, which holds the lock of `UNDER_WAY`.
static STARTED: Mutex<UnderWay> = Mutex::new(UnderWay(Vec::new()));

/// How many operations are under way, so that `progress` returns early if there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Course {
    /// Decides the call and begins its transfer, unless it is decided already.
    fn decide(
        &mut self,
        channel: Channel,
        work: &mut Work,
        subject: &mut Option<Arc<Subject>>,
    ) -> Result<(), Refused> {
        let Course::Undecided(undecided) = self else { return Ok(()) };
        let planned = undecided.decide().map_err(Refused::of)?;
        let (mut transfer, told) = undecided.transfer(&planned, channel, work).map_err(Refused::Here)?;
        transfer.begin(work).map_err(Refused::Here)?;
        (*self, *subject) = (Course::Decided(transfer), told);
        Ok(())
    }

    fn go_on(&mut self, work: &mut Work, lane_memory: Option<&mut LaneMemory>) -> Result<bool, Error> {
        match self {
            Course::Decided(transfer) => transfer.advance(work, lane_memory),
            Course::Undecided(_) => Err(RUSTCOLL_ERR_INTERN),
        }
    }
}

impl Operation {
    /// Advances the operation without waiting. Returns its status if it is complete, well or not.
    fn advance(&mut self) -> Option<c_int> {
        match self.go_on() {
            Ok(false) => None,
            ended => Some(self.end(ended.map(|_| ()))),
        }
    }

    /// Advances the operation, if it is its turn. Returns whether it is complete.
    fn go_on(&mut self) -> Result<bool, Error> {
        if !self.is_placed()? {
            return Ok(false);
        }
        let Operation { course, channel, turn, work, subject, .. } = self;
        let Some(turn) = turn else {
            course.decide(*channel, work, subject).map_err(Refused::error)?;
            return course.go_on(work, None);
        };
        let mut refused = None;
        let ended = turn.take(|mut lane| match course.decide(*channel, work, subject) {
            Ok(()) => course.go_on(work, lane.memory()),
            Err(Refused::Here(error)) => {
                lane.miss(error);
                Err(error)
            }
            Err(Refused::Everywhere(error)) => {
                refused = Some(error);
                Ok(true)
            }
        });
        refused.map_or(ended, Err)
    }

    /// Whether this rank knows if the operation has a lane of shared memory.
    fn is_placed(&mut self) -> Result<bool, Error> {
        if let (Course::Undecided(undecided), Some(turn)) = (&mut self.course, &mut self.turn) {
            turn.check()?;
            if !undecided.find_memory()? {
                return Ok(false);
            }
            match turn.standing() {
                Standing::Unknown => {
                    // The first rank, which assigns the lanes, may have failed.
                    self.channel.check()?;
                    return Ok(false);
                }
                Standing::Has => {}
                Standing::HasNone => {
                    undecided.do_without_memory();
                    self.turn = None;
                }
                Standing::NoMemory => {
                    if let Some(turn) = self.turn.take() {
                        turn.leave();
                    }
                }
            }
        }
        Ok(true)
    }

    /// Takes a spare operation for the same call. Returns `None` if calls are watched and it has nothing to record.
    pub fn of_spare(
        spare: &Spare,
        call: &rustcoll_call,
        channel: Channel,
        request: *mut c_void,
    ) -> Option<Box<Operation>> {
        let mut kept = spare.try_lock().ok()?;
        if watch::is_on() && !watch::knows(&kept.as_ref()?.subject) {
            return None;
        }
        let mut operation = kept.take()?;
        operation.forget_kept();
        if let (Course::Decided(transfer), Some(shifts)) = (&mut operation.course, operation.shifts) {
            shifts.turn(transfer, call);
            transfer.move_to(channel);
        }
        (operation.channel, operation.request) = (channel, request);
        operation.turn.as_mut().map(Turn::ask);
        Some(operation)
    }

    /// Keeps it for the next same call. Drops it if another one is kept, if it failed, or if it was never started.
    pub fn free(mut self: Box<Self>) {
        let is_unused = self.turn.as_ref().is_some_and(Turn::is_due);
        if self.shifts.is_none() || self.staged.is_some() || is_unused {
            return;
        }
        let Some(spare) = self.spare.upgrade() else { return };
        if let Ok(mut kept) = spare.try_lock()
            && kept.is_none()
        {
            self.keep_scratch();
            *kept = Some(self);
        };
    }

    /// Frees temporary memory, so that the spare operations of a communicator together keep at most `scratch_kept` bytes.
    fn keep_scratch(&mut self) {
        let (limit, kept) = (settings::scratch_kept(), &self.lanes.kept_scratch);
        self.work.give_back(limit.saturating_sub(kept.load(Relaxed)));
        self.kept = self.work.held();
        if kept.fetch_add(self.kept, Relaxed) + self.kept > limit {
            // Another thread kept some meanwhile.
            self.forget_kept();
            self.work.give_back(0);
        }
    }

    fn forget_kept(&mut self) {
        self.lanes.kept_scratch.fetch_sub(mem::take(&mut self.kept), Relaxed);
    }

    /// Begins the operation, for the first time or again.
    fn begin(&mut self) -> Result<(), Error> {
        if let Some(turn) = &mut self.turn {
            turn.ask();
        }
        self.lanes.check()?;
        self.channel.check()?;
        self.staged.as_ref().map_or(Ok(()), Staged::begin)?;
        match &mut self.course {
            Course::Decided(transfer) => transfer.begin(&mut self.work),
            Course::Undecided(_) => Ok(()),
        }
    }

    fn end(&mut self, ended: Result<(), Error>) -> c_int {
        if let Err(error) = ended {
            self.shifts = None;
            if let Some(turn) = &mut self.turn {
                turn.miss(error);
            }
            if !is_refused_by_all(error) && !is_of_data(error) {
                self.lanes.note_failed(error);
            }
        }
        status(match &mut self.staged {
            Some(staged) => staged.end(ended),
            None => ended,
        })
    }

    fn note_ended(&self) {
        if let (Some(subject), Some(start)) = (&self.subject, self.start) {
            subject.tell(Some((Duration::from_nanos(watch::now() - start), 1)));
        }
    }
}

impl Drop for Operation {
    fn drop(&mut self) {
        self.forget_kept();
    }
}

/// Starts an operation. A persistent one may be started again once it is complete.
///
/// # Safety
/// The operation lives until its request is complete, and is not under way.
pub unsafe fn start(operation: *mut Operation) {
    // SAFETY: by this function's contract nobody else uses the operation yet.
    let starting = unsafe { &mut *operation };
    starting.start = watch::is_on().then(watch::now);
    let ended = match starting.begin() {
        Ok(()) => starting.advance(),
        Err(error) => Some(starting.end(Err(error))),
    };
    match ended {
        Some(error) => {
            starting.note_ended();
            if starting.turn.is_some() {
                // To wait for the request makes no progress.
                note_call_in_slots();
            }
            // SAFETY: the request is the one that belongs to the operation.
            unsafe { rustcoll_shim_complete(starting.request, error) }
        }
        None => {
            started().0.push(operation);
            COUNT.fetch_add(1, Relaxed);
        }
    }
}

/// Advances all operations that are under way. Returns how many became complete.
pub fn progress() -> c_int {
    if COUNT.load(Relaxed) == 0 {
        return 0;
    }
    // The holder of the lock advances all operations. The holder may be this thread, in a frame further up.
    let Ok(mut under_way) = UNDER_WAY.try_lock() else { return 0 };
    under_way.0.append(&mut started().0);
    let mut completed = Vec::new();
    under_way.0.retain(|&operation| {
        // SAFETY: operations under way live, and only the holder of the lock uses them.
        let operation = unsafe { &mut *operation };
        let ended = operation.advance();
        completed.extend(ended.map(|error| (operation.request, error)));
        if ended.is_some() {
            operation.note_ended();
        }
        ended.is_none()
    });
    drop(under_way);
    COUNT.fetch_sub(completed.len(), Relaxed);
    for &(request, error) in &completed {
        // SAFETY: the request belongs to an operation that was under way; from now on its owner may free both.
        unsafe { rustcoll_shim_complete(request, error) };
    }
    completed.len() as c_int
}

/// Locks `STARTED`. Every holder releases it at once, so no thread waits long.
fn started() -> MutexGuard<'static, UnderWay> {
    STARTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
