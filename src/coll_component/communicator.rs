//! What the component keeps for a communicator, and how a call is served.

use super::arguments::Arguments;
use super::bindings::*;
use super::channel::{Channel, Line};
use super::exchanging::Exchanging;
use super::info::Info;
use super::job::Job;
use super::memory::OutOfMemory;
use super::nodes::{self, Nodes};
use super::operation::{Course, Operation};
use super::parameters::{self, Settings, Values, word};
use super::pml::Error;
use super::rules;
use super::schedules::{Chosen, Decided, Form, Schedules, Served};
use super::topology;
use super::watch::{self, Subject};
use super::work::{Group, Work, Wrapping};
use crate::algorithms::{Collective, Cut, Graph, Problem};
use crate::engine::call::{Counts, bind, bind_two_groups};
use crate::engine::{LengthExchange, Plan};
use crate::report::Kind;
use crate::selection::Call;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, OnceLock};
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
    /// This rank's neighbours. Open MPI adds a topology to a communicator that is complete in all else.
    graph: OnceLock<Graph>,
    planning: Mutex<Planning>,
    blocking: UnsafeCell<Blocking>,
}

/// What belongs to the collective that blocks.
struct Blocking {
    work: Work,
    /// By collective: the last job.
    jobs: [Option<Job>; Collective::ALL.len()],
    /// The calls that have not ended yet, if anybody wants to know: the component below may call others.
    under_way: Vec<Option<(Subject, Instant)>>,
}

/// What decides how calls are served.
struct Planning {
    schedules: Schedules,
    /// By collective: how the last call was served. Programs repeat themselves.
    last: [Option<Prepared>; Collective::ALL.len()],
}

/// Everything that a plan depends on.
#[derive(Clone, PartialEq, Eq)]
struct Shape {
    call: Call,
    in_place: bool,
    root: usize,
    values: Values,
    send: Counts,
    recv: Counts,
    has_gaps: bool,
    /// Whether there is a component below for this form of the collective.
    has_below: bool,
}

/// A call's shape and what serves it.
struct Prepared {
    shape: Shape,
    decision: Decision,
    /// Whether it may be decided otherwise once the ranks' nodes are known.
    lacks_nodes: bool,
    /// `None`: the component below.
    planned: Option<Planned>,
}

/// What becomes of a call.
enum Outcome {
    /// All ranks must first tell each other their nodes.
    NodesUnknown,
    /// The component below serves it.
    Below(Decision),
    /// This component does.
    Here(Planned),
}

/// How a collective that blocks is served.
pub enum Admission {
    /// There is nothing to do, on any rank.
    Nothing,
    /// The component below serves it.
    Below,
    /// This component does.
    Here,
    /// There is not enough memory.
    OutOfMemory,
    /// The arguments are illegal: an MPI error.
    Illegal(Error),
    /// All ranks must first tell each other their nodes.
    NodesUnknown,
}

/// What carries out calls of one shape.
#[derive(Clone)]
pub enum Program {
    /// A plan.
    Plan(Arc<Plan>),
    /// A plan that every call has to complete by an exchange of lengths.
    Exchange(Arc<LengthExchange>),
}

impl Program {
    /// The plan that is carried out first.
    fn first(&self) -> &Plan {
        match self {
            Program::Plan(plan) => plan,
            Program::Exchange(exchange) => &exchange.plan,
        }
    }
}

/// A program, and whether a broadcast's data are packed for it.
#[derive(Clone)]
pub struct Planned {
    /// The program.
    pub program: Program,
    is_packed: bool,
    /// What was decided.
    pub decision: Decision,
}

/// What was decided about a call.
#[derive(Clone)]
pub struct Decision {
    /// The algorithm's number, 0 for the component below.
    pub number: c_int,
    /// Who decided it.
    pub decided: Decided,
    /// What it has in common with others.
    kind: Arc<Kind>,
}

impl Decision {
    /// `served` is the algorithm with its number, or nobody here.
    fn new(
        collective: Collective,
        group: Group,
        number: c_int,
        served: String,
        decided: Decided,
    ) -> Decision {
        let Group { size, remote, .. } = group;
        let kind = Arc::new(Kind { size, remote, collective, served, decided: decided.in_short() });
        Decision { number, decided, kind }
    }

    fn below(collective: Collective, group: Group, decided: Decided) -> Decision {
        Decision::new(collective, group, 0, "below".into(), decided)
    }

