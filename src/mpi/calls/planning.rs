//! Decides for a communicator which component serves a call, and by which plan.

use super::arguments::{Arguments, Side};
use super::precedents::Place;
use crate::algorithms::{Collective, Graph, Nodes, Problem, Stencil};
use crate::engine::mock_up::{Deeds, Lengths};
use crate::engine::{Binding, Counts, bind, bind_two_groups};
use crate::engine::{LengthExchange, Plan, SlotBounds, largest_need};
use crate::mpi::decision::decided::{Decided, Decision, Lack};
use crate::mpi::decision::info::Info;
use crate::mpi::decision::schedules::{Chosen, Form, Lasting, MadeOf, Missing, Schedules, Selected};
use crate::mpi::messages::scratch;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Group, Name};
use crate::mpi::parameters::settings::{Settings, Values, is_preloaded, word};
use crate::mpi::shared_memory::geometry::Geometry;
use crate::mpi::shared_memory::nodes::Knowledge;
use crate::mpi::shared_memory::spared::{self, Spared};
use crate::mpi::shim::bindings::{RUSTCOLL_ERR_INTERN, RUSTCOLL_ERR_NO_MEM, RUSTCOLL_ERR_TRUNCATE};
use crate::schedule::{Schedule, SlotKind, Step};
use crate::selection::online::Online;
use crate::selection::{Call, Measure, Neighbourhood};
use std::sync::Arc;

/// Each stripe packs a few elements of up to this many bytes. Longer ones may be packed before the call.
const LONG_ELEMENT: usize = 64 << 10;

/// Decides how the calls of a communicator are served.
pub struct Planning {
    name: Name,
    schedules: Schedules,
    /// The layout of the shared memory, once the ranks have any.
    geometry: Option<Geometry>,
}

/// Who serves a call.
#[derive(Clone)]
pub enum Served {
    /// Nobody: no rank has anything to do.
    Nothing,
    /// The component below.
    Below,
    /// rustcoll, by messages or over shared memory.
    Here(CallPlan),
    /// rustcoll, by calls of other collectives.
    Calls(Arc<Deeds>),
}

/// Why a call cannot be served, or not yet.
pub enum Refusal {
    /// What all ranks must do first.
    Missing(Missing),
    /// The MPI error of an argument that is equal on all ranks of a right program.
    Argument(Error),
    /// An MPI error.
    Error(Error),
}

/// The plan by which rustcoll carries out a call, complete or not.
#[derive(Clone)]
pub enum CallPlan {
    Plan(Arc<Plan>),
    /// A plan that each call completes by an exchange of lengths.
    Exchange(Arc<LengthExchange>),
}

impl Refusal {
    /// Returns an MPI error. By now, something missing is an internal error.
    pub fn error(self) -> Error {
        match self {
            Refusal::Missing(_) => RUSTCOLL_ERR_INTERN,
            Refusal::Argument(error) | Refusal::Error(error) => error,
        }
    }
}

impl CallPlan {
    /// The plan that is carried out first.
    pub fn first(&self) -> &Plan {
        match self {
            CallPlan::Plan(plan) => plan,
            CallPlan::Exchange(exchange) => &exchange.plan,
        }
    }
}

/// Who serves a call, and who decided it.
#[derive(Clone)]
pub struct Planned {
    pub served: Served,
    /// Whether data with gaps are packed before the call and unpacked after it.
    pub is_packed: bool,
    pub decision: Decision,
    /// Whether the decision depended on shared memory.
    pub depends_on_memory: bool,
    /// How long the decision holds for the same call.
    pub lasting: Lasting,
}

impl Planning {
    /// Returns the planning of a new communicator. `info`: the info keys that it was created with.
    pub fn new(name: Name, info: Arc<Info>, nodes: Knowledge) -> Planning {
        Planning { name, schedules: Schedules::new(name, info, nodes), geometry: None }
    }

    /// Notes the layout of the shared memory; `None` if at least one rank could not get any.
    pub fn note_memory(&mut self, geometry: Option<Geometry>) {
        self.schedules.note_memory(geometry);
        self.geometry = geometry;
    }

    /// Returns for each rank whether it is on this rank's node; false if that is not known.
    pub fn neighbours(&self) -> Vec<bool> {
        self.schedules.neighbours()
    }

