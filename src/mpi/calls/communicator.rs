//! The state of a communicator, and the decision who serves its calls.

use super::arguments::Arguments;
use super::attached::Facts;
use super::blocking::Blocking;
use super::job::{Jobs, Overlapping};
use super::key::Key;
use super::planning::{Planned, Planning, Refusal};
use super::precedents::{self, Place};
use super::staged::{self, Staged};
use super::uses::Reader;
use crate::algorithms::{Collective, Cut, Graph, Stencil};
use crate::mpi::decision::decided::{Decided, Decision};
use crate::mpi::decision::info::Info;
use crate::mpi::decision::schedules::Form;
use crate::mpi::decision::topology::Topology;
use crate::mpi::messages::channel::{Channel, Route};
use crate::mpi::messages::tags::tag;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Group, Name};
use crate::mpi::parameters::settings::Values;
use crate::mpi::reporting::names;
use crate::mpi::reporting::watch::{self, Subject};
use crate::mpi::shared_memory::lanes::Lanes;
use crate::mpi::shared_memory::nodes::Knowledge;
use crate::mpi::shared_memory::sharing::{Making, Teller};
use crate::mpi::shared_memory::spared::Spared;
use crate::mpi::shim::bindings::*;
use crate::report::{self, CallKind, bytes_from};
use std::cell::UnsafeCell;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

/// A communicator's state.
///
/// MPI runs at most one blocking collective on a communicator at a time. But other collectives may be prepared
/// meanwhile, by another thread or from within the blocking one's progress: duplicating a communicator does so.
pub struct Communicator {
    pub(super) handle: *const c_void,
    /// On an inter-communicator, the handle that reaches the own group; otherwise `handle`.
    own_group: *const c_void,
    pub(super) group: Group,
    /// The last of the tags that no collective here has.
    last_tag: c_int,
    pub(super) name: Name,
    pub(super) below: rustcoll_below,
    /// This rank's neighbours, read at first use: MPI adds a topology after everything else of a communicator.
    pub(super) topology: OnceLock<Topology>,
    /// The stencil that the neighbours of all ranks have in common, once the ranks have looked for one.
    pub(super) stencil: OnceLock<Result<Option<Arc<Stencil>>, Error>>,
    /// The neighbours of all ranks of this rank's node, once these have told each other.
    pub(super) neighbours_of_node: OnceLock<Result<Graph, Error>>,
    planning: Mutex<Planning>,
    pub(super) overlapping: Mutex<Overlapping>,
    /// The shared memory of this node's ranks.
    pub(super) lanes: Arc<Lanes>,
    pub(super) blocking: UnsafeCell<Blocking>,
}

impl Communicator {
    /// Returns the state of a communicator with these info keys.
    pub fn new(facts: Facts, info: Arc<Info>) -> Self {
        let name = facts.name();
        let Facts { handle, own_group, group, last_tag, below, .. } = facts;
        Communicator {
            handle,
            own_group,
            group,
            last_tag,
            name,
            below,
            topology: OnceLock::new(),
            stencil: OnceLock::new(),
            neighbours_of_node: OnceLock::new(),
            planning: Mutex::new(Planning::new(name, info, Knowledge::new(handle, group))),
            overlapping: Mutex::default(),
            lanes: Arc::default(),
            blocking: UnsafeCell::new(Blocking::new()),
        }
    }

    /// Returns where messages go: between groups under `tag`, within the own group under `own_group_tag`.
    pub(super) fn channel(&self, tag: c_int, own_group_tag: c_int) -> Channel {
        Channel {
            own: Route { communicator: self.own_group, tag: own_group_tag },
            other: Route { communicator: self.handle, tag },
            own_size: self.group.size as u32,
            rank: self.group.rank as u32,
        }
    }

    /// Returns where a blocking collective's messages go.
    pub(super) fn channel_of(&self, collective: Collective) -> Channel {
        let tag = tag(collective);
        self.channel(tag, tag)
    }

    /// Returns the means by which the ranks exchange numbers under a tag.
    pub(super) fn teller(&self, tag: c_int) -> Teller {
        Teller { name: self.name, channel: self.channel(tag, tag) }
    }

    /// Returns the means by which ranks find their neighbours' stencil. Messages that a failed rank leaves meet no other call.
    pub(super) fn stencil_teller(&self) -> Teller {
        self.teller(self.last_tag - 1)
    }

    /// Returns the means by which ranks prepare persistent collectives. Messages that a failed rank leaves meet no other call.
    pub(super) fn persistent_teller(&self) -> Teller {
        self.teller(self.last_tag - 3)
    }

    /// Waits until all ranks have refused the same call. The messages of ranks that have not refused it meet no other call.
    pub(super) fn await_refusals(&self) -> Result<(), Error> {
        log::debug!("{}: waits until all ranks have refused their last call", self.name);
        self.teller(self.last_tag - 2).gathered([0]).map(drop)
    }

