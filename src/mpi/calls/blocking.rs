//! Blocking collectives. A repeated call is looked up once and begins. Other calls are decided and remembered.

use super::arguments::Arguments;
use super::communicator::Communicator;
use super::job::{Job, Jobs};
use super::key::Key;
use super::mock_up::MockUp;
use super::nonblocking::is_refused_by_all;
use super::planning::{Planned, Refusal, Served};
use super::transfer::Transfer;
use crate::algorithms::Collective;
use crate::mpi::decision::learnt;
use crate::mpi::decision::schedules::{self, Lasting, Missing};
use crate::mpi::messages::scratch;
use crate::mpi::messages::tags::tag;
use crate::mpi::messages::transport;
use crate::mpi::messages::work::Work;
use crate::mpi::parameters::settings::{self, Settings, Values};
use crate::mpi::reporting::sampler::{Sampler, Timing};
use crate::mpi::reporting::watch::{self, Subject};
use crate::mpi::shared_memory::geometry;
use crate::mpi::shared_memory::lane_memory::LaneMemory;
use crate::mpi::shared_memory::patience::Patience;
use crate::mpi::shim::bindings::*;
use crate::mpi::shim::panics::guarded;
use crate::report::Form;
use std::ffi::c_int;
use std::mem;
use std::sync::Arc;

/// The state that only the blocking collective of a communicator uses. At most one runs at a time.
pub struct Blocking {
    work: Work,
    /// The lane of this node's shared memory for blocking calls, from the first call that uses slots.
    lane_memory: Option<LaneMemory>,
    calls: KeptCalls,
    /// The calls set aside: the user's while an algorithm calls other collectives, otherwise an algorithm's.
    other_calls: KeptCalls,
    /// The error after which this rank and others may disagree about which messages are under way.
    broken_by: Option<transport::Error>,
    /// Whether this rank refused the last call for an argument that is equal on all ranks of a right program.
    has_refused: bool,
    /// Unfinished calls, `None` if not watched. There may be several: the component below may call others.
    under_way: Vec<Option<(Arc<Subject>, Timing)>>,
    /// Chooses the calls that are timed; made when the first call is watched.
    sampler: Option<Sampler>,
}

/// Remembered blocking calls: those that algorithms make, or all others.
#[derive(Default)]
struct KeptCalls {
    jobs: Jobs,
    /// Whether an algorithm that calls other collectives makes these calls. No such algorithm may serve them.
    are_inner: bool,
}

impl KeptCalls {
    /// Remembers how a call was served, if that may hold for the next same call.
    ///
    /// # Safety
    /// The call comes from the shim, on the communicator whose calls these are.
    unsafe fn keep(&mut self, call: &rustcoll_call, values: &Values, job: Job) {
        if job.planned.is_kept() {
            // SAFETY: by this function's contract.
            unsafe { self.jobs.insert(call, values, job) };
        }
    }
}

impl Blocking {
    pub fn new() -> Blocking {
        Blocking {
            work: Work::new(),
            lane_memory: None,
            calls: KeptCalls::default(),
            other_calls: KeptCalls { are_inner: true, ..KeptCalls::default() },
            broken_by: None,
            has_refused: false,
            under_way: Vec::new(),
            sampler: None,
        }
    }
}

impl Communicator {
    /// Runs a blocking collective. Returns an MPI error code, or [`RUSTCOLL_BELOW`].
    ///
    /// # Safety
    /// The call comes from the shim, and no other blocking collective runs on this communicator.
    #[inline]
    pub unsafe fn run(&self, call: &rustcoll_call) -> c_int {
        let values = Settings::ALL[call.collective as usize].values();
        // SAFETY: by this function's contract, here and below.
        let status = unsafe {
            match watch::is_on() {
                false => self.run_again::<false>(call, &values),
                true => self.run_again::<true>(call, &values),
            }
        };
        match status {
            Some(status) => status,
            // SAFETY: as above.
            None => unsafe { self.run_anew(call, values) },
        }
    }

