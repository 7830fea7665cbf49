//! What the component keeps for a communicator, and how a call is served.

use super::arguments::Arguments;
use super::bindings::*;
use super::channel::{Channel, Line};
use super::job::Job;
use super::operation::Operation;
use super::parameters::{Settings, Values, word};
use super::schedules::{Chosen, Schedules};
use super::work::{Group, Work};
use crate::algorithms::Collective;
use crate::engine::Plan;
use crate::engine::call::{Counts, bind, bind_two_groups};
use crate::selection::Call;
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex};

/// A communicator's state.
///
/// MPI runs at most one collective that blocks on a communicator at a time. But others may be prepared meanwhile, from
/// within the progress that the blocking one makes or by another thread: duplicating a communicator does so.
pub struct Communicator {
    handle: *const c_void,
    /// The handle of the communicator that reaches the own group of an inter-communicator; else the same.
    local: *const c_void,
    group: Group,
    identifier: u32,
    below: rustcoll_below,
    planning: Mutex<Planning>,
    blocking: UnsafeCell<Blocking>,
}

/// What belongs to the collective that blocks.
struct Blocking {
    work: Work,
    /// By collective: the last job.
    jobs: [Option<Job>; Collective::ALL.len()],
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
    /// The algorithm's number, 0 for the component below.
    number: c_int,
    /// `None`: the component below.
    planned: Option<Planned>,
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
}

/// A plan, and whether a broadcast's data are packed for it.
#[derive(Clone)]
pub struct Planned {
    /// The plan.
    pub plan: Arc<Plan>,
    is_packed: bool,
    /// The number of its algorithm.
    pub number: c_int,
}

impl Communicator {
    /// State of a new communicator.
    pub fn new(
        [handle, local]: [*const c_void; 2],
        group: Group,
        identifier: u32,
        below: rustcoll_below,
    ) -> Self {
        Communicator {
            handle,
            local,
            group,
            identifier,
            below,
            planning: Mutex::new(Planning {
                schedules: Schedules::new(group, identifier),
                last: [const { None }; Collective::ALL.len()],
            }),
            blocking: UnsafeCell::new(Blocking {
                work: Work::new(),
                jobs: [const { None }; Collective::ALL.len()],
            }),
        }
    }

    /// The handle that the shim knows it by.
    pub fn handle(&self) -> *const c_void {
        self.handle
    }

    /// This rank among the others.
    pub fn group(&self) -> Group {
        self.group
    }

    /// Where a collective runs under a tag, and under another one within the own group of an inter-communicator.
    fn channel(&self, tag: c_int, local_tag: c_int) -> Channel {
        Channel {
            own: Line { communicator: self.local, tag: local_tag },
            other: Line { communicator: self.handle, tag },
            own_size: self.group.size,
        }
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
        settings.note_ran(job.planned.number);
        !log::log_enabled!(log::Level::Debug)
    }

    /// Decides how a collective that blocks is served; nothing is posted yet.
    ///
    /// # Safety
    /// The call comes from the shim, and no other collective that blocks runs on this communicator.
    pub unsafe fn admit(&self, call: &rustcoll_call) -> Admission {
        let collective = Collective::ALL[call.collective as usize];
        let values = Settings::of(collective).values();
        // SAFETY: by this function's contract.
        unsafe {
            let Blocking { work, jobs } = &mut *self.blocking.get();
            let mut arguments = Arguments::read(call, self.group);
            if arguments.is_empty() {
                return Admission::Nothing;
            }
            let has_below = self.below.blocking[collective as usize] != 0;
            let Some(planned) = self.planned(&arguments, values, has_below) else { return Admission::Below };
            let Ok(wrapping) = work.substitute(&mut arguments, self.group, planned.is_packed) else {
                return Admission::OutOfMemory;
            };
            jobs[collective as usize] = Some(Job::new(call, values, arguments, planned, wrapping));
            Admission::Here
        }
    }

    /// Carries out what was admitted last: an MPI error code.
    ///
    /// # Safety
    /// As for [`Communicator::admit`].
    pub unsafe fn run(&self, collective: Collective) -> c_int {
        // SAFETY: by this function's contract nobody else uses it.
        let Blocking { work, jobs } = unsafe { &mut *self.blocking.get() };
        let Some(Job { arguments, planned, wrapping, .. }) = &jobs[collective as usize] else {
            return MPI_ERR_INTERN;
        };
        let channel = self.channel(tag(collective), tag(collective));
        let begun = work.begin(&planned.plan, wrapping);
        super::pml::status(begun.and_then(|()| work.finish(&planned.plan, channel, arguments, wrapping)))
    }