    /// Returns the map of nodes on which decisions may rest, from that which the ranks exchanged.
    pub fn corrected(&self, told: Nodes) -> Nodes {
        self.schedules.corrected(told)
    }

    /// Notes each rank's node, or the error with which the exchange failed at this rank.
    pub fn note_nodes(&mut self, nodes: Result<Nodes, Error>) {
        self.schedules.note_nodes(nodes);
    }

    /// Returns how many nodes there are, if all ranks know that before a blocking call.
    pub fn number_of_nodes(&self) -> Option<usize> {
        self.schedules.nodes().map(Nodes::number)
    }

    /// Whether the ranks have exchanged their nodes, even if that failed at this rank.
    pub fn are_nodes_told(&self) -> bool {
        self.schedules.are_nodes_told()
    }

    /// Fails if this rank failed to get the map of nodes.
    pub fn check_map(&self) -> Result<(), Error> {
        self.schedules.check_map()
    }

    /// Notes that MPI tells now how the ranks are spread over nodes.
    pub fn look_again(&mut self) {
        self.schedules.look_again();
    }

    /// Returns on what decisions about a collective depend besides the call, if other communicators may have the same in common.
    pub fn place(&self, collective: Collective, values: Values, form: Form) -> Option<Place> {
        self.schedules.place(collective, values, form)
    }

    /// Counts the first blocking calls, which do not use shared memory.
    pub fn spared(&self) -> Arc<Spared> {
        Arc::clone(self.schedules.spared())
    }

    /// Whether the decision about a call depends on shared memory. `graph`: as for [`Planning::plan`], which must decide the same.
    pub fn depends_on_memory(
        &mut self,
        arguments: &Arguments,
        values: Values,
        form: Form,
        graph: &Graph,
    ) -> bool {
        let call = described(arguments, values, self.name.group, graph.stencil());
        let call = self.schedules.located(&call, values, form);
        self.schedules.depends_on_memory(&call, values, form)
    }

    /// Returns the weight of a non-blocking call among the communicator's first ones; `None` if it does not count.
    pub fn weight(
        &mut self,
        arguments: &Arguments,
        values: Values,
        form: Form,
        graph: &Graph,
    ) -> Option<u64> {
        let call = described(arguments, values, self.name.group, graph.stencil());
        self.schedules.may_be_spared(&call, values, form).then(|| spared::weight(&call, false))
    }

    /// Whether decisions depend on all ranks having their neighbours at the same offsets of a grid.
    pub fn depends_on_stencil(&mut self, collective: Collective, values: Values) -> bool {
        self.schedules.depends_on_stencil(collective, values)
    }

    /// Whether decisions depend on each rank knowing the neighbours of all ranks of its node.
    pub fn depends_on_neighbours_of_node(&mut self, collective: Collective, values: Values) -> bool {
        self.schedules.depends_on_neighbours_of_node(collective, values)
    }

    /// Returns each rank's node, if all ranks know that before a blocking call.
    pub fn nodes(&self) -> Option<Nodes> {
        self.schedules.nodes().cloned()
    }

    /// Returns each rank's node, if every rank sees that without messages.
    pub fn seen_nodes(&self) -> Option<Nodes> {
        self.schedules.seen_nodes().cloned()
    }

    /// Notes that each rank knows this graph, of the neighbours of all ranks of its node, and each rank's node.
    pub fn note_neighbours_of_node(&mut self, nodes: Nodes, graph: &Graph) {
        self.schedules.note_neighbours_of_node(nodes, graph);
    }

    /// The trials of algorithms while the job runs.
    pub fn online(&mut self) -> &mut Online {
        self.schedules.online()
    }

