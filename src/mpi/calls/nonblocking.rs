//! Decides and prepares non-blocking and persistent collectives; `operation.rs` carries them out.

use super::arguments::Arguments;
use super::communicator::Communicator;
use super::job::{Job, Jobs, Overlapping, Shifts};
use super::key::Key;
use super::operation::{Course, Operation, Spare};
use super::planning::{CallPlan, Planned, Refusal, Served};
use super::precedents::{self, Place};
use super::staged::Staged;
use super::transfer::Transfer;
use crate::algorithms::{Collective, Graph};
use crate::engine::Plan;
use crate::mpi::decision::decided::Decision;
use crate::mpi::decision::schedules::Form;
use crate::mpi::messages::channel::Channel;
use crate::mpi::messages::scratch;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::Work;
use crate::mpi::parameters::settings::{Settings, Values};
use crate::mpi::reporting::watch::Subject;
use crate::mpi::shared_memory::lanes::{Standing, Turn};
use crate::mpi::shim::bindings::*;
use crate::report;
use std::ffi::{c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::{Arc, MutexGuard, Weak};

/// A call whose algorithm depends on shared memory, at a rank that does not know yet whether there is any.
pub struct Undecided {
    /// Lives as long as the call's request.
    communicator: *const Communicator,
    arguments: Arguments,
    values: Values,
    form: Form,
    /// The neighbours, as far as all ranks knew them when the call began.
    graph: Graph,
    is_persistent: bool,
}

/// When Open MPI duplicates a communicator, it agrees on a number by these collectives of so many bytes at most (a few integers;
/// comm_cid.c, from 4.1 to 6.0). It makes these calls whenever it gets to it.
const OF_MPI: [Collective; 3] = [Collective::Allreduce, Collective::Reduce, Collective::Bcast];
const LONGEST_OF_MPI: usize = 64;

/// What is known of a call before it begins.
struct Prospect {
    what: What,
    /// Its turn in shared memory, if it uses or may use any.
    turn: Option<Turn>,
    spare: Weak<Spare>,
}

enum What {
    Planned(Arguments, Planned),
    Undecided(Undecided),
}

/// Whether all ranks refuse a call with this error before it begins: they know the memory limit alike.
pub fn is_refused_by_all(error: Error) -> bool {
    error == RUSTCOLL_ERR_NO_MEM
}

/// The parts of an operation, as far as they are known before the call begins.
struct Ready {
    course: Course,
    staged: Option<Staged>,
    work: Work,
    subject: Option<Arc<Subject>>,
    shifts: Option<Shifts>,
}

impl What {
    fn arguments(&mut self) -> &mut Arguments {
        match self {
            What::Planned(arguments, _) | What::Undecided(Undecided { arguments, .. }) => arguments,
        }
    }
}

impl Undecided {
    fn communicator(&self) -> &Communicator {
        // SAFETY: the communicator lives as long as the request of the call.
        unsafe { &*self.communicator }
    }

    /// Advances the allocation of shared memory without waiting. Returns whether this rank knows the result.
    pub fn find_memory(&self) -> Result<bool, Error> {
        self.communicator().find_memory()
    }

    /// Chooses an algorithm without shared memory. All ranks do so for this call.
    pub fn do_without_memory(&mut self) {
        self.form = Form { may_share: false, has_below: false, ..self.form };
    }

    /// Chooses the algorithm. This rank must know whether there is memory.
    pub fn decide(&self) -> Result<Planned, Error> {
        let communicator = self.communicator();
        let planned =
            communicator.planning().plan(&self.arguments, self.values, self.form, self.graph.clone());
        let planned = planned.map_err(Refusal::error)?;
        planned.tell(communicator.name, &self.arguments);
        Ok(planned)
    }

    /// Returns what carries the call out as decided, and what to record of it. Takes the arguments.
    pub fn transfer(
        &mut self,
        planned: &Planned,
        channel: Channel,
        work: &mut Work,
    ) -> Result<(Transfer, Option<Arc<Subject>>), Error> {
        let arguments = mem::replace(&mut self.arguments, Arguments::allgather(ptr::null_mut(), 0));
        let communicator = self.communicator();
        let subject = communicator.overlapping_subject(&arguments, &planned.decision, self.is_persistent);
        Ok((communicator.transfer(planned, arguments, channel, work, self.is_persistent)?, subject))
    }
}

impl Communicator {
    /// Prepares a non-blocking or persistent collective. Returns `None` if the component below serves it.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator, which lives as long as the request.
    pub unsafe fn prepare(
        &self,
        call: &rustcoll_call,
        is_persistent: bool,
        (tag, own_group_tag): (c_int, c_int),
        request: *mut c_void,
    ) -> Result<Option<Box<Operation>>, Error> {
        let channel = self.channel(tag, own_group_tag);
        // SAFETY: by this function's contract.
        let spare = if is_persistent { None } else { unsafe { self.spare(call, channel, request) } };
        if spare.is_some() {
            return Ok(spare);
        }
        let collective = Collective::ALL[call.collective as usize];
        if is_persistent {
            // MPI lets the initialization of a persistent collective wait for other ranks, but no non-blocking call.
            let values = Settings::of(collective).values();
            let learnt =
                self.agree_on_lanes().and_then(|()| self.learn_of_neighbours(collective, values, false));
            learnt.inspect_err(|&error| self.lanes.miss(is_persistent, error))?;
        } else {
            self.look_at_grid(collective);
        }
        // SAFETY: by this function's contract.
        let decided = unsafe { self.decide_overlapping(call, is_persistent) };
        let Prospect { what, mut turn, spare } =
            decided.inspect_err(|&error| self.note_refused(is_persistent, error))?;
        if let (Some(turn), false) = (&mut turn, is_persistent) {
            // Asks before anything else can fail, because the other ranks count on this turn.
            turn.ask();
        }
        // SAFETY: by this function's contract.
        let ready = unsafe { self.ready(call, is_persistent, channel, what) };
        let ready = ready.inspect_err(|&error| turn.iter_mut().for_each(|turn| turn.break_off(error)))?;
        Ok(ready.map(|Ready { course, staged, work, subject, shifts }| {
            let start = None;
            Box::new(Operation {
                course,
                channel,
                turn,
                lanes: Arc::clone(&self.lanes),
                staged,
                work,
                request,
                subject,
                start,
                shifts,
                spare,
                kept: 0,
            })
        }))
    }

    /// Counts a persistent collective that is to be prepared. If ranks on several nodes may have assigned all lanes, they agree on those
    /// that are left; also ranks take part that cannot prepare the collective.
    fn agree_on_lanes(&self) -> Result<(), Error> {
        if !self.lanes.count_preparation() || !self.planning().are_nodes_told() {
            return Ok(());
        }
        self.lanes.agree(|numbers| self.persistent_teller().greatest(numbers))
    }

    /// Notes that the shim had no memory to prepare a collective. Later ones of its kind fail at this rank.
    pub fn miss(&self, is_persistent: bool) {
        if is_persistent {
            // The collective fails here in any case.
            let _ = self.agree_on_lanes();
        }
        self.lanes.miss(is_persistent, RUSTCOLL_ERR_NO_MEM);
    }

    fn note_refused(&self, is_persistent: bool, error: Error) {
        if !is_refused_by_all(error) {
            self.lanes.miss(is_persistent, error);
        }
    }

    /// Obtains all that a call needs, as far as it is known. Returns `None` if the component below serves the call.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn ready(
        &self,
        call: &rustcoll_call,
        is_persistent: bool,
        channel: Channel,
        mut what: What,
    ) -> Result<Option<Ready>, Error> {
        if let What::Planned(arguments, Planned { served: Served::Below, decision, .. }) = &what {
            // The component below has a request of its own, so rustcoll does not learn how long the call takes.
            if self.is_watched() {
                self.overlapping_subject(arguments, decision, is_persistent)
                    .iter()
                    .for_each(|subject| subject.tell(None));
            }
            return Ok(None);
        }
        // SAFETY: by this function's contract.
        let staged = unsafe { self.staged(call, what.arguments()) }?;
        let staged = staged.map(|(staged, _, copied)| {
            *what.arguments() = copied;
            staged
        });
        let mut work = Work::new();
        let (arguments, planned) = match what {
            What::Planned(arguments, planned) => (arguments, planned),
            What::Undecided(undecided) => {
                let course = Course::Undecided(undecided);
                return Ok(Some(Ready { course, staged, work, subject: None, shifts: None }));
            }
        };
        let subject = self.overlapping_subject(&arguments, &planned.decision, is_persistent);
        let transfer = self.transfer(&planned, arguments, channel, &mut work, is_persistent)?;
        let shifts = if is_persistent { None } else { Shifts::of(&transfer, call) };
        let course = Course::Decided(transfer);
        Ok(Some(Ready { course, staged, work, subject, shifts }))
    }

    /// Returns what to record of a call. A persistent call has it always: it may be watched when it is started.
    fn overlapping_subject(
        &self,
        arguments: &Arguments,
        decision: &Decision,
        is_persistent: bool,
    ) -> Option<Arc<Subject>> {
        let form = if is_persistent { report::Form::Persistent } else { report::Form::NonBlocking };
        (is_persistent || self.is_watched()).then(|| self.subject(arguments, decision, form))
    }

    /// Returns an operation that has carried out the same call before, ready for this call.
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
        if unsafe { self.may_lie_on_a_device(call) } {
            return None;
        }
        let settings = &Settings::ALL[call.collective as usize];
        let mut overlapping = self.overlapping();
        let Overlapping { nonblocking, spared, .. } = &mut *overlapping;
        let values = settings.values();
        // SAFETY: as above.
        let job = unsafe { nonblocking.find(call, &values).or_else(|| spared.find(call, &values)) }?;
        let operation = Operation::of_spare(&job.spare, call, channel, request)?;
        // Counts the call, so nothing may turn to another decision afterwards.
        if !job.planned.count_repetition() {
            return None;
        }
        settings.note_ran(job.planned.decision.number);
        Some(operation)
    }

    pub(super) fn overlapping(&self) -> MutexGuard<'_, Overlapping> {
        self.overlapping.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// Reads a call's arguments, decides who serves it if this rank can know yet, and remembers that.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn decide_overlapping(
        &self,
        call: &rustcoll_call,
        is_persistent: bool,
    ) -> Result<Prospect, Error> {
        // SAFETY: by this function's contract, here and below.
        let arguments = unsafe { self.arguments(call) }.map_err(Refusal::error)?;
        let form = self.overlapping_form(&arguments, is_persistent);
        if form.uses_map {
            self.planning().check_map()?;
        }
        let values = Settings::of(arguments.collective).values();
        let mut overlapping = self.overlapping();
        // SAFETY: as above.
        let remembered = unsafe { overlapping.depends_on_memory(call, &values, is_persistent) };
        let is_new = remembered.is_none() && !arguments.is_empty();
        let place = match is_new && !is_persistent {
            true => self.place(arguments.collective, values, form, &self.lanes.spared),
            false => None,
        };
        // SAFETY: as above.
        if let Some(planned) = unsafe { precedents::find(place.as_ref(), call, &values) }
            .and_then(|planned| planned.following(Arc::clone(&self.lanes.spared)))
        {
            planned.tell(self.name, &arguments);
            let Overlapping { nonblocking, spared, .. } = &mut *overlapping;
            let jobs = if planned.is_spared() { spared } else { nonblocking };
            // SAFETY: as above.
            let spare = unsafe { self.remember(jobs, call, values, &planned) };
            return Ok(Prospect { what: What::Planned(arguments, planned), turn: None, spare });
        }
        let depends_on_memory = match remembered {
            None if is_new => {
                let graph = self.graph(arguments.collective, form).map_err(Refusal::error)?;
                self.planning().depends_on_memory(&arguments, values, form, &graph)
            }
            remembered => remembered == Some(true),
        };
        if depends_on_memory && !is_persistent {
            let spared = &mut overlapping.spared;
            // SAFETY: as above.
            let planned = unsafe { self.planned_if_spared(spared, call, &arguments, values, form, place) }?;
            if let Some(planned) = planned {
                // SAFETY: as above.
                let spare = unsafe { self.remember(spared, call, values, &planned) };
                return Ok(Prospect { what: What::Planned(arguments, planned), turn: None, spare });
            }
            if self.lanes.spared.is_over() {
                spared.clear();
            }
        }
        let mut turn = None;
        if depends_on_memory {
            let is_on_several_nodes = self.planning().number_of_nodes() > Some(1);
            turn = Some(self.lanes.of_next(is_persistent, is_on_several_nodes)?);
        }
        let jobs = overlapping.jobs(is_persistent);
        // SAFETY: as above.
        let planned = unsafe { self.planned_at_turn(jobs, call, &arguments, values, form, turn.as_mut()) }?;
        let Some(planned) = planned else {
            let communicator = ptr::from_ref(self);
            let graph = self.graph(arguments.collective, form).map_err(Refusal::error)?;
            let undecided = Undecided { communicator, arguments, values, form, graph, is_persistent };
            return Ok(Prospect { what: What::Undecided(undecided), turn, spare: Weak::new() });
        };
        let turn = turn.filter(|_| planned.takes_slots());
        // SAFETY: as above.
        let spare = unsafe {
            self.set_precedent(place, call, values, &planned);
            self.remember(jobs, call, values, &planned)
        };
        Ok(Prospect { what: What::Planned(arguments, planned), turn, spare })
    }

    /// Decides who serves a call, as remembered or anew. `None`: this rank cannot know yet. `turn`: the call's turn in shared memory, if its
    /// choice depends on that.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn planned_at_turn(
        &self,
        jobs: &mut Jobs,
        call: &rustcoll_call,
        arguments: &Arguments,
        values: Values,
        form: Form,
        turn: Option<&mut Turn>,
    ) -> Result<Option<Planned>, Error> {
        let depends_on_memory = turn.is_some();
        let standing = turn.map_or(Standing::Has, Turn::standing);
        if !matches!(standing, Standing::Has | Standing::NoMemory) {
            return Ok(None);
        }
        // SAFETY: by this function's contract.
        match unsafe { self.planned(jobs, call, arguments, values, form) } {
            Ok(planned) => Ok(Some(planned)),
            Err(Refusal::Missing(_)) => Ok(None),
            // Ranks that do not know yet whether there is memory fail once the call has begun. So do all.
            Err(Refusal::Error(error)) if depends_on_memory && is_refused_by_all(error) => Ok(None),
            Err(Refusal::Argument(error) | Refusal::Error(error)) => Err(error),
        }
    }

    fn overlapping_form(&self, arguments: &Arguments, is_persistent: bool) -> Form {
        let below = if is_persistent { &self.below.persistent } else { &self.below.nonblocking };
        let may_be_mpis_own = OF_MPI.contains(&arguments.collective) && arguments.bytes() <= LONGEST_OF_MPI;
        Form {
            has_below: below[arguments.collective as usize] != 0,
            is_blocking: false,
            uses_map: is_persistent || !may_be_mpis_own,
            all_come: true,
            may_share: true,
            calls_others: false,
        }
    }

    /// Decides who serves a non-blocking call whose choice depends on shared memory, as remembered or anew, if it is
    /// one of the communicator's first calls, which send messages.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn planned_if_spared(
        &self,
        jobs: &mut Jobs,
        call: &rustcoll_call,
        arguments: &Arguments,
        values: Values,
        form: Form,
        place: Option<Place>,
    ) -> Result<Option<Planned>, Error> {
        // SAFETY: by this function's contract.
        if let Some(job) = unsafe { jobs.find(call, &values) } {
            let planned = job.planned.count_repetition().then(|| job.planned.clone());
            planned.iter().for_each(|planned| planned.tell(self.name, arguments));
            return Ok(planned);
        }
        let spared = &self.lanes.spared;
        if spared.is_over() {
            return Ok(None);
        }
        let graph = self.graph(arguments.collective, form).map_err(Refusal::error)?;
        let weight = self.planning().weight(arguments, values, form, &graph);
        let Some(weight) = weight.filter(|&weight| spared.count(weight)) else { return Ok(None) };
        let form = Form { may_share: false, ..form };
        let planned = self.decided_anew(arguments, values, form).map_err(Refusal::error)?;
        let planned = planned.while_spared(Arc::clone(spared), weight);
        // SAFETY: by this function's contract.
        unsafe { self.set_precedent(place, call, values, &planned) };
        planned.tell(self.name, arguments);
        Ok(Some(planned))
    }

    /// Remembers how a call is served, unless it is remembered. Returns where its freed operations are kept.
    ///
    /// # Safety
    /// As for [`Communicator::prepare`].
    unsafe fn remember(
        &self,
        jobs: &mut Jobs,
        call: &rustcoll_call,
        values: Values,
        planned: &Planned,
    ) -> Weak<Spare> {
        // SAFETY: by this function's contract.
        unsafe {
            if let Some(job) = jobs.find(call, &values) {
                return Arc::downgrade(&job.spare);
            }
            let key = Key::new(call, values, self.blocks(Collective::ALL[call.collective as usize]));
            Arc::downgrade(&jobs.insert(call, &values, Job::new(key, planned.clone())).spare)
        }
    }

    /// Obtains a call's memory. Returns what carries the call out as decided.
    fn transfer(
        &self,
        planned: &Planned,
        mut arguments: Arguments,
        channel: Channel,
        work: &mut Work,
        is_persistent: bool,
    ) -> Result<Transfer, Error> {
        let program = match &planned.served {
            Served::Nothing => CallPlan::Plan(Arc::new(Plan::default())),
            Served::Here(program) => program.clone(),
            Served::Calls(_) | Served::Below => return Err(RUSTCOLL_ERR_INTERN),
        };
        let limit = Settings::of(arguments.collective).values().scratch_limit();
        let wrapping = scratch::obtain(work, &mut arguments, &program, planned, limit, self.name)
            .map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        Ok(Transfer::new(&program, arguments, wrapping, channel, limit, is_persistent))
    }
}