    fn nothing_to_do(collective: Collective, group: Group) -> Decision {
        Decision::new(collective, group, 0, "nobody".into(), Decided::NothingToDo)
    }
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
        report_faults(&faults, &name, group);
        Communicator {
            handle,
            local,
            group,
            name: Arc::clone(&name),
            below,
            graph: OnceLock::new(),
            planning: Mutex::new(Planning {
                schedules: Schedules::new(group, name, info),
                last: [const { None }; Collective::ALL.len()],
            }),
            blocking: UnsafeCell::new(Blocking {
                work: Work::new(),
                jobs: [const { None }; Collective::ALL.len()],
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
        let job = unsafe { &mut (*self.blocking.get()).jobs[call.collective as usize] };
        let Some(job) = job else { return false };
        // SAFETY: by this function's contract.
        if !unsafe { job.turn_to(call, settings.values()) } {
            return false;
        }
        settings.note_ran(job.planned.decision.number);
        !watch::is_on()
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
            let Blocking { work, jobs, under_way } = &mut *self.blocking.get();
            let mut arguments = self.arguments(call);
            if let Err(error) = arguments.check(self.group.all()) {
                return Admission::Illegal(error);
            }
            let mut begin = |decision: &Decision| {
                under_way.push(start.map(|start| (self.subject(&arguments, decision), start)));
            };
            if arguments.is_empty() {
                begin(&Decision::nothing_to_do(collective, self.group));
                return Admission::Nothing;
            }
            let has_below = self.below.blocking[collective as usize] != 0;
            let planned = match self.planned(&arguments, values, Form { has_below, is_blocking: true }) {
                Outcome::NodesUnknown => return Admission::NodesUnknown,
                Outcome::Below(decision) => {
                    begin(&decision);
                    return Admission::Below;
                }
                Outcome::Here(planned) => planned,
            };
            let Ok(wrapping) = self.obtain(work, &mut arguments, &planned, values.scratch_limit()) else {
                work.give_back(parameters::scratch_kept());
                return Admission::OutOfMemory;
            };
            under_way.push(start.map(|start| (self.subject(&arguments, &planned.decision), start)));
            jobs[collective as usize] = Some(Job::new(call, values, arguments, planned, wrapping));
            Admission::Here
        }
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
        let Blocking { work, jobs, .. } = unsafe { &mut *self.blocking.get() };
        let Some(Job { values, arguments, planned, wrapping, .. }) = &jobs[collective as usize] else {
            return MPI_ERR_INTERN;
        };
        let channel = self.channel(tag(collective), tag(collective));
        let limit = values.scratch_limit();
        let ended = match &planned.program {
            Program::Plan(plan) => {
                work.begin(plan, wrapping).and_then(|()| work.finish(plan, channel, arguments, wrapping))
            }
            Program::Exchange(exchange) => {
                let mut exchanging = Exchanging::new(exchange, limit);
                exchanging.begin(work).and_then(|()| exchanging.finish(work, channel, arguments))
            }
        };
        if ended == Err(MPI_ERR_NO_MEM) {
            self.report_shortage(work, arguments, planned, limit);
        }
        work.give_back(parameters::scratch_kept());
        super::pml::status(ended)
    }

    /// Has all ranks tell each other their nodes: an MPI error code.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn exchange_nodes(&self) -> c_int {
        let Group { rank, size, .. } = self.group;
        let mut all = vec![0_u64; size];
        all[rank] = nodes::identity();
        let mut arguments = Arguments::allgather(all.as_mut_ptr().cast(), size_of::<u64>());
        let Arguments { collective, ref send, ref recv, .. } = arguments;
        let bruck = collective.algorithm("bruck").expect("it is registered");
        let problem = Problem { in_place: true, radix: 2, ..Problem::new(size) };
        let schedule = (bruck.schedule)(&problem, rank);
        let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
        let plan = Plan::new(&schedule, &binding);
        let channel = self.channel(tag(collective), tag(collective));
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { work, .. } = unsafe { &mut *self.blocking.get() };
        let prepared = work.prepare(&plan, &mut arguments, self.group, false).map_err(|_| MPI_ERR_NO_MEM);
        let exchanged = prepared.and_then(|wrapping| {
            work.begin(&plan, &wrapping)?;
            work.finish(&plan, channel, &arguments, &wrapping)
        });
        if exchanged.is_err() {
            // What was given up may still arrive.
            std::mem::forget(all);
        } else {
            let mut planning = self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
            planning.schedules.note_nodes(Nodes::new(&all));
            planning.last = [const { None }; Collective::ALL.len()];
        }
        super::pml::status(exchanged)
    }