    /// Decides who serves a call and plans it. `graph`: the neighbours, if it has any.
    pub fn plan(
        &mut self,
        arguments: &Arguments,
        values: Values,
        form: Form,
        graph: Graph,
    ) -> Result<Planned, Refusal> {
        let Planning { name, schedules, geometry } = self;
        let call = described(arguments, values, name.group, graph.stencil());
        let in_place = arguments.in_place && arguments.collective.has_in_place();
        let chosen = schedules.choose(&call, in_place, arguments.root, values, form, graph);
        let chosen = chosen.map_err(Refusal::Missing)?;
        let limit = values.scratch_limit();
        if limit < usize::MAX
            && let Some(selected) = &chosen.selected
            && let Some(needed) = largest_of(selected, arguments, *geometry).filter(|&needed| needed > limit)
        {
            scratch::report_limit(*name, call.collective, selected.algorithm, needed, limit);
            return Err(Refusal::Error(RUSTCOLL_ERR_NO_MEM));
        }
        planned(&call, chosen, arguments, name.group, *geometry).ok_or(Refusal::Error(RUSTCOLL_ERR_TRUNCATE))
    }
}

impl Planned {
    /// Returns the decision for calls of a communicator that has no memory yet.
    pub fn while_spared(self, spared: Arc<Spared>, weight: u64) -> Planned {
        let Decision { decided, .. } = self.decision;
        let decided = Decided::Without(Lack::SharedMemoryYet, Box::new(decided));
        let lasting = Lasting::WhileSpared(spared, weight);
        Planned { decision: Decision { decided, ..self.decision }, lasting, ..self }
    }

    /// Returns the decision as it holds on a communicator that counts its first calls in `spared`, or `None` if it does not hold there any more.
    /// Counts the call.
    pub fn following(self, spared: Arc<Spared>) -> Option<Planned> {
        match self.lasting {
            Lasting::WhileSpared(_, weight) if spared.is_next() && spared.count(weight) => {
                Some(Planned { lasting: Lasting::WhileSpared(spared, weight), ..self })
            }
            Lasting::WhileSpared(..) => None,
            _ => Some(self),
        }
    }

    /// Returns the decision for a call that moves no data.
    pub fn nothing() -> Planned {
        let decision = Decision::nothing_to_do();
        Planned {
            served: Served::Nothing,
            is_packed: false,
            decision,
            depends_on_memory: false,
            lasting: Lasting::Always,
        }
    }

    /// Counts this same call, if the decision depends on its number. Returns whether the decision holds for it.
    #[inline]
    pub fn count_repetition(&self) -> bool {
        match &self.lasting {
            Lasting::Always => true,
            Lasting::While(counter) => counter.passes(),
            Lasting::WhileSpared(spared, weight) => spared.count(*weight),
            Lasting::Tried(_) => false,
        }
    }

    /// Whether the call is one of the first, which send messages.
    pub fn is_spared(&self) -> bool {
        matches!(self.lasting, Lasting::WhileSpared(..))
    }

    /// Whether the communicator remembers the decision.
    pub fn is_kept(&self) -> bool {
        !matches!(self.lasting, Lasting::Tried(_))
    }

    /// Whether the call uses slots of shared memory.
    pub fn takes_slots(&self) -> bool {
        matches!(&self.served, Served::Here(program) if program.first().slots.is_some())
    }

    /// Returns the number of operations in the plan that is carried out first.
    pub fn operations(&self) -> usize {
        if let Served::Here(program) = &self.served { program.first().operations.len() } else { 0 }
    }

    /// Notes and logs what was decided about a call on a communicator of that name.
    pub fn tell(&self, communicator: Name, arguments: &Arguments) {
        let (collective, Decision { number, decided, .. }) = (arguments.collective, &self.decision);
        Settings::of(collective).note_ran(*number);
        log::debug!(
            "{communicator}: {} of {} bytes by {} ({decided})",
            collective.name(),
            arguments.measured_bytes(),
            word(collective, *number),
        );
    }
}

/// Returns what rules know of a call, except where its ranks are and what they share.
fn described(arguments: &Arguments, values: Values, group: Group, stencil: Option<&Stencil>) -> Call {
    let collective = arguments.collective;
    let has_equal_blocks = Measure::of(collective) != Measure::on_stencils(collective);
    Call {
        collective,
        size: group.all(),
        remote: group.remote,
        bytes: match stencil {
            Some(_) if has_equal_blocks => arguments.recv.counts.bytes(),
            _ => arguments.measured_bytes(),
        },
        longest: arguments.longest_block(),
        root: (collective.is_rooted() && group.remote == 0).then_some(arguments.root),
        commutative: arguments.operator.commutative != 0,
        // A choice must not depend on what one rank knows.
        in_place: arguments.in_place && collective.is_in_place_at_all_ranks(),
        reproducible: values.reproducible() && collective.reduces(),
        predefined: collective.reduces().then_some(arguments.operator.predefined != 0),
        // `Schedules::located` fills in the ranks' nodes and what they share.
        shares_memory: false,
        copies_singly: false,
        calls_others: false,
        knows_neighbours_of_node: false,
        is_on_several_nodes: false,
        nodes: None,
        ranks_per_node: None,
        goes_by_tcp: false,
        neighbourhood: stencil.map(Neighbourhood::from),
    }
}

