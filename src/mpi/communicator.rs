//! What the component keeps for a communicator, and how a call is served.

use super::arguments::Arguments;
use super::bindings::*;
use super::channel::{Channel, Line};
use super::decision::{Decided, Decision};
use super::exchanging::Exchanging;
use super::info::{self, Info};
use super::job::{Job, LeftBelow};
use super::messages::Error;
use super::mock_up::MockUp;
use super::nodes::{self, Knowledge, Nodes};
use super::operation::{Course, Operation};
use super::patience::Patience;
use super::planning::{Outcome, Planned, Planning, Program};
use super::schedules::{Form, Missing};
use super::scratch;
use super::segment::{Geometry, OFFER, Piece, Segment, is_offered};
use super::settings::{self, Settings, Values};
use super::tags::tag;
use super::topology;
use super::watch::{self, Subject};
use super::work::{Group, Work};
use crate::algorithms::{Collective, Cut, Graph};
use crate::engine::Plan;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Instant;

/// A communicator's state.
///
/// MPI runs at most one collective that blocks on a communicator at a time. But others may be prepared meanwhile, from
/// within the progress that the blocking one makes or by another thread: duplicating a communicator does so.
pub struct Communicator {
    handle: *const c_void,
    /// The handle of the communicator that reaches the own group of an inter-communicator; else the same.
    local: *const c_void,
    group: Group,
    /// How log lines begin.
    name: Arc<str>,
    below: rustcoll_below,
    /// This rank's neighbours. MPI adds a topology to a communicator that is complete in all else.
    graph: OnceLock<Graph>,
    planning: Mutex<Planning>,
    blocking: UnsafeCell<Blocking>,
}

/// What belongs to the collective that blocks.
struct Blocking {
    work: Work,
    /// What the ranks of this node share, once a call has wanted it and all could have it.
    segment: Option<Segment>,
    /// By collective: the last job, of calls of the user's and of those that these bring about, which may be served otherwise.
    jobs: [[Option<Job>; Collective::ALL.len()]; 2],
    /// Likewise the last call that was left to the component below.
    left_below: [[Option<LeftBelow>; Collective::ALL.len()]; 2],
    /// Whether the collective that blocks calls others.
    is_calling: bool,
    /// The calls that have not ended yet, if anybody wants to know: the component below may call others.
    under_way: Vec<Option<(Subject, Instant)>>,
}

/// How a collective that blocks is served.
pub enum Admission {
    /// There is nothing to do, on any rank.
    Nothing,
    /// The component below serves it.
    Below,
    /// rustcoll does.
    Here,
    /// rustcoll does by calls of other collectives.
    Calls(Box<MockUp>),
    /// There is not enough memory.
    OutOfMemory,
    /// The arguments are illegal: an MPI error.
    Illegal(Error),
    /// What all ranks must do first.
    Missing(Missing),
}

impl Communicator {
    /// State of a new communicator.
    pub fn new(
        [handle, local]: [*const c_void; 2],
        group: Group,
        identifier: u32,
        below: rustcoll_below,
    ) -> Self {
        let name: Arc<str> = format!("{group}, communicator {identifier}").into();
        let (info, faults) = Info::of(handle);
        info::report(&faults, &name, group);
        Communicator {
            handle,
            local,
            group,
            name: Arc::clone(&name),
            below,
            graph: OnceLock::new(),
            planning: Mutex::new(Planning::new(group, name, info, Knowledge::new(handle, group))),
            blocking: UnsafeCell::new(Blocking {
                work: Work::new(),
                segment: None,
                jobs: [const { [const { None }; Collective::ALL.len()] }; 2],
                left_below: [const { [const { None }; Collective::ALL.len()] }; 2],
                is_calling: false,
                under_way: Vec::new(),
            }),
        }
    }

    /// The handle that the shim knows it by.
    pub fn handle(&self) -> *const c_void {
        self.handle
    }

    /// Where a collective runs under a tag, and under another one within the own group of an inter-communicator.
    fn channel(&self, tag: c_int, local_tag: c_int) -> Channel {
        Channel {
            own: Line { communicator: self.local, tag: local_tag },
            other: Line { communicator: self.handle, tag },
            own_size: self.group.size,
        }
    }

