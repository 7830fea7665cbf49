//! Collectives that do not block: each carries its own memory and goes on whenever MPI makes progress.

use super::job::Shifts;
use super::staged::Staged;
use super::transfer::Transfer;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::transport::{Error, status};
use crate::mpi::messages::work::Work;
use crate::mpi::parameters::settings;
use crate::mpi::reporting::watch::{self, Subject};
use crate::mpi::shim::bindings::*;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, Weak};
use std::time::Instant;

/// A prepared collective.
pub struct Operation {
    /// What it carries out.
    pub transfer: Transfer,
    /// Copies of those buffers of its that lie on a device.
    pub staged: Option<Staged>,
    /// Its memory.
    pub work: Work,
    /// What MPI knows it by.
    pub request: *mut c_void,
    /// What is to be told of it.
    pub subject: Subject,
    /// When it was last started, if anybody wanted to know.
    pub start: Option<Instant>,
    /// How it turns to the buffers of the next call that is the same; `None` if it cannot.
    pub shifts: Option<Shifts>,
    /// Where it waits for that call once its request is freed.
    pub spare: Weak<Spare>,
}

/// An operation whose request was freed.
pub type Spare = Mutex<Option<Box<Operation>>>;

/// Operations that are under way. Each is owned by its request, which MPI does not free before it is complete.
struct UnderWay(Vec<*mut Operation>);

// SAFETY: whoever drives an operation holds the lock; its owner leaves it alone while it is under way.
unsafe impl Send for UnderWay {}

static UNDER_WAY: Mutex<UnderWay> = Mutex::new(UnderWay(Vec::new()));

/// Operations that were started since progress was last made. Apart from the others, because an operation may be started
/// from within the progress of another one, while that holds the lock.
static STARTED: Mutex<UnderWay> = Mutex::new(UnderWay(Vec::new()));

/// How many operations are under way, to leave early where there is none.
static COUNT: AtomicUsize = AtomicUsize::new(0);

impl Operation {
    /// Goes on as far as it can; `Some` if it came to its end, well or not.
    fn advance(&mut self) -> Option<c_int> {
        match self.transfer.advance(&mut self.work) {
            Ok(false) => None,
            ended => Some(self.end(ended.map(|_| ()))),
        }
    }

    /// Takes a spare operation for a call that is the same.
    pub fn of_spare(
        spare: &Spare,
        call: &rustcoll_call,
        channel: Channel,
        request: *mut c_void,
    ) -> Option<Box<Operation>> {
        let mut operation = spare.try_lock().ok()?.take()?;
        operation.shifts?.turn(&mut operation.transfer, call);
        operation.transfer.move_to(channel);
        operation.request = request;
        Some(operation)
    }

    /// Keeps it for the next call that is the same, unless another one is kept already or it did not come to its end.
    pub fn free(mut self: Box<Self>) {
        if self.shifts.is_none() || self.staged.is_some() {
            return;
        }
        let Some(spare) = self.spare.upgrade() else { return };
        if let Ok(mut kept) = spare.try_lock()
            && kept.is_none()
        {
            self.work.give_back(settings::scratch_kept());
            *kept = Some(self);
        };
    }

    /// Begins anew.
    fn begin(&mut self) -> Result<(), Error> {
        self.transfer.check_communicator()?;
        self.staged.as_ref().map_or(Ok(()), Staged::begin)?;
        self.transfer.begin(&mut self.work)
    }

    fn end(&mut self, ended: Result<(), Error>) -> c_int {
        if ended.is_err() {
            self.shifts = None;
        }
        status(match &mut self.staged {
            Some(staged) => staged.end(ended),
            None => ended,
        })
    }

    fn note_ended(&self) {
        if let Some(start) = self.start {
            self.subject.tell(Some(start.elapsed()));
        }
    }
}

/// Starts an operation, as often as it is persistent.
///
/// # Safety
/// The operation lives until its request is complete, and is not under way.
pub unsafe fn start(operation: *mut Operation) {
    // SAFETY: by this function's contract nobody else uses the operation yet.
    let starting = unsafe { &mut *operation };
    starting.start = watch::now();
    let ended = match starting.begin() {
        Ok(()) => starting.advance(),
        Err(error) => Some(error),
    };
    match ended {
        Some(error) => {
            starting.note_ended();
            // SAFETY: the request is the one that belongs to the operation.
            unsafe { rustcoll_shim_complete(starting.request, error) }
        }
        None => {
            started().0.push(operation);
            COUNT.fetch_add(1, Relaxed);
        }
    }
}

/// Goes on with all operations that are under way; how many came to their ends.
pub fn progress() -> c_int {
    if COUNT.load(Relaxed) == 0 {
        return 0;
    }
    // Whoever holds the lock makes progress for all; it may be this very thread, further up.
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

/// Locked for no longer than it takes to look at it.
fn started() -> MutexGuard<'static, UnderWay> {
    STARTED.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