    /// Like `run`, for a call that repeats a remembered one. `None`: `run_anew` must run it, because it is no
    /// repetition, its job was remembered unwatched and is watched now, or its buffers may lie on a device.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    #[inline(always)]
    unsafe fn run_again<const IS_WATCHED: bool>(
        &self,
        call: &rustcoll_call,
        values: &Values,
    ) -> Option<c_int> {
        let settings = &Settings::ALL[call.collective as usize];
        // SAFETY: by this function's contract nobody else uses the blocking state, here and below.
        unsafe {
            let Blocking { work, lane_memory, calls, under_way, sampler, .. } = &mut *self.blocking.get();
            if self.may_lie_on_a_device(call) {
                return None;
            }
            let job = calls.jobs.find(call, values)?;
            if IS_WATCHED && !watch::knows(&job.subject) {
                return None;
            }
            let timed = |job: &Job, sampler: &mut Option<Sampler>| {
                let subject = job.subject.as_ref().filter(|_| IS_WATCHED)?;
                Some((Arc::clone(subject), self.timing(sampler, calls.are_inner, subject, None, call)))
            };
            match job.planned.served {
                Served::Here(_) => {
                    if !job.turn_to(call) || !job.planned.count_repetition() {
                        return None;
                    }
                    settings.note_ran(job.planned.decision.number);
                    let timed = timed(job, sampler);
                    let status = self.carry_out(job, work, lane_memory);
                    if let (Some((subject, timing)), Some(sampler)) = (timed, sampler) {
                        sampler.end(&subject, timing);
                    }
                    Some(self.settle(call, status))
                }
                Served::Below => {
                    if !job.planned.count_repetition() {
                        return None;
                    }
                    settings.note_ran(settings::BELOW);
                    under_way.push(timed(job, sampler));
                    Some(RUSTCOLL_BELOW)
                }
                Served::Nothing if !IS_WATCHED => Some(RUSTCOLL_SUCCESS),
                Served::Nothing | Served::Calls(_) => None,
            }
        }
    }

    /// Returns what to measure of a call, which began at `start` or begins now.
    fn timing(
        &self,
        sampler: &mut Option<Sampler>,
        is_inner: bool,
        subject: &Subject,
        start: Option<u64>,
        call: &rustcoll_call,
    ) -> Timing {
        let sampler = sampler.get_or_insert_with(|| Sampler::new(self.handle, self.group));
        if is_inner {
            return Timing::since(start.unwrap_or_else(watch::now));
        }
        let is_rooted = Collective::ALL[call.collective as usize].is_rooted();
        sampler.next(subject, start, is_rooted && call.root as usize == self.group.rank)
    }

    /// Decides and runs a call that `run_again` did not run.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    #[cold]
    unsafe fn run_anew(&self, call: &rustcoll_call, values: Values) -> c_int {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { broken_by, has_refused, .. } = unsafe { &mut *self.blocking.get() };
        if let Some(error) = *broken_by {
            return error;
        }
        let agreed = if mem::take(has_refused) { self.await_refusals() } else { Ok(()) };
        let collective = Collective::ALL[call.collective as usize];
        if let Err(error) = agreed.and_then(|()| self.learn_of_neighbours(collective, values, true)) {
            // SAFETY: by this function's contract.
            return unsafe { self.break_off(call, error) };
        }
        // SAFETY: by this function's contract.
        unsafe {
            let decide = || guarded(Err(Refusal::Error(RUSTCOLL_ERR_INTERN)), || self.decide(call, values));
            let mut decided = decide();
            // The ranks may have to exchange nodes, shared memory, and times of tried calls, in this order.
            for _ in 0..3 {
                let Err(Refusal::Missing(missing)) = decided else { break };
                if let Err(error) = self.exchange(missing) {
                    return self.break_off(call, error);
                }
                decided = decide();
            }
            match decided {
                Ok((arguments, planned, start)) => {
                    self.serve_anywhere(call, values, arguments, planned, start)
                }
                Err(Refusal::Error(error)) if is_refused_by_all(error) => error,
                Err(Refusal::Argument(error)) => {
                    self.refuse();
                    error
                }
                // The other ranks may wait for this rank's slots, and a later call must not be taken for this one.
                Err(refusal) => self.break_off(call, refusal.error()),
            }
        }
    }