/// Returns the bytes of temporary memory of the rank that takes the most, where all ranks can know it. All decide by
/// it: if one rank alone refused a call, the messages of the others would meet its next call.
fn largest_of(selected: &Selected, arguments: &Arguments, geometry: Option<Geometry>) -> Option<usize> {
    let Selected { algorithm, stripe, made_of: MadeOf::Messages(schedule, problem), .. } = *selected else {
        return None;
    };
    let Arguments { collective, ref send, ref recv, .. } = *arguments;
    let extent = if collective.reduces() { arguments.extent() } else { 1 };
    let bounds = geometry.filter(|_| schedule.slots > 0).map(|geometry| geometry.bounds(stripe));
    let slots = bounds.as_ref().map(|bounds| (extent, bounds));
    let needed = largest_need(algorithm, collective, problem, (&send.counts, &recv.counts), slots)?;
    Some(needed + arguments.most_copied_input(problem.size) * send.datatype().size)
}

/// Plans what was chosen. Returns `None` if a block is longer than the arguments say that blocks are.
fn planned(
    call: &Call,
    chosen: Chosen,
    arguments: &Arguments,
    group: Group,
    geometry: Option<Geometry>,
) -> Option<Planned> {
    let Chosen { decided, selected, depends_on_memory, lasting } = chosen;
    let collective = call.collective;
    let planned =
        |served, is_packed, decision| Planned { served, is_packed, decision, depends_on_memory, lasting };
    let Some(Selected { algorithm, number, shown, stripe, made_of }) = selected else {
        return Some(planned(Served::Below, false, Decision::below(decided)));
    };
    let decision = Decision { number, decided, served: shown.into() };
    let (schedule, problem) = match made_of {
        MadeOf::Messages(schedule, problem) => (schedule, problem),
        MadeOf::Calls(calls, problem) => {
            // Calls run in place even where a schedule would find a copy of the input instead.
            let problem = Problem { in_place: arguments.in_place, ..problem };
            let deeds = Deeds::new(collective, calls, &problem, group.rank, lengths(call, arguments));
            return Some(planned(Served::Calls(Arc::new(deeds)), false, decision));
        }
    };
    if schedule.slots > 0 {
        let geometry = geometry.expect("what takes shared memory is chosen where it is had");
        let bounds = geometry.bounds(stripe);
        let is_packed = is_packed_whole(arguments, schedule);
        let bindings = in_elements_and_bytes(arguments, schedule, group, is_packed);
        if let Some(exchange) =
            LengthExchange::in_slots(algorithm, problem, schedule, &bindings, is_packed, bounds)
        {
            let served = Served::Here(CallPlan::Exchange(Arc::new(exchange)));
            return Some(planned(served, is_packed, decision));
        }
        let plan = in_slots(arguments, schedule, &bindings, &bounds, is_packed);
        let extent = if collective.reduces() { arguments.extent() } else { 1 };
        // Other calls use the memory beyond. Only a rank that sends more than it expects of others needs more.
        if schedule.slots > geometry.slots() || !plan.keeps_to_slots(extent, &bounds) {
            return None;
        }
        let is_packed = plan.is_in_bytes && is_packed;
        let served = Served::Here(CallPlan::Plan(Arc::new(plan)));
        return Some(planned(served, is_packed, decision));
    }
    let is_packed = collective == Collective::Bcast && arguments.has_gaps() && schedule.blocks > 1;
    let packed = Counts::One { count: call.bytes, bytes: 1 };
    let (send, recv) = (&arguments.send.counts, if is_packed { &packed } else { &arguments.recv.counts });
    let Group { rank, size, remote } = group;
    let binding = match remote {
        0 => bind(collective, rank, schedule.blocks, send, recv),
        _ => bind_two_groups(collective, rank, (size, remote), schedule.blocks, send, recv),
    };
    let program = match LengthExchange::new(algorithm, problem, schedule, &binding) {
        Some(exchange) => CallPlan::Exchange(Arc::new(exchange)),
        None => CallPlan::Plan(Arc::new(Plan::with_gaps(schedule, binding, gap_between_vectors(arguments)))),
    };
    Some(planned(Served::Here(program), is_packed, decision))
}

