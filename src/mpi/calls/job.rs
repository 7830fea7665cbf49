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
use std::sync::Arc;

/// A communicator remembers so many calls of each collective. Programs repeat a few in turn, which differ in operators,
/// datatypes or counts.
const MOST_JOBS: usize = 4;

/// A call that was served, and how.
pub struct Job {
    /// What tells it from others.
    pub key: Key,
    /// Who serves it.
    pub planned: Planned,
    /// How rustcoll carries it out, where rustcoll does and its memory is the communicator's.
    pub transfer: Option<Transfer>,
    shifts: Option<Shifts>,
    /// An operation of this call that has ended, for the next one.
    pub spare: Arc<Spare>,
    /// What is to be told of it, if anybody wanted to know when it was remembered.
    pub subject: Option<Arc<Subject>>,
}

/// How far the buffers of a transfer are from those of its call.
#[derive(Clone, Copy)]
pub struct Shifts {
    send: isize,
    recv: isize,
}

impl Shifts {
    /// `None` if copies take the places of buffers.
    pub fn of(transfer: &Transfer, call: &rustcoll_call) -> Option<Shifts> {
        let shift = |from: *const c_void, to: *mut u8| to.addr().wrapping_sub(from.addr()) as isize;
        let Arguments { send, recv, .. } = &transfer.arguments;
        let (send, recv) = (shift(call.send.buffer, send.base()), shift(call.recv.buffer, recv.base()));
        transfer.wrapping.is_none().then_some(Shifts { send, recv })
    }

    /// Turns a transfer to the buffers of a call that is the same.
    #[inline]
    pub fn turn(self, transfer: &mut Transfer, call: &rustcoll_call) {
        let moved = |buffer: *const c_void, shift| buffer.cast_mut().cast::<u8>().wrapping_offset(shift);
        transfer.arguments.send.move_to(moved(call.send.buffer, self.send));
        transfer.arguments.recv.move_to(moved(call.recv.buffer, self.recv));
    }
}

/// The last jobs of each collective. Most communicators have none of most kinds.
#[derive(Default)]
pub struct Jobs(Option<Box<[Vec<Job>; Collective::ALL.len()]>>);

impl Jobs {
    /// The job of a call that is the same.
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

    /// Remembers a job instead of the same call's, or if there are too many, instead of the oldest.
    ///
    /// # Safety
    /// As for [`Jobs::find`].
    pub unsafe fn insert(&mut self, call: &rustcoll_call, values: &Values, job: Job) -> &mut Job {
        let jobs = &mut self.0.get_or_insert_default()[call.collective as usize];
        // SAFETY: by this function's contract.
        jobs.retain(|job| !unsafe { job.key.is_of(call, values) });
        if jobs.len() == MOST_JOBS {
            jobs.remove(0);
        }
        jobs.push(job);
        jobs.last_mut().expect("one was just added")
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl Job {
    /// A call that is not carried out by messages in the communicator's memory.
    pub fn new(key: Key, planned: Planned) -> Job {
        Job { key, planned, transfer: None, shifts: None, spare: Arc::default(), subject: None }
    }

    /// A call with its transfer.
    pub fn with_transfer(key: Key, planned: Planned, transfer: Transfer, call: &rustcoll_call) -> Job {
        let shifts = Shifts::of(&transfer, call);
        Job { transfer: Some(transfer), shifts, ..Job::new(key, planned) }
    }

    /// The same, with what is to be told of it.
    pub fn told(self, subject: Option<Arc<Subject>>) -> Job {
        Job { subject, ..self }
    }

    /// Turns the transfer to the buffers of a call that is the same. Says whether there is one that can be.
    #[inline]
    pub fn turn_to(&mut self, call: &rustcoll_call) -> bool {
        let (Some(transfer), Some(shifts)) = (&mut self.transfer, self.shifts) else { return false };
        shifts.turn(transfer, call);
        true
    }
}