    /// Reads a call's arguments and decides who serves it. Also returns when that began, if calls are watched.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    unsafe fn decide(
        &self,
        call: &rustcoll_call,
        values: Values,
    ) -> Result<(Arguments, Planned, Option<u64>), Refusal> {
        let start = self.is_watched().then(watch::now);
        // SAFETY: by this function's contract.
        unsafe {
            let Blocking { calls: KeptCalls { jobs, are_inner }, .. } = &mut *self.blocking.get();
            let arguments = self.arguments(call)?;
            let has_below = self.below.blocking[call.collective as usize] != 0;
            let form = schedules::Form {
                has_below,
                is_blocking: true,
                uses_map: true,
                all_come: self.all_come(arguments.collective, values, true),
                may_share: true,
                calls_others: !*are_inner,
            };
            let planned = self.planned(jobs, call, &arguments, values, form)?;
            Ok((arguments, planned, start))
        }
    }

    /// Takes part in what all ranks must do before they can decide.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    unsafe fn exchange(&self, missing: Missing) -> Result<(), transport::Error> {
        match missing {
            Missing::Nodes => {
                let nodes = self.exchanged_nodes(&self.teller(tag(Collective::Allgather)));
                let learnt = nodes.as_ref().map(drop).map_err(|&error| error);
                self.planning().note_nodes(nodes);
                // Known nodes may change decisions, and ranks remember different calls, so they forget all.
                self.forget_overlapping();
                // SAFETY: by this function's contract nobody else uses it.
                let Blocking { calls, other_calls, .. } = unsafe { &mut *self.blocking.get() };
                calls.jobs.clear();
                other_calls.jobs.clear();
                learnt
            }
            Missing::SharedMemory => {
                let mut found = Ok(false);
                Patience::with(self.handle).wait_for_messages(|| {
                    found = self.find_memory();
                    found != Ok(false)
                })?;
                found.map(drop)
            }
            Missing::Times(kind) => {
                let times = self.planning().online().times(&kind);
                let times = self.teller(tag(Collective::Allreduce)).combined_times(times, kind.collective)?;
                if let Some(settled) = self.planning().online().go_on(&kind, &times) {
                    learnt::note(&kind, &settled, self.name);
                }
                Ok(())
            }
        }
    }

    /// Like `serve`, on host copies of buffers that lie on a device. The component below knows devices itself.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    unsafe fn serve_anywhere(
        &self,
        call: &rustcoll_call,
        values: Values,
        arguments: Arguments,
        planned: Planned,
        start: Option<u64>,
    ) -> c_int {
        // SAFETY: by this function's contract, here and below; the copies are as long as the buffers that they stand for.
        unsafe {
            let is_here = matches!(planned.served, Served::Here(_) | Served::Calls(_));
            let staged = if is_here { self.staged(call, &arguments) } else { Ok(None) };
            let (mut staged, copied, arguments) = match staged {
                Ok(Some(staged)) => staged,
                Ok(None) => return self.serve(call, values, arguments, planned, start),
                Err(error) => return self.break_off(call, error),
            };
            if let Err(error) = staged.begin() {
                return self.break_off(call, error);
            }
            let ended = transport::check(self.serve(&copied, values, arguments, planned, start));
            self.settle(call, transport::status(staged.end(ended)))
        }
    }

    /// Serves a call as decided and remembers it. Returns an MPI error code, or [`RUSTCOLL_BELOW`].
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    unsafe fn serve(
        &self,
        call: &rustcoll_call,
        values: Values,
        mut arguments: Arguments,
        planned: Planned,
        start: Option<u64>,
    ) -> c_int {
        let collective = arguments.collective;
        // SAFETY: by this function's contract.
        unsafe {
            let Blocking { work, lane_memory, calls, under_way, sampler, .. } = &mut *self.blocking.get();
            let is_inner = calls.are_inner;
            let form = if is_inner { Form::Inner } else { Form::Blocking };
            let subject = start.map(|_| self.subject(&arguments, &planned.decision, form));
            let begun = subject.clone().map(|subject| {
                let timing = self.timing(sampler, is_inner, &subject, start, call);
                (subject, timing)
            });
            let key = Key::new(call, values, self.blocks(collective));
            // Seldom is more than one call under way.
            under_way.reserve_exact(1);
            let status = match planned.served.clone() {
                Served::Nothing => {
                    under_way.push(begun);
                    calls.keep(call, &values, Job::new(key, planned).told(subject));
                    RUSTCOLL_SUCCESS
                }
                Served::Below => {
                    under_way.push(begun);
                    calls.keep(call, &values, Job::new(key, planned).told(subject));
                    return RUSTCOLL_BELOW;
                }
                Served::Calls(deeds) => {
                    let Ok(mock_up) = MockUp::new(arguments, deeds, planned.decision.number) else {
                        return self.break_off(call, RUSTCOLL_ERR_NO_MEM);
                    };
                    under_way.push(begun);
                    calls.keep(call, &values, Job::new(key, planned).told(subject));
                    let status = self.call_others(mock_up);
                    self.settle(call, status)
                }
                Served::Here(program) => {
                    let limit = values.scratch_limit();
                    let Ok(wrapping) =
                        scratch::obtain(work, &mut arguments, &program, &planned, limit, self.name)
                    else {
                        work.give_back(settings::scratch_kept());
                        return self.break_off(call, RUSTCOLL_ERR_NO_MEM);
                    };
                    let channel = self.channel_of(collective);
                    let transfer = Transfer::new(&program, arguments, wrapping, channel, limit, false);
                    under_way.push(begun);
                    if lane_memory.is_none() && planned.takes_slots() {
                        *lane_memory = self.lanes.lane_memory(geometry::BLOCKING);
                    }
                    let mut job = Job::with_transfer(key, planned, transfer, call).told(subject);
                    let status = self.carry_out_timed(&mut job, work, lane_memory);
                    calls.keep(call, &values, job);
                    self.settle(call, status)
                }
            };
            guarded((), || self.note_ended());
            status
        }
    }

    /// Carries out a job's transfer. Returns an MPI error code.
    #[inline]
    fn carry_out(&self, job: &mut Job, work: &mut Work, lane_memory: &mut Option<LaneMemory>) -> c_int {
        let Some(transfer) = &mut job.transfer else { return RUSTCOLL_ERR_INTERN };
        let ended = transfer.begin(work).and_then(|()| transfer.finish(work, lane_memory.as_mut()));
        if ended == Err(RUSTCOLL_ERR_NO_MEM) {
            self.report_shortage(job, work);
        }
        work.give_back(settings::scratch_kept());
        transport::status(ended)
    }

    /// Like `carry_out`, but also notes the time if the call tries an algorithm.
    fn carry_out_timed(&self, job: &mut Job, work: &mut Work, lane_memory: &mut Option<LaneMemory>) -> c_int {
        let Lasting::Tried(kind) = job.planned.lasting else { return self.carry_out(job, work, lane_memory) };
        let start = watch::now();
        let status = self.carry_out(job, work, lane_memory);
        self.planning().online().note(&kind, watch::now() - start);
        status
    }

    /// Returns the status of a call that was carried out. An error not of its data breaks off (see `break_off`).
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    #[inline]
    unsafe fn settle(&self, call: &rustcoll_call, status: c_int) -> c_int {
        match status {
            RUSTCOLL_SUCCESS => status,
            error if transport::is_of_data(error) => error,
            // SAFETY: by this function's contract.
            error => unsafe { self.break_off(call, error) },
        }
    }

    /// Notes that this rank refuses a call, as all ranks of a right program do. In an erroneous one, other ranks may carry
    /// it out, and their messages would meet the next call. So that begins when all ranks have refused this one.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    #[cold]
    unsafe fn refuse(&self) {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { calls, other_calls, has_refused, .. } = unsafe { &mut *self.blocking.get() };
        // So the next call goes to `run_anew`.
        calls.jobs.clear();
        other_calls.jobs.clear();
        *has_refused = true;
    }

    /// Notes that this rank failed in a call that other ranks may have carried out. Their messages would meet the next
    /// call, so this rank refuses all later ones. Returns `error`, or MPI's own error if MPI reports a failure.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    #[cold]
    unsafe fn break_off(&self, call: &rustcoll_call, error: transport::Error) -> transport::Error {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { calls, other_calls, broken_by, .. } = unsafe { &mut *self.blocking.get() };
        // So every later call goes to `run_anew`, where it fails.
        calls.jobs.clear();
        other_calls.jobs.clear();
        // SAFETY: the handle is this communicator's.
        let failure = unsafe { rustcoll_shim_failure(self.handle) };
        if failure != RUSTCOLL_SUCCESS {
            // MPI's error replaces the transfer's, because users who go on after failures expect MPI's.
            return *broken_by.insert(failure);
        }
        if broken_by.replace(error).is_none() {
            log::error!(
                "{}: {} failed at this rank, but other ranks may have gone on; every later blocking collective on this communicator returns \
                 the same error here",
                self.name,
                Collective::ALL[call.collective as usize].name(),
            );
        }
        error
    }

    #[cold]
    fn report_shortage(&self, job: &Job, work: &Work) {
        let Job { planned, transfer, .. } = job;
        if let (Some(transfer), Served::Here(program)) = (transfer, &planned.served) {
            scratch::report_shortage(work, &transfer.arguments, program, planned, self.name);
        }
    }

    /// Carries out an algorithm that calls other collectives. Returns an MPI error code. The inner calls come back to
    /// this communicator, so nothing of [`Blocking`] may be borrowed meanwhile.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    unsafe fn call_others(&self, mock_up: MockUp) -> c_int {
        let turn = || {
            // SAFETY: by this function's contract nobody else uses it.
            let Blocking { calls, other_calls, .. } = unsafe { &mut *self.blocking.get() };
            mem::swap(calls, other_calls);
        };
        turn();
        // SAFETY: by this function's contract the arguments are those of a call on this communicator.
        let ended = unsafe { mock_up.run(self.handle) };
        turn();
        transport::status(ended)
    }

    /// Notes that a call has ended: the one that began last, of those that have not ended yet.
    ///
    /// # Safety
    /// As for [`Communicator::run`].
    pub unsafe fn note_ended(&self) {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { under_way, sampler, .. } = unsafe { &mut *self.blocking.get() };
        if let (Some(Some((subject, timing))), Some(sampler)) = (under_way.pop(), sampler) {
            sampler.end(&subject, timing);
        }
    }
}
