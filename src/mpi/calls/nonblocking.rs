//! Collectives that do not block: they are decided and prepared here, and `operation.rs` goes on with them.

use super::arguments::Arguments;
use super::communicator::Communicator;
use super::job::{Job, Jobs, Shifts};
use super::key::Key;
use super::operation::{Operation, Spare};
use super::planning::{Planned, Program, Refusal, Served};
use super::transfer::Transfer;
use crate::engine::Plan;
use crate::mpi::decision::schedules::Form;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::scratch;
use crate::mpi::messages::work::Work;
use crate::mpi::parameters::settings::Settings;
use crate::mpi::reporting::watch;
use crate::mpi::shim::bindings::*;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, MutexGuard, Weak};

impl Communicator {
    /// Prepares a collective that does not block. `None`: the component below serves it.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub unsafe fn prepare(
        &self,
        call: &rustcoll_call,
        is_persistent: bool,
        (tag, own_group_tag): (c_int, c_int),
        request: *mut c_void,
    ) -> Result<Option<Box<Operation>>, c_int> {
        let channel = self.channel(tag, own_group_tag);
        // SAFETY: by this function's contract.
        let spare = if is_persistent { None } else { unsafe { self.spare(call, channel, request) } };
        if spare.is_some() {
            return Ok(spare);
        }
        // SAFETY: by this function's contract.
        let (arguments, planned, spare) = match unsafe { self.decide_overlapping(call, is_persistent) } {
            Ok(decided) => decided,
            Err(Refusal::Error(error)) => return Err(error),
            Err(Refusal::Missing(_)) => return Ok(None),
        };
        let subject = self.subject(&arguments, &planned.decision);
        let program = match &planned.served {
            Served::Nothing => Program::Plan(Arc::new(Plan::default())),
            Served::Here(program) => program.clone(),
            Served::Calls(_) => return Err(RUSTCOLL_ERR_INTERN),
            Served::Below => {
                // It has a request of its own, of which nobody tells here.
                if watch::is_on() {
                    subject.tell(None);
                }
                return Ok(None);
            }
        };
        // SAFETY: by this function's contract.
        let (staged, mut arguments) = match unsafe { self.staged(call, &arguments) }? {
            Some((staged, _, arguments)) => (Some(staged), arguments),
            None => (None, arguments),
        };
        let limit = Settings::of(arguments.collective).values().scratch_limit();
        let mut work = Work::new();
        let wrapping = scratch::obtain(&mut work, &mut arguments, &program, &planned, limit, self.place())
            .map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let transfer = Transfer::new(&program, arguments, wrapping, channel, limit);
        let shifts = if is_persistent { None } else { Shifts::of(&transfer, call) };
        let operation = Operation { transfer, staged, work, request, subject, start: None, shifts, spare };
        Ok(Some(Box::new(operation)))
    }

    /// An operation that has carried out the same call before, ready for this one.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn spare(
        &self,
        call: &rustcoll_call,
        channel: Channel,
        request: *mut c_void,
    ) -> Option<Box<Operation>> {
        // SAFETY: by this function's contract, here and below.
        if watch::is_on() || unsafe { self.may_lie_on_a_device(call) } {
            return None;
        }
        let settings = &Settings::ALL[call.collective as usize];
        let mut overlapping = self.overlapping();
        // SAFETY: as above.
        let job = unsafe { overlapping[0].find(call, &settings.values()) }?;
        let operation = Operation::of_spare(&job.spare, call, channel, request)?;
        settings.note_ran(job.planned.decision.number);
        Some(operation)
    }

    fn overlapping(&self) -> MutexGuard<'_, [Jobs; 2]> {
        self.overlapping.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads the arguments of a call that does not block and decides who serves it. Remembers the call.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn decide_overlapping(
        &self,
        call: &rustcoll_call,
        is_persistent: bool,
    ) -> Result<(Arguments, Planned, Weak<Spare>), Refusal> {
        let below = if is_persistent { &self.below.persistent } else { &self.below.nonblocking };
        // SAFETY: by this function's contract.
        unsafe {
            let arguments = self.arguments(call)?;
            let values = Settings::of(arguments.collective).values();
            let form = Form { has_below: below[call.collective as usize] != 0, ..Form::NOT_BLOCKING };
            let mut overlapping = self.overlapping();
            let jobs = &mut overlapping[usize::from(is_persistent)];
            let planned = self.planned(jobs, call, &arguments, values, form)?;
            if let Some(job) = jobs.find(call, &values) {
                return Ok((arguments, planned, Arc::downgrade(&job.spare)));
            }
            let key = Key::new(call, values, self.blocks(arguments.collective));
            let job = jobs.insert(call, &values, Job::new(key, planned.clone()));
            Ok((arguments, planned, Arc::downgrade(&job.spare)))
        }
    }
}
