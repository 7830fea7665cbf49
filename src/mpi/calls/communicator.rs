//! What is kept for a communicator, and who serves its calls.

use super::arguments::Arguments;
use super::blocking::Blocking;
use super::job::Jobs;
use super::planning::{Planned, Planning, Refusal};
use super::staged::{self, Staged};
use super::uses::Reader;
use crate::algorithms::{Collective, Cut, Graph, Stencil};
use crate::mpi::decision::decided::{Decided, Decision};
use crate::mpi::decision::info::{self, Info};
use crate::mpi::decision::schedules::Form;
use crate::mpi::decision::stencil;
use crate::mpi::decision::topology::{self, Topology};
use crate::mpi::messages::channel::{Channel, Route};
use crate::mpi::messages::tags::{memory_tag, stencil_tag, tag};
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings::Values;
use crate::mpi::reporting::names;
use crate::mpi::reporting::watch::Subject;
use crate::mpi::shared_memory::lanes::Lanes;
use crate::mpi::shared_memory::nodes::Knowledge;
use crate::mpi::shared_memory::sharing::{Making, Teller};
use crate::mpi::shim::bindings::*;
use crate::report::{self, Kind, bytes_from};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// A communicator's state.
///
/// MPI runs at most one collective that blocks on a communicator at a time. But others may be prepared meanwhile, from
/// within the progress that the blocking one makes or by another thread: duplicating a communicator does so.
pub struct Communicator {
    pub(super) handle: *const c_void,
    /// The handle of the communicator that reaches the own group of an inter-communicator; else the same.
    own_group: *const c_void,
    pub(super) group: Group,
    /// How log lines begin.
    pub(super) name: Arc<str>,
    pub(super) below: rustcoll_below,
    /// This rank's neighbours. MPI adds a topology to a communicator that is complete in all else.
    topology: OnceLock<Topology>,
    /// What the neighbours of all ranks have in common, once the ranks have looked for it.
    stencil: OnceLock<Result<Option<Arc<Stencil>>, Error>>,
    planning: Mutex<Planning>,
    /// Calls that do not block: those that are started at once, and persistent ones.
    pub(super) overlapping: Mutex<[Jobs; 2]>,
    /// What the ranks of this node share.
    pub(super) lanes: Arc<Lanes>,
    pub(super) blocking: UnsafeCell<Blocking>,
}

impl Communicator {
    /// State of a new communicator, and of the one that reaches its own group.
    pub fn new(
        [handle, own_group]: [*const c_void; 2],
        group: Group,
        identifier: u32,
        below: rustcoll_below,
    ) -> Self {
        let name: Arc<str> = format!("{group}, communicator {identifier}").into();
        let (info, faults) = Info::of(handle);
        info::report(&faults, &name, group);
        Communicator {
            handle,
            own_group,
            group,
            name: Arc::clone(&name),
            below,
            topology: OnceLock::new(),
            stencil: OnceLock::new(),
            planning: Mutex::new(Planning::new(group, name, info, Knowledge::new(handle, group))),
            overlapping: Mutex::default(),
            lanes: Arc::default(),
            blocking: UnsafeCell::new(Blocking::new()),
        }
    }

    /// The handle that the shim knows it by.
    pub fn handle(&self) -> *const c_void {
        self.handle
    }

    /// Where a collective runs under a tag, and under another one within the own group of an inter-communicator.
    pub(super) fn channel(&self, tag: c_int, own_group_tag: c_int) -> Channel {
        Channel {
            own: Route { communicator: self.own_group, tag: own_group_tag },
            other: Route { communicator: self.handle, tag },
            own_size: self.group.size,
        }
    }

    /// Where a collective runs that blocks.
    pub(super) fn channel_of(&self, collective: Collective) -> Channel {
        let tag = tag(collective);
        self.channel(tag, tag)
    }

    /// How the ranks tell each other something under a tag.
    pub(super) fn teller(&self, tag: c_int) -> Teller {
        Teller { name: Arc::clone(&self.name), group: self.group, channel: self.channel(tag, tag) }
    }

    /// Advances the allocation of shared memory without waiting. Returns whether this rank knows the result.
    pub(super) fn find_memory(&self) -> Result<bool, Error> {
        let begin = || {
            let neighbours = self.planning().neighbours();
            Making::begin(self.teller(memory_tag()), &neighbours)
        };
        self.lanes.find(begin, |geometry| self.planning().note_memory(geometry))
    }

    /// How many blocks the send and the receive buffer of a call have, where each block has a count.
    pub(super) fn blocks(&self, collective: Collective) -> (usize, usize) {
        match collective.cut() {
            Cut::Edges => {
                let neighbours = self.topology().graph.neighbours(self.group.rank);
                (neighbours.outdegree, neighbours.indegree)
            }
            // How the result for its own group is cut is all that a rank knows of a reduce-scatter between groups.
            _ if collective == Collective::ReduceScatter => (self.group.size, self.group.size),
            Cut::Pairs | Cut::Ranks | Cut::Vector => (self.group.partners(), self.group.partners()),
        }
    }

    /// Whether buffers of a call may lie on a device; false is certain.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    #[inline]
    pub(super) unsafe fn may_lie_on_a_device(&self, call: &rustcoll_call) -> bool {
        let blocks = || self.blocks(Collective::ALL[call.collective as usize]);
        // SAFETY: by this function's contract.
        unsafe { staged::may_be_needed(call, blocks) }
    }