    /// Obtains the memory of a call, unless that is more than so many bytes.
    fn obtain(
        &self,
        work: &mut Work,
        arguments: &mut Arguments,
        planned: &Planned,
        limit: usize,
    ) -> Result<Wrapping, OutOfMemory> {
        let obtained = match self.needed(work, arguments, planned) <= limit {
            true => work.prepare(planned.program.first(), arguments, self.group, planned.is_packed),
            false => Err(OutOfMemory),
        };
        obtained.inspect_err(|_| self.report_shortage(work, arguments, planned, limit))
    }

    /// Bytes of temporary memory that a call takes; where lengths are exchanged first, as far as it is known before.
    fn needed(&self, work: &Work, arguments: &Arguments, planned: &Planned) -> usize {
        let Planned { program, is_packed, .. } = planned;
        let numbers = match program {
            Program::Plan(_) => 0,
            Program::Exchange(exchange) => size_of_val(&*exchange.numbers),
        };
        work.needed(program.first(), arguments, self.group, *is_packed) + numbers
    }

    fn report_shortage(&self, work: &Work, arguments: &Arguments, planned: &Planned, limit: usize) {
        let needed = self.needed(work, arguments, planned);
        log::error!(
            "{}: {} by {} needs {needed} bytes of temporary memory; {}",
            self.name,
            arguments.collective.name(),
            word(arguments.collective, planned.decision.number),
            match needed <= limit {
                true => "there is not so much".to_owned(),
                false => format!("the limit is {limit}"),
            }
        );
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
            false => match self.planned(&arguments, values, Form { has_below, is_blocking: false }) {
                Outcome::Here(planned) => planned,
                Outcome::Below(decision) => {
                    // It has a request of its own, of which nobody tells here.
                    if watch::is_on() {
                        self.subject(&arguments, &decision).tell(None);
                    }
                    return None;
                }
                Outcome::NodesUnknown => return None,
            },
        };
        let mut work = Work::new();
        let subject = self.subject(&arguments, &planned.decision);
        let limit = values.scratch_limit();
        let Ok(wrapping) = self.obtain(&mut work, &mut arguments, &planned, limit) else {
            return Some(Err(MPI_ERR_NO_MEM));
        };
        let channel = self.channel(tag, local_tag);
        let course = Course::new(planned.program, limit);
        Some(Ok(Operation { course, arguments, wrapping, channel, work, request, subject, start: None }))
    }

    /// Decides who serves a call and plans it, unless the last call was alike.
    fn planned(&self, arguments: &Arguments, values: Values, form: Form) -> Outcome {
        let collective = arguments.collective;
        let mut planning = self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Planning { schedules, last } = &mut *planning;
        let last = &mut last[collective as usize];
        let prepared = match last {
            Some(prepared)
                if prepared.shape.is_of(arguments, values, form.has_below)
                    && !(prepared.lacks_nodes && form.is_blocking) =>
            {
                prepared
            }
            _ => {
                let shape = Shape::new(arguments, values, form.has_below, self.group);
                let has_graph = collective.cut() == Cut::Edges;
                let graph = if has_graph { self.graph().clone() } else { Graph::default() };
                let chosen = schedules.choose(
                    &shape.call,
                    shape.in_place && collective.has_in_place(),
                    shape.root,
                    shape.values,
                    form,
                    graph,
                );
                let Some(chosen) = chosen else { return Outcome::NodesUnknown };
                last.insert(prepared(shape, chosen, self.group))
            }
        };
        Settings::of(collective).note_ran(prepared.decision.number);
        log::debug!(
            "{}: {} of {} bytes by {} ({})",
            self.name,
            collective.name(),
            prepared.shape.call.bytes,
            word(collective, prepared.decision.number),
            prepared.decision.decided
        );
        match &prepared.planned {
            Some(planned) => Outcome::Here(planned.clone()),
            None => Outcome::Below(prepared.decision.clone()),
        }
    }
}

/// Tells what is wrong with a communicator's info keys, and ends the job if it is to be strict.
fn report_faults(faults: &[String], name: &str, group: Group) {
    if !faults.is_empty() && parameters::rules_are_strict() {
        rules::refuse(faults, group.rank == 0);
    }
    if group.rank == 0 {
        faults.iter().for_each(|fault| log::warn!("{name}: left out: {fault}"));
    }
}

/// What rules are told of a call.
fn described(arguments: &Arguments, values: Values, group: Group) -> Call {
    let collective = arguments.collective;
    Call {
        collective,
        size: group.all(),
        remote: group.remote,
        bytes: arguments.measured_bytes(),
        root: (collective.is_rooted() && group.remote == 0).then_some(arguments.root),
        commutative: arguments.operator.commutative != 0,
        // Only the root knows whether it is, and a choice must not depend on what one rank knows.
        in_place: arguments.in_place && !collective.is_rooted(),
        reproducible: values.reproducible() && collective.reduces(),
        predefined: collective.reduces().then_some(arguments.operator.predefined != 0),
        nodes: None,
        ranks_per_node: None,
    }
}