    /// Advances the allocation of shared memory without waiting. Returns whether this rank knows the result.
    pub(super) fn find_memory(&self) -> Result<bool, Error> {
        let begin = || {
            let neighbours = self.planning().neighbours();
            Making::begin(self.teller(self.last_tag), &neighbours)
        };
        self.lanes.find(begin, |geometry| self.planning().note_memory(geometry))
    }

    /// Returns how many blocks the send and the receive buffer of a call have, if each block has a count.
    pub(super) fn blocks(&self, collective: Collective) -> (usize, usize) {
        match collective.cut() {
            Cut::Edges => {
                let neighbours = self.topology().graph.neighbours(self.group.rank);
                (neighbours.outdegree, neighbours.indegree)
            }
            // In a reduce-scatter between groups, a rank knows only how the result for its own group is cut.
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

    /// Returns the same call on copies of those buffers that lie on a device, with its arguments; `None` if none does.
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
        // SAFETY: by this function's contract; the copies are as long as the buffers that they replace.
        let arguments = unsafe { self.arguments(&copied) }.map_err(|_| RUSTCOLL_ERR_INTERN)?;
        Ok(Some((staged, copied, arguments)))
    }

    /// Reads and checks the arguments of a call.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub(super) unsafe fn arguments(&self, call: &rustcoll_call) -> Result<Arguments, Refusal> {
        let blocks = self.blocks(Collective::ALL[call.collective as usize]);
        // SAFETY: by this function's contract.
        let arguments = unsafe { Arguments::read(call, blocks, self.group.remote > 0) };
        arguments.check(self.group.all())?;
        Ok(arguments)
    }

    /// Decides who serves a call, as remembered for the same call, or anew.
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
            Some(job) if job.planned.count_repetition() => job.planned.clone(),
            // SAFETY: by this function's contract.
            None if form.is_blocking => unsafe { self.decided_first(call, arguments, values, form) }?,
            _ => self.decided_anew(arguments, values, form)?,
        };
        planned.tell(self.name, arguments);
        Ok(planned)
    }

    /// Decides who serves a blocking call that this communicator does not remember, as another one like it has decided, or anew.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    unsafe fn decided_first(
        &self,
        call: &rustcoll_call,
        arguments: &Arguments,
        values: Values,
        form: Form,
    ) -> Result<Planned, Refusal> {
        let spared = self.planning().spared();
        let place = self.place(arguments.collective, values, form, &spared);
        // SAFETY: by this function's contract.
        if let Some(planned) = unsafe { precedents::find(place.as_ref(), call, &values) }
            .and_then(|planned| planned.following(spared))
        {
            return Ok(planned);
        }
        let planned = self.decided_anew(arguments, values, form)?;
        // SAFETY: by this function's contract.
        unsafe { self.set_precedent(place, call, values, &planned) };
        Ok(planned)
    }

    /// Returns on what a decision depends besides the call, if another communicator may have decided the same. Of calls after the
    /// first ones, which `spared` counts, each communicator decides by itself: it pays once.
    pub(super) fn place(
        &self,
        collective: Collective,
        values: Values,
        form: Form,
        spared: &Spared,
    ) -> Option<Place> {
        if spared.is_over() { None } else { self.planning().place(collective, values, form) }
    }

    /// Keeps a decision about a call for other communicators, if one may decide the same.
    ///
    /// # Safety
    /// The call comes from the shim, on this communicator.
    pub(super) unsafe fn set_precedent(
        &self,
        place: Option<Place>,
        call: &rustcoll_call,
        values: Values,
        planned: &Planned,
    ) {
        if let Some(place) = place {
            // SAFETY: by this function's contract.
            precedents::keep(place, planned, || unsafe {
                Key::new(call, values, self.blocks(place.collective))
            });
        }
    }

    /// Decides anew who serves a call that moves data.
    pub(super) fn decided_anew(
        &self,
        arguments: &Arguments,
        values: Values,
        form: Form,
    ) -> Result<Planned, Refusal> {
        let graph = self.graph(arguments.collective, form)?;
        self.planning().plan(arguments, values, form, graph)
    }

    /// Returns what the report, the profile, tools and the log record of a call in that form.
    pub(super) fn subject(
        &self,
        arguments: &Arguments,
        decision: &Decision,
        form: report::Form,
    ) -> Arc<Subject> {
        let Decision { number, decided, served } = decision;
        let (collective, bytes) = (arguments.collective, arguments.bytes());
        let Group { size, remote, .. } = self.group;
        let kind = CallKind {
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
        Arc::new(Subject::new(self.name, kind, number, bytes))
    }

    /// Whether calls are watched here. Calls that MPI itself makes before users can know the communicator are not.
    pub(super) fn is_watched(&self) -> bool {
        // SAFETY: the handle is this communicator's.
        watch::is_on() && unsafe { rustcoll_shim_is_complete(self.handle) } != 0
    }

    pub(super) fn planning(&self) -> MutexGuard<'_, Planning> {
        self.planning.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}
