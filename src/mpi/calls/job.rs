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

/// The most calls of each collective that a communicator remembers. Programs repeat calls in turn that differ in
/// operators, datatypes or counts: CP2K repeats about ten allreduces and forty broadcasts.
const MOST_JOBS: usize = 64;

/// A communicator remembers this many calls of a collective, however much memory they take.
const FEW_JOBS: usize = 4;

/// The most weight of all remembered calls of a collective if they are more than [`FEW_JOBS`].
const MOST_WEIGHT: usize = 1024;

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
    /// Operations of the plan and elements of the key's arrays: most of the memory that the job keeps.
    weight: usize,
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

/// The last jobs of each collective, oldest first. Allocated with the first job: most communicators have no jobs of most
/// collectives, and one of each of the others.
#[derive(Default)]
pub struct Jobs(Option<Box<[Vec<Job>; Collective::ALL.len()]>>);

/// The remembered calls with requests of a communicator.
#[derive(Default)]
pub struct Overlapping {
    pub nonblocking: Jobs,
    /// The non-blocking calls as they go while the first of them send messages.
    pub spared: Jobs,
    pub persistent: Jobs,
}

impl Overlapping {
    pub fn jobs(&mut self, is_persistent: bool) -> &mut Jobs {
        if is_persistent { &mut self.persistent } else { &mut self.nonblocking }
    }

    /// Returns whether the choice for a call depends on shared memory, if the call is remembered.
    ///
    /// # Safety
    /// As for [`Jobs::find`].
    pub unsafe fn depends_on_memory(
        &mut self,
        call: &rustcoll_call,
        values: &Values,
        is_persistent: bool,
    ) -> Option<bool> {
        // SAFETY: by this function's contract, here and below.
        if let Some(job) = unsafe { self.jobs(is_persistent).find(call, values) } {
            return Some(job.planned.depends_on_memory);
        }
        // SAFETY: as above.
        let is_spared = !is_persistent && unsafe { self.spared.find(call, values) }.is_some();
        is_spared.then_some(true)
    }

    pub fn clear(&mut self) {
        *self = Overlapping::default();
    }
}

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

    /// Remembers a job. It replaces the job of the same call. If there are too many, the older half is forgotten.
    ///
    /// # Safety
    /// As for [`Jobs::find`].
    pub unsafe fn insert(&mut self, call: &rustcoll_call, values: &Values, job: Job) -> &mut Job {
        let jobs = &mut self.0.get_or_insert_default()[call.collective as usize];
        // SAFETY: by this function's contract.
        jobs.retain(|job| !unsafe { job.key.is_of(call, values) });
        let number = jobs.len() + 1;
        let weight = job.weight + jobs.iter().map(|job| job.weight).sum::<usize>();
        if number > MOST_JOBS || (number > FEW_JOBS && weight > MOST_WEIGHT) {
            jobs.drain(..number / 2);
        }
        jobs.reserve_exact(1);
        jobs.push(job);
        jobs.last_mut().expect("one was just added")
    }

    pub fn clear(&mut self) {
        self.0 = None;
    }
}

impl Job {
    /// Returns a job without a transfer.
    pub fn new(key: Key, planned: Planned) -> Job {
        let weight = planned.operations() + key.elements();
        Job { key, planned, transfer: None, shifts: None, spare: Arc::default(), subject: None, weight }
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::engine::{Operation, Plan};
    use crate::mpi::calls::planning::{CallPlan, Served};
    use crate::mpi::parameters::settings::Settings;
    use std::ops::Range;
    use std::ptr;

    /// Returns a broadcast without a buffer.
    pub fn call(count: usize) -> rustcoll_call {
        let nowhere = rustcoll_numbers { values: ptr::null(), are_wide: 0 };
        let side = rustcoll_side {
            buffer: ptr::null(),
            count,
            counts: nowhere,
            displacements: nowhere,
            datatype: ptr::null(),
            datatypes: rustcoll_handles { values: ptr::null(), are_ints: 0 },
        };
        let collective = Collective::Bcast as i32;
        rustcoll_call { collective, in_place: 0, root: 0, send: side, recv: side, operator_: ptr::null() }
    }

    /// Remembers calls with these counts, each by a plan of so many operations. Returns which of the counts are still known.
    fn known(counts: Range<usize>, operations: usize) -> Vec<usize> {
        let values = Settings::of(Collective::Bcast).values();
        let mut jobs = Jobs::default();
        for count in counts.clone() {
            let plan = Plan { operations: vec![Operation::AwaitSlots; operations], ..Plan::default() };
            let served = Served::Here(CallPlan::Plan(Arc::new(plan)));
            let planned = Planned { served, ..Planned::nothing() };
            let call = call(count);
            // SAFETY: pointers are NULL, so no buffer has blocks.
            unsafe {
                let key = Key::new(&call, values, (0, 0));
                jobs.insert(&call, &values, Job::new(key, planned));
            }
        }
        // SAFETY: as above.
        counts.filter(|&count| unsafe { jobs.find(&call(count), &values) }.is_some()).collect()
    }

    #[test]
    fn many_short_calls_are_remembered() {
        assert!(known(0..MOST_JOBS, 8).into_iter().eq(0..MOST_JOBS));
        assert!(known(0..MOST_JOBS + 1, 8).into_iter().eq(MOST_JOBS / 2..MOST_JOBS + 1));
    }

    #[test]
    fn few_long_calls_are_remembered() {
        assert_eq!(known(0..FEW_JOBS, MOST_WEIGHT), [0, 1, 2, 3]);
        assert_eq!(known(0..FEW_JOBS + 1, MOST_WEIGHT), [2, 3, 4]);
        assert_eq!(known(0..8, MOST_WEIGHT / 8).len(), 8);
    }
}
