//! The calls that a communicator remembers: who serves each, and all that a repeated call needs to begin at once.

use super::arguments::Arguments;
use super::key::Key;
use super::operation::Spare;
use super::planning::Planned;
use super::transfer::Transfer;
use crate::algorithms::Collective;
use crate::mpi::parameters::settings::Values;
use crate::mpi::reporting::watch::Subject;
use crate::mpi::shim::bindings::*;
use std::ffi::c_void;
use std::mem;
use std::sync::Arc;

/// The most calls of each collective that a communicator remembers. Programs repeat a few calls in turn that differ in
/// operators, datatypes or counts.
const MOST_JOBS: usize = 4;

/// A remembered call, and how it is served.
pub struct Job {
    pub key: Key,
    pub planned: Planned,
    /// What carries the call out; `None` unless rustcoll does so in the communicator's memory.
    pub transfer: Option<Transfer>,
    shifts: Option<Shifts>,
    /// A freed operation of this call, for the next same call.
    pub spare: Arc<Spare>,
    /// What to record of the call; `None` if no call was watched when it was remembered.
    pub subject: Option<Arc<Subject>>,
}

/// Bytes from the buffers of a call to those of its transfer.
#[derive(Clone, Copy)]
pub struct Shifts {
    send: isize,
    recv: isize,
}

impl Shifts {
    /// Returns `None` if copies replace the caller's buffers.
    pub fn of(transfer: &Transfer, call: &rustcoll_call) -> Option<Shifts> {
        let shift = |from: *const c_void, to: *mut u8| to.addr().wrapping_sub(from.addr()) as isize;
        let Arguments { send, recv, .. } = &transfer.arguments;
        let (send, recv) = (shift(call.send.buffer, send.base()), shift(call.recv.buffer, recv.base()));
        transfer.wrapping.is_none().then_some(Shifts { send, recv })
    }

    /// Moves a transfer to the buffers of another same call.
    #[inline]
    pub fn turn(self, transfer: &mut Transfer, call: &rustcoll_call) {
        let moved = |buffer: *const c_void, shift| buffer.cast_mut().cast::<u8>().wrapping_offset(shift);
        transfer.arguments.send.move_to(moved(call.send.buffer, self.send));
        transfer.arguments.recv.move_to(moved(call.recv.buffer, self.recv));
    }
}

/// The last jobs of each collective, allocated with the first job. Most communicators have no jobs of most collectives, and
/// one of each of the others.
#[derive(Default)]
pub struct Jobs(Option<Box<[Box<[Job]>; Collective::ALL.len()]>>);

impl Jobs {
    /// Returns the job of the same call; `key.rs` defines which calls are the same.
    ///
    /// # Safety
    /// The call comes from the shim, on the communicator whose calls these are.
    #[inline(always)]
    // The iterator's `find` is not inlined, and every short call comes here.
    #[expect(clippy::manual_find)]
    pub unsafe fn find(&mut self, call: &rustcoll_call, values: &Values) -> Option<&mut Job> {
        let jobs = &mut self.0.as_mut()?[call.collective as usize];
        for job in jobs {
            // SAFETY: by this function's contract; on one communicator all calls of a collective have as many blocks.
            if unsafe { job.key.is_of(call, values) } {
                return Some(job);
            }
        }
        None
    }

    /// Remembers a job. It replaces the job of the same call, or the oldest one if there are too many.
    ///
    /// # Safety
    /// As for [`Jobs::find`].
    pub unsafe fn insert(&mut self, call: &rustcoll_call, values: &Values, job: Job) -> &mut Job {
        let kept = &mut self.0.get_or_insert_default()[call.collective as usize];
        let mut jobs = mem::take(kept).into_vec();
        // SAFETY: by this function's contract.
        jobs.retain(|job| !unsafe { job.key.is_of(call, values) });
        if jobs.len() == MOST_JOBS {
            jobs.remove(0);
        }
        jobs.reserve_exact(1);
        jobs.push(job);
        *kept = jobs.into_boxed_slice();
        kept.last_mut().expect("one was just added")
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl Job {
    /// Returns a job without a transfer.
    pub fn new(key: Key, planned: Planned) -> Job {
        Job { key, planned, transfer: None, shifts: None, spare: Arc::default(), subject: None }
    }

    pub fn with_transfer(key: Key, planned: Planned, transfer: Transfer, call: &rustcoll_call) -> Job {
        let shifts = Shifts::of(&transfer, call);
        Job { transfer: Some(transfer), shifts, ..Job::new(key, planned) }
    }

    /// Returns the job with what to record of its calls.
    pub fn told(self, subject: Option<Arc<Subject>>) -> Job {
        Job { subject, ..self }
    }

    /// Moves the transfer to the buffers of another same call. Returns whether it has one that can be moved.
    #[inline]
    pub fn turn_to(&mut self, call: &rustcoll_call) -> bool {
        let (Some(transfer), Some(shifts)) = (&mut self.transfer, self.shifts) else { return false };
        shifts.turn(transfer, call);
        true
    }
}