    /// The arguments of a call.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub unsafe fn arguments(&self, call: &rustcoll_call) -> Arguments {
        let collective = Collective::ALL[call.collective as usize];
        let blocks = match collective.cut() {
            Cut::Edges => {
                let neighbours = self.graph().neighbours(self.group.rank);
                (neighbours.outdegree, neighbours.indegree)
            }
            // How the result for its own group is cut is all that a rank knows of a reduce-scatter between groups.
            _ if collective == Collective::ReduceScatter => (self.group.size, self.group.size),
            Cut::Pairs | Cut::Ranks | Cut::Vector => (self.group.partners(), self.group.partners()),
        };
        // SAFETY: by this function's contract.
        unsafe { Arguments::read(call, blocks, self.group.remote > 0) }
    }

    /// The topology, as far as this rank knows it. MPI refuses neighbourhood collectives where there is none.
    fn graph(&self) -> &Graph {
        let Group { rank, .. } = self.group;
        // SAFETY: the handle is this communicator's.
        self.graph.get_or_init(|| Graph::of_rank(rank, unsafe { topology::neighbours(self.handle, rank) }))
    }

    /// Whether the last job of a collective serves a call as well; does not panic.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    #[inline]
    pub unsafe fn admit_again(&self, call: &rustcoll_call) -> bool {
        let settings = &Settings::ALL[call.collective as usize];
        // SAFETY: by this function's contract.
        let Blocking { jobs, is_calling, .. } = unsafe { &mut *self.blocking.get() };
        let Some(job) = &mut jobs[usize::from(*is_calling)][call.collective as usize] else { return false };
        // SAFETY: by this function's contract.
        if !unsafe { job.turn_to(call, settings.values()) } {
            return false;
        }
        settings.note_ran(job.planned.decision.number);
        !watch::is_on()
    }

    /// Whether a call is left to the component below as the last one like it was; does not panic.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    #[inline]
    pub unsafe fn leave_again(&self, call: &rustcoll_call) -> bool {
        let settings = &Settings::ALL[call.collective as usize];
        // SAFETY: by this function's contract.
        let Blocking { left_below, is_calling, under_way, .. } = unsafe { &mut *self.blocking.get() };
        let Some(left) = &left_below[usize::from(*is_calling)][call.collective as usize] else {
            return false;
        };
        // SAFETY: by this function's contract.
        if watch::is_on() || !unsafe { left.is_like(call, settings.values()) } {
            return false;
        }
        settings.note_ran(settings::BELOW);
        under_way.push(None);
        true
    }

    /// Decides how a collective that blocks is served; nothing is posted yet.
    ///
    /// # Safety
    /// The call comes from the shim, and no other collective that blocks runs on this communicator.
    pub unsafe fn admit(&self, call: &rustcoll_call) -> Admission {
        let collective = Collective::ALL[call.collective as usize];
        let values = Settings::of(collective).values();
        let start = watch::now();
        // SAFETY: by this function's contract.
        unsafe {
            let Blocking { work, jobs, left_below, is_calling, under_way, .. } = &mut *self.blocking.get();
            let mut arguments = self.arguments(call);
            if let Err(error) = arguments.check(self.group.all()) {
                return Admission::Illegal(error);
            }
            if arguments.is_empty() {
                let decision = Decision::nothing_to_do(collective, self.group);
                under_way.push(self.begun(start, &arguments, &decision));
                return Admission::Nothing;
            }
            let has_below = self.below.blocking[collective as usize] != 0;
            let form = Form { has_below, is_blocking: true, calls_others: !*is_calling };
            let planned = match self.planned(&arguments, values, form) {
                Outcome::Missing(missing) => return Admission::Missing(missing),
                Outcome::TooLong => return Admission::Illegal(RUSTCOLL_ERR_TRUNCATE),
                Outcome::Below(decision) => {
                    under_way.push(self.begun(start, &arguments, &decision));
                    left_below[usize::from(*is_calling)][collective as usize] = LeftBelow::new(call, values);
                    return Admission::Below;
                }
                Outcome::Calls(deeds, decision) => {
                    let begun = self.begun(start, &arguments, &decision);
                    let Ok(mock_up) = MockUp::new(arguments, deeds, decision.number) else {
                        return Admission::OutOfMemory;
                    };
                    under_way.push(begun);
                    return Admission::Calls(Box::new(mock_up));
                }
                Outcome::Here(planned) => planned,
            };
            let limit = values.scratch_limit();
            let Ok(wrapping) = scratch::obtain(work, &mut arguments, &planned, limit, self.place()) else {
                work.give_back(settings::scratch_kept());
                return Admission::OutOfMemory;
            };
            under_way.push(self.begun(start, &arguments, &planned.decision));
            jobs[usize::from(*is_calling)][collective as usize] =
                Some(Job::new(call, values, arguments, planned, wrapping));
            Admission::Here
        }
    }

    /// What to keep of a call until it ends, if anybody wants to know.
    fn begun(
        &self,
        start: Option<Instant>,
        arguments: &Arguments,
        decision: &Decision,
    ) -> Option<(Subject, Instant)> {
        start.map(|start| (self.subject(arguments, decision), start))
    }

    /// Its name in the log, and its ranks.
    fn place(&self) -> (&str, Group) {
        (&self.name, self.group)
    }

    /// Notes that the call has ended that was admitted last, of those that have not ended yet.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn note_ended(&self) {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { under_way, .. } = unsafe { &mut *self.blocking.get() };
        if let Some(Some((subject, start))) = under_way.pop() {
            subject.tell(Some(start.elapsed()));
        }
    }

    /// What is to be told of a call.
    fn subject(&self, arguments: &Arguments, decision: &Decision) -> Subject {
        let is_counted = decision.decided != Decided::NothingToDo;
        Subject {
            communicator: Arc::clone(&self.name),
            kind: Arc::clone(&decision.kind),
            number: is_counted.then_some(decision.number),
            bytes: arguments.bytes(),
        }
    }

    /// Carries out what was admitted last: an MPI error code.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn run(&self, collective: Collective) -> c_int {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { work, segment, jobs, is_calling, .. } = unsafe { &mut *self.blocking.get() };
        let jobs = &jobs[usize::from(*is_calling)];
        let Some(Job { values, arguments, planned, wrapping, .. }) = &jobs[collective as usize] else {
            return RUSTCOLL_ERR_INTERN;
        };
        let channel = self.channel(tag(collective), tag(collective));
        let limit = values.scratch_limit();
        let ended = match &planned.program {
            Program::Plan(plan) => work
                .begin(plan, wrapping)
                .and_then(|()| work.finish(plan, channel, arguments, wrapping, segment.as_mut())),
            Program::Exchange(exchange) => {
                let mut exchanging = Exchanging::new(exchange, limit);
                exchanging.begin(work).and_then(|()| exchanging.finish(work, channel, arguments))
            }
        };
        if ended == Err(RUSTCOLL_ERR_NO_MEM) {
            scratch::report_shortage(work, arguments, planned, limit, self.place());
        }
        work.give_back(settings::scratch_kept());
        super::messages::status(ended)
    }

    /// Carries out an algorithm that calls others: an MPI error code. These calls come back here, so that nothing may be held
    /// meanwhile of what belongs to the collective that blocks.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn call_others(&self, mock_up: MockUp) -> c_int {
        // SAFETY: by this function's contract nobody else uses it.
        let note = |is_calling| unsafe { (*self.blocking.get()).is_calling = is_calling };
        note(true);
        // SAFETY: by this function's contract the arguments are those of a call on this communicator.
        let ended = unsafe { mock_up.run(self.handle) };
        note(false);
        super::messages::status(ended)
    }

    /// Has all ranks tell each other their nodes: an MPI error code.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn exchange_nodes(&self) -> c_int {
        // SAFETY: by this function's contract.
        match unsafe { self.told_by_all([nodes::identity()]) } {
            Ok(all) => {
                self.planning().note_nodes(Nodes::new(&all.concat()));
                RUSTCOLL_SUCCESS
            }
            Err(error) => error,
        }
    }

    /// Has the ranks of each node share memory, if all can: an MPI error code.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn share_memory(&self) -> c_int {
        // SAFETY: by this function's contract; nobody else uses what belongs to the collective that blocks.
        unsafe {
            let segment = match self.agreed_segment() {
                Ok(segment) => segment,
                Err(error) => return error,
            };
            self.planning().note_memory(segment.as_ref().map(Segment::geometry));
            (*self.blocking.get()).segment = segment;
        }
        RUSTCOLL_SUCCESS
    }

    /// The memory that the ranks of this node share. All ranks come to the same answer whether there is any.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    unsafe fn agreed_segment(&self) -> Result<Option<Segment>, Error> {
        let Group { rank, size, .. } = self.group;
        let piece = Piece::new(Geometry::new(size, settings::shared_bank()));
        let offer = piece.as_ref().map_or([0; OFFER], Piece::offer);
        // SAFETY: by this function's contract.
        let offers = unsafe { self.told_by_all(offer) }?;
        let piece = match (offers.iter().position(|offer| !is_offered(*offer)), piece) {
            (None, Ok(piece)) => piece,
            (first, piece) => {
                self.report_lack(first, piece.err());
                return Ok(None);
            }
        };
        let neighbours = self.planning().neighbours();
        let of_neighbours = offers.iter().zip(neighbours).map(|(offer, is_near)| is_near.then_some(*offer));
        // Others look for the piece as long as its file is there.
        let (segment, _file) = piece.join(rank, of_neighbours, Patience::of_job());
        // SAFETY: by this function's contract.
        let joined = unsafe { self.told_by_all([u64::from(segment.is_ok())]) }?;
        match (joined.iter().position(|&[could]| could == 0), segment) {
            (None, Ok(segment)) => Ok(Some(segment)),
            (first, segment) => {
                self.report_lack(first, segment.err());
                Ok(None)
            }
        }
    }

    /// Says that there is no shared memory, and why: the first rank that could not have it does, once in its process.
    fn report_lack(&self, first: Option<usize>, error: Option<io::Error>) {
        static IS_REPORTED: AtomicBool = AtomicBool::new(false);
        let name = &self.name;
        let Some(error) = error.filter(|_| first == Some(self.group.rank)) else {
            return log::info!("{name}: another rank has no memory to share");
        };
        let is_first = !IS_REPORTED.swap(true, Relaxed);
        let level = if is_first { log::Level::Warn } else { log::Level::Info };
        log::log!(level, "{name}: no memory to share with other ranks: {error}; all send messages instead");
    }

    /// Some numbers of each rank, of which this one tells its own.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    unsafe fn told_by_all<const N: usize>(&self, own: [u64; N]) -> Result<Vec<[u64; N]>, Error> {
        let Group { rank, size, .. } = self.group;
        let mut all = vec![[0; N]; size];
        all[rank] = own;
        let (plan, mut arguments) = nodes::exchange(&mut all, rank);
        let tag = tag(arguments.collective);
        let channel = self.channel(tag, tag);
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { work, .. } = unsafe { &mut *self.blocking.get() };
        let prepared =
            work.prepare(&plan, &mut arguments, self.group, false).map_err(|_| RUSTCOLL_ERR_NO_MEM);
        let told = prepared.and_then(|wrapping| {
            work.begin(&plan, &wrapping)?;
            work.finish(&plan, channel, &arguments, &wrapping, None)
        });
        match told {
            Ok(()) => Ok(all),
            Err(error) => {
                // What was given up may still arrive.
                std::mem::forget(all);
                Err(error)
            }
        }
    }

    /// Prepares a collective that does not block. `None`: the component below serves it.
    pub fn prepare(
        &self,
        mut arguments: Arguments,
        is_persistent: bool,
        (tag, local_tag): (c_int, c_int),
        request: *mut c_void,
    ) -> Option<Result<Operation, c_int>> {
        if let Err(error) = arguments.check(self.group.all()) {
            return Some(Err(error));
        }
        let below = if is_persistent { &self.below.persistent } else { &self.below.nonblocking };
        let has_below = below[arguments.collective as usize] != 0;
        let values = Settings::of(arguments.collective).values();
        let planned = match arguments.is_empty() {
            true => {
                let nothing = Program::Plan(Arc::new(Plan::default()));
                let decision = Decision::nothing_to_do(arguments.collective, self.group);
                Planned { program: nothing, is_packed: false, decision }
            }
            false => match self.planned(&arguments, values, Form { has_below, ..Form::NOT_BLOCKING }) {
                Outcome::Here(planned) => planned,
                Outcome::Below(decision) => {
                    // It has a request of its own, of which nobody tells here.
                    if watch::is_on() {
                        self.subject(&arguments, &decision).tell(None);
                    }
                    return None;
                }
                Outcome::Missing(_) => return None,
                Outcome::Calls(..) => return Some(Err(RUSTCOLL_ERR_INTERN)),
                Outcome::TooLong => return Some(Err(RUSTCOLL_ERR_TRUNCATE)),
            },
        };
        let mut work = Work::new();
        let subject = self.subject(&arguments, &planned.decision);
        let limit = values.scratch_limit();
        let Ok(wrapping) = scratch::obtain(&mut work, &mut arguments, &planned, limit, self.place()) else {
            return Some(Err(RUSTCOLL_ERR_NO_MEM));
        };
        let channel = self.channel(tag, local_tag);
        let course = Course::new(planned.program, limit);
        Some(Ok(Operation { course, arguments, wrapping, channel, work, request, subject, start: None }))
    }

    /// Decides who serves a call and plans it.
    fn planned(&self, arguments: &Arguments, values: Values, form: Form) -> Outcome {
        let none = Graph::default();
        let has_graph = arguments.collective.cut() == Cut::Edges;
        let graph = if has_graph { self.graph() } else { &none };
        self.planning().plan(arguments, values, form, graph)
    }

    fn planning(&self) -> MutexGuard<'_, Planning> {
        self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