/// Whether data with gaps are packed before a call that cuts them into stripes, and unpacked after it. Messages count
/// bytes, so their data must have no gaps. As to slots, only Open MPI's internal functions can begin within an element:
/// with MPI's functions, every stripe would pack its whole element.
fn is_packed_whole(arguments: &Arguments, schedule: &Schedule) -> bool {
    let sends = !arguments.collective.reduces() && schedule.steps.iter().any(Step::posts_own_blocks);
    let is_long = |side: &Side| is_preloaded() && side.datatype().size > LONG_ELEMENT;
    [&arguments.send, &arguments.recv]
        .into_iter()
        .any(|side| side.datatype().contiguous == 0 && side.counts.bytes() > 0 && (sends || is_long(side)))
}

/// Returns how many elements to leave free between vectors in temporary memory. Elements may interleave, as columns of a matrix
/// do: then one vector's fit between each other, but not those of two vectors. Elements without extent lie apart there, so MPI
/// cannot send two of them as a vector.
fn gap_between_vectors(arguments: &Arguments) -> usize {
    let has_elements = arguments.collective.reduces() || arguments.collective == Collective::Bcast;
    let datatype = arguments.element();
    let apart = datatype.extent.unsigned_abs();
    let interleaves = has_elements && apart < datatype.true_extent;
    match apart {
        _ if !interleaves => 0,
        0 => 1,
        _ => datatype.true_extent.div_ceil(apart),
    }
}

/// Returns the length of blocks in each buffer, and in the algorithm's own memory: elements for reductions, bytes for
/// all other collectives.
fn lengths(call: &Call, arguments: &Arguments) -> Lengths {
    let elements = |counts: &Counts| match counts {
        Counts::One { count, .. } => *count,
        // Mock-ups serve no collective with such counts.
        Counts::Each { .. } | Counts::Typed { .. } => 0,
    };
    let [send, recv] = [&arguments.send.counts, &arguments.recv.counts].map(elements);
    let own = if call.collective.reduces() { send.max(recv) } else { call.bytes };
    Lengths { send, recv, own }
}

/// Binds a call's blocks in elements, and in bytes, for a schedule with slots.
fn in_elements_and_bytes(
    arguments: &Arguments,
    schedule: &Schedule,
    group: Group,
    is_packed: bool,
) -> [Binding; 2] {
    let Arguments { collective, ref send, ref recv, .. } = *arguments;
    let binding = |send: &Counts, recv: &Counts| bind(collective, group.rank, schedule.blocks, send, recv);
    let bytes = |side: &Side| match is_packed && side.datatype().contiguous == 0 {
        true => side.counts.in_packed_bytes(),
        false => side.counts.in_bytes(),
    };
    [binding(&send.counts, &recv.counts), binding(&bytes(send), &bytes(recv))]
}

/// Returns the plan of a schedule with slots. Ranks must cut blocks into stripes at the same bytes, whatever their
/// datatypes. Reductions have the same elements on all ranks; all other collectives number bytes.
fn in_slots(
    arguments: &Arguments,
    schedule: &Schedule,
    [elements, bytes]: &[Binding; 2],
    bounds: &SlotBounds,
    is_packed: bool,
) -> Plan {
    let is_lent_packed = is_packed && schedule.slot_kind == SlotKind::Lent;
    match arguments.collective {
        collective if collective.reduces() => {
            Plan::in_stripes(schedule, elements, arguments.extent(), bounds)
        }
        collective if collective == Collective::Bcast || is_lent_packed => {
            Plan { is_in_bytes: true, ..Plan::in_stripes(schedule, bytes, 1, bounds) }
        }
        _ => Plan::through_slots(schedule, elements, bytes, bounds),
    }
}