    /// Prepares a collective that does not block. `None`: the component below serves it.
    pub fn prepare(
        &self,
        arguments: Arguments,
        is_persistent: bool,
        (tag, local_tag): (c_int, c_int),
        request: *mut c_void,
    ) -> Option<Result<Operation, c_int>> {
        let below = if is_persistent { &self.below.persistent } else { &self.below.nonblocking };
        let has_below = below[arguments.collective as usize] != 0;
        let Planned { plan, is_packed, .. } = match arguments.is_empty() {
            true => Planned { plan: Arc::new(Plan::default()), is_packed: false, number: 0 },
            false => {
                let values = Settings::of(arguments.collective).values();
                self.planned(&arguments, values, has_below)?
            }
        };
        let channel = self.channel(tag, local_tag);
        Some(Operation::new(plan, arguments, self.group, is_packed, channel, request))
    }

    /// Decides who serves a call and plans it, unless the last call was alike. `None`: the component below.
    fn planned(&self, arguments: &Arguments, values: Values, has_below: bool) -> Option<Planned> {
        let collective = arguments.collective;
        let mut planning = self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let Planning { schedules, last } = &mut *planning;
        let last = &mut last[collective as usize];
        let prepared = match last {
            Some(prepared) if prepared.shape.is_of(arguments, values, has_below) => prepared,
            _ => {
                let shape = Shape::new(arguments, values, has_below, self.group);
                let chosen = schedules.choose(
                    &shape.call,
                    shape.in_place && collective.has_in_place(),
                    shape.root,
                    shape.values,
                    has_below,
                );
                last.insert(prepared(shape, chosen, self.group))
            }
        };
        Settings::of(collective).note_ran(prepared.number);
        log::debug!(
            "{}, communicator {}: {} of {} bytes by {}",
            self.group,
            self.identifier,
            collective.name(),
            prepared.shape.call.bytes,
            word(collective, prepared.number)
        );
        prepared.planned.clone()
    }
}

impl Shape {
    fn new(arguments: &Arguments, values: Values, has_below: bool, group: Group) -> Shape {
        let &Arguments { collective, in_place, root, .. } = arguments;
        let call = Call {
            collective,
            size: group.all(),
            remote: group.remote,
            bytes: arguments.measured_bytes(),
            commutative: arguments.operator.commutative != 0,
            // Only the root knows whether it is, and a choice must not depend on what one rank knows.
            in_place: in_place && !collective.is_rooted(),
        };
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
            && self.has_gaps == arguments.has_gaps()
            && self.recv == arguments.recv.counts
            && self.send == arguments.send.counts
    }
}

fn prepared(shape: Shape, chosen: Chosen, group: Group) -> Prepared {
    let Chosen::Here { number, schedule } = chosen else {
        return Prepared { shape, number: 0, planned: None };
    };
    let collective = shape.call.collective;
    let is_packed = collective == Collective::Bcast && shape.has_gaps && schedule.blocks > 1;
    let packed = Counts::One { count: shape.call.bytes, bytes: 1 };
    let recv = if is_packed { &packed } else { &shape.recv };
    let Group { rank, size, remote } = group;
    let binding = match remote {
        0 => bind(collective, rank, schedule.blocks, &shape.send, recv),
        _ => bind_two_groups(collective, rank, (size, remote), schedule.blocks, &shape.send, recv),
    };
    let planned = Planned { plan: Arc::new(Plan::new(schedule, &binding)), is_packed, number };
    Prepared { number, planned: Some(planned), shape }
}

/// The tag that Open MPI reserves for a collective that blocks.
fn tag(collective: Collective) -> c_int {
    match collective {
        Collective::Allgather => MCA_COLL_BASE_TAG_ALLGATHER,
        Collective::Allgatherv => MCA_COLL_BASE_TAG_ALLGATHERV,
        Collective::Allreduce => MCA_COLL_BASE_TAG_ALLREDUCE,
        Collective::Alltoall => MCA_COLL_BASE_TAG_ALLTOALL,
        Collective::Alltoallv => MCA_COLL_BASE_TAG_ALLTOALLV,
        Collective::Alltoallw => MCA_COLL_BASE_TAG_ALLTOALLW,
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