    /// The same call on copies of those buffers that lie on a device, if any does, with its arguments.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator, and has these arguments.
    pub(super) unsafe fn staged(
        &self,
        call: &rustcoll_call,
        arguments: &Arguments,
    ) -> Result<Option<(Staged, rustcoll_call, Arguments)>, Error> {
        // SAFETY: by this function's contract.
        if !unsafe { self.may_lie_on_a_device(call) } {
            return Ok(None);
        }
        let reader = Reader::of(self.group, self.blocks(arguments.collective));
        let staged = Staged::of(call, arguments, reader).map_err(|_| RUSTCOLL_ERR_NO_MEM)?;
        let Some((staged, copied)) = staged else { return Ok(None) };
        // SAFETY: by this function's contract; the copies are as long as the buffers that they stand for.
        let arguments = unsafe { self.arguments(&copied) }.map_err(|_| RUSTCOLL_ERR_INTERN)?;
        Ok(Some((staged, copied, arguments)))
    }

    /// The topology, as far as this rank knows it. MPI refuses neighbourhood collectives where there is none.
    fn topology(&self) -> &Topology {
        // SAFETY: the handle is this communicator's.
        self.topology.get_or_init(|| unsafe { topology::topology(self.handle, self.group.rank) })
    }

    /// The topology, and what all ranks know of it.
    fn graph(&self) -> Result<Graph, Refusal> {
        let graph = self.topology().graph.clone();
        match self.stencil.get() {
            Some(Ok(Some(stencil))) => Ok(graph.with_stencil(Arc::clone(stencil))),
            Some(Err(error)) => Err(Refusal::Error(*error)),
            Some(Ok(None)) | None => Ok(graph),
        }
    }

    /// Has the ranks look for what their neighbours have in common, if they have not done so and a choice may depend on it. All ranks must
    /// call this in the same order as their collectives, those that block and those that initialize persistent ones. Whether to look
    /// depends neither on counts, which may be 0 at some ranks, nor on what a rank remembers.
    pub(super) fn look_for_stencil(&self, collective: Collective, values: Values) -> Result<(), Error> {
        let is_settled =
            collective.cut() != Cut::Edges || self.stencil.get().is_some() || self.topology().is_cartesian;
        if is_settled || !self.planning().depends_on_stencil(collective, values) {
            return Ok(());
        }
        let neighbours = self.topology().graph.neighbours(self.group.rank);
        let found = stencil::agree(&self.teller(stencil_tag()), neighbours);
        if let Ok(Some(stencil)) = &found {
            log::info!("{}: all ranks have neighbours at the same offsets of a grid: {stencil}", self.name);
        }
        let found = self.stencil.get_or_init(|| found.map(|stencil| stencil.map(Arc::new)));
        // Calls that were decided before may be decided otherwise now, and not all ranks remember the same ones. Among those that block there
        // are none: for them the ranks would have looked.
        self.overlapping().iter_mut().for_each(Jobs::clear);
        found.as_ref().map(drop).map_err(|&error| error)
    }

    /// The arguments of a call.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub(super) unsafe fn arguments(&self, call: &rustcoll_call) -> Result<Arguments, Refusal> {
        let blocks = self.blocks(Collective::ALL[call.collective as usize]);
        // SAFETY: by this function's contract.
        let arguments = unsafe { Arguments::read(call, blocks, self.group.remote > 0) };
        arguments.check(self.group.all()).map_err(Refusal::Error)?;
        Ok(arguments)
    }

    /// Who serves a call, as a job of the same call says or anew.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub(super) unsafe fn planned(
        &self,
        jobs: &mut Jobs,
        call: &rustcoll_call,
        arguments: &Arguments,
        values: Values,
        form: Form,
    ) -> Result<Planned, Refusal> {
        if arguments.is_empty() {
            return Ok(Planned::nothing());
        }
        // SAFETY: by this function's contract.
        let planned = match unsafe { jobs.find(call, &values) } {
            Some(job) => job.planned.clone(),
            None => return self.planned_anew(arguments, values, form),
        };
        planned.tell(&self.name, arguments);
        Ok(planned)
    }

    /// Who serves a call that moves data, decided anew.
    pub(super) fn planned_anew(
        &self,
        arguments: &Arguments,
        values: Values,
        form: Form,
    ) -> Result<Planned, Refusal> {
        let has_neighbours = arguments.collective.cut() == Cut::Edges;
        let graph = if has_neighbours { self.graph()? } else { Graph::default() };
        let planned = self.planning().plan(arguments, values, form, graph)?;
        planned.tell(&self.name, arguments);
        Ok(planned)
    }

    /// Its name in the log, and its ranks.
    pub(super) fn place(&self) -> (&str, Group) {
        (&self.name, self.group)
    }

    /// What is to be told of a call in that form.
    pub(super) fn subject(
        &self,
        arguments: &Arguments,
        decision: &Decision,
        form: report::Form,
    ) -> Arc<Subject> {
        let Decision { number, decided, served } = decision;
        let (collective, bytes) = (arguments.collective, arguments.bytes());
        let Group { size, remote, .. } = self.group;
        let kind = Kind {
            communicator: names::communicator(self.handle),
            size,
            remote,
            collective,
            form,
            bytes_from: bytes_from(bytes),
            datatype: names::datatype(arguments.element()),
            operator: if collective.reduces() { names::operator(&arguments.operator) } else { String::new() },
            served: served.to_string(),
            decided: decided.in_short(),
        };
        let number = (*decided != Decided::NothingToDo).then_some(*number);
        Arc::new(Subject::new(Arc::clone(&self.name), kind, number, bytes))
    }

    pub(super) fn planning(&self) -> MutexGuard<'_, Planning> {
        self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