impl Shape {
    fn new(arguments: &Arguments, values: Values, has_below: bool, group: Group) -> Shape {
        let &Arguments { in_place, root, .. } = arguments;
        let call = described(arguments, values, group);
        let (send, recv) = (arguments.send.counts.clone(), arguments.recv.counts.clone());
        Shape { call, in_place, root, values, send, recv, has_gaps: arguments.has_gaps(), has_below }
    }

    /// Whether a call with these arguments has this shape. Compares, where [`Shape::new`] would compute and allocate.
    fn is_of(&self, arguments: &Arguments, values: Values, has_below: bool) -> bool {
        self.values == values
            && self.has_below == has_below
            && self.root == arguments.root
            && self.in_place == arguments.in_place
            && self.call.commutative == (arguments.operator.commutative != 0)
            && self
                .call
                .predefined
                .is_none_or(|predefined| predefined == (arguments.operator.predefined != 0))
            && self.has_gaps == arguments.has_gaps()
            && self.recv == arguments.recv.counts
            && self.send == arguments.send.counts
    }
}

fn prepared(shape: Shape, chosen: Chosen, group: Group) -> Prepared {
    let Chosen { decided, lacks_nodes, served } = chosen;
    let collective = shape.call.collective;
    let Some(Served { algorithm, number, shown, schedule }) = served else {
        let decision = Decision::below(collective, group, decided);
        return Prepared { shape, decision, lacks_nodes, planned: None };
    };
    let is_packed = collective == Collective::Bcast && shape.has_gaps && schedule.blocks > 1;
    let packed = Counts::One { count: shape.call.bytes, bytes: 1 };
    let recv = if is_packed { &packed } else { &shape.recv };
    let Group { rank, size, remote } = group;
    let binding = match remote {
        0 => bind(collective, rank, schedule.blocks, &shape.send, recv),
        _ => bind_two_groups(collective, rank, (size, remote), schedule.blocks, &shape.send, recv),
    };
    let program = match LengthExchange::new(algorithm, schedule, &binding) {
        Some(exchange) => Program::Exchange(Arc::new(exchange)),
        None => Program::Plan(Arc::new(Plan::new(schedule, &binding))),
    };
    let decision = Decision::new(collective, group, number, shown, decided);
    let planned = Planned { program, is_packed, decision: decision.clone() };
    Prepared { shape, decision, lacks_nodes, planned: Some(planned) }
}

/// The tag that Open MPI reserves for a collective that blocks; those among neighbours share that of their like.
fn tag(collective: Collective) -> c_int {
    match collective {
        Collective::Allgather | Collective::NeighborAllgather => MCA_COLL_BASE_TAG_ALLGATHER,
        Collective::Allgatherv | Collective::NeighborAllgatherv => MCA_COLL_BASE_TAG_ALLGATHERV,
        Collective::Allreduce => MCA_COLL_BASE_TAG_ALLREDUCE,
        Collective::Alltoall | Collective::NeighborAlltoall => MCA_COLL_BASE_TAG_ALLTOALL,
        Collective::Alltoallv | Collective::NeighborAlltoallv => MCA_COLL_BASE_TAG_ALLTOALLV,
        Collective::Alltoallw | Collective::NeighborAlltoallw => MCA_COLL_BASE_TAG_ALLTOALLW,
        Collective::Barrier => MCA_COLL_BASE_TAG_BARRIER,
        Collective::Bcast => MCA_COLL_BASE_TAG_BCAST,
        Collective::Exscan => MCA_COLL_BASE_TAG_EXSCAN,
        Collective::Gather => MCA_COLL_BASE_TAG_GATHER,
        Collective::Gatherv => MCA_COLL_BASE_TAG_GATHERV,
        Collective::Reduce => MCA_COLL_BASE_TAG_REDUCE,
        Collective::ReduceScatter => MCA_COLL_BASE_TAG_REDUCE_SCATTER,
        Collective::ReduceScatterBlock => MCA_COLL_BASE_TAG_REDUCE_SCATTER_BLOCK,
        Collective::Scan => MCA_COLL_BASE_TAG_SCAN,
        Collective::Scatter => MCA_COLL_BASE_TAG_SCATTER,
        Collective::Scatterv => MCA_COLL_BASE_TAG_SCATTERV,
    }
}
