//! How calls on a communicator are served: who does, and by which plan.

use super::arguments::Arguments;
use super::decision::Decision;
use super::info::Info;
use super::nodes::{Knowledge, Nodes};
use super::schedules::{Chosen, Form, MadeOf, Missing, Schedules, Served};
use super::segment::Geometry;
use super::settings::{Settings, Values, word};
use super::work::Group;
use crate::algorithms::{Collective, Graph, Problem};
use crate::engine::call::{Counts, bind, bind_two_groups};
use crate::engine::calls::{Deeds, Lengths};
use crate::engine::{LengthExchange, Plan, SlotBounds};
use crate::schedule::Schedule;
use crate::selection::Call;
use std::sync::Arc;

/// What decides how calls are served.
pub struct Planning {
    group: Group,
    /// How log lines begin.
    name: Arc<str>,
    schedules: Schedules,
    /// How the memory lies that the ranks of each node share, once they do.
    geometry: Option<Geometry>,
    last: Last,
}

/// By collective: how the last call was served that may not call others, and that may. Programs repeat themselves.
type Last = [[Option<Prepared>; 2]; Collective::ALL.len()];

const NONE_YET: Last = [const { [const { None }; 2] }; Collective::ALL.len()];

/// A call's shape and what serves it.
struct Prepared {
    shape: Shape,
    decision: Decision,
    service: Service,
}

/// What serves calls of one shape.
enum Service {
    /// The component below.
    Below,
    /// A plan.
    Planned(Planned),
    /// Calls of other collectives.
    Calls(Arc<Deeds>),
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
    form: Form,
}

/// What becomes of a call.
pub enum Outcome {
    /// What all ranks must do first.
    Missing(Missing),
    /// A block is longer than the arguments say that blocks are.
    TooLong,
    /// The component below serves it.
    Below(Decision),
    /// rustcoll does.
    Here(Planned),
    /// rustcoll does by calls of other collectives.
    Calls(Arc<Deeds>, Decision),
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
    pub fn first(&self) -> &Plan {
        match self {
            Program::Plan(plan) => plan,
            Program::Exchange(exchange) => &exchange.plan,
        }
    }
}

/// What serves a call here.
#[derive(Clone)]
pub struct Planned {
    /// The program.
    pub program: Program,
    /// Whether a broadcast's data are packed for it.
    pub is_packed: bool,
    /// What was decided.
    pub decision: Decision,
}

impl Planning {
    /// Nothing was decided yet on a communicator that was created with some info keys.
    pub fn new(group: Group, name: Arc<str>, info: Info, nodes: Knowledge) -> Planning {
        let schedules = Schedules::new(group, Arc::clone(&name), info, nodes);
        Planning { group, name, schedules, geometry: None, last: NONE_YET }
    }

    /// Notes how the memory lies that the ranks of each node share, if they could have any. What was decided without
    /// knowing is decided anew.
    pub fn note_memory(&mut self, geometry: Option<Geometry>) {
        self.schedules.note_memory(geometry.is_some());
        self.geometry = geometry;
        self.last = NONE_YET;
    }

    /// Of each rank whether it is on this rank's node.
    pub fn neighbours(&self) -> Vec<bool> {
        self.schedules.neighbours()
    }

    /// Notes each rank's node.
    pub fn note_nodes(&mut self, nodes: Nodes) {
        self.schedules.note_nodes(nodes);
    }

    /// Decides who serves a call and plans it, unless the last call was alike. `graph`: the neighbours, where it has any.
    pub fn plan(&mut self, arguments: &Arguments, values: Values, form: Form, graph: &Graph) -> Outcome {
        let Planning { group, name, schedules, geometry, last } = self;
        let last = &mut last[arguments.collective as usize][usize::from(form.calls_others)];
        let prepared = match last {
            Some(prepared) if prepared.shape.is_of(arguments, values, form) => prepared,
            _ => {
                let shape = Shape::new(arguments, values, form, *group);
                let in_place = shape.in_place && arguments.collective.has_in_place();
                let graph = graph.clone();
                let chosen = schedules.choose(&shape.call, in_place, shape.root, values, form, graph);
                let chosen = match chosen {
                    Ok(chosen) => chosen,
                    Err(missing) => return Outcome::Missing(missing),
                };
                match prepared(shape, chosen, arguments, *group, *geometry) {
                    Some(prepared) => last.insert(prepared),
                    None => return Outcome::TooLong,
                }
            }
        };
        prepared.tell(name);
        match &prepared.service {
            Service::Planned(planned) => Outcome::Here(planned.clone()),
            Service::Calls(deeds) => Outcome::Calls(Arc::clone(deeds), prepared.decision.clone()),
            Service::Below => Outcome::Below(prepared.decision.clone()),
        }
    }
}

impl Prepared {
    /// Notes and logs what was decided.
    fn tell(&self, communicator: &str) {
        let Prepared { shape: Shape { call, .. }, decision, .. } = self;
        Settings::of(call.collective).note_ran(decision.number);
        log::debug!(
            "{communicator}: {} of {} bytes by {} ({})",
            call.collective.name(),
            call.bytes,
            word(call.collective, decision.number),
            decision.decided
        );
    }
}

impl Shape {
    fn new(arguments: &Arguments, values: Values, form: Form, group: Group) -> Shape {
        let &Arguments { in_place, root, .. } = arguments;
        let call = described(arguments, values, group);
        let (send, recv) = (arguments.send.counts.clone(), arguments.recv.counts.clone());
        Shape { call, in_place, root, values, send, recv, has_gaps: arguments.has_gaps(), form }
    }

    /// Whether a call with these arguments has this shape. Compares, where [`Shape::new`] would compute and allocate.
    fn is_of(&self, arguments: &Arguments, values: Values, form: Form) -> bool {
        self.values == values
            && self.form == form
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
        // The ranks' nodes and what they share are looked at when something is chosen.
        shares_memory: false,
        calls_others: false,
        is_on_several_nodes: false,
        nodes: None,
        ranks_per_node: None,
    }
}

/// Plans what was chosen; `None` if the counts contradict each other.
fn prepared(
    shape: Shape,
    chosen: Chosen,
    arguments: &Arguments,
    group: Group,
    geometry: Option<Geometry>,
) -> Option<Prepared> {
    let Chosen { decided, served } = chosen;
    let collective = shape.call.collective;
    let Some(Served { algorithm, number, shown, stripe, made_of }) = served else {
        let decision = Decision::below(collective, group, decided);
        return Some(Prepared { shape, decision, service: Service::Below });
    };
    let schedule = match made_of {
        MadeOf::Messages(schedule) => schedule,
        MadeOf::Calls(calls, problem) => {
            let decision = Decision::new(collective, group, number, shown, decided);
            // Also where a schedule would find a copy of the input instead.
            let problem = Problem { in_place: shape.in_place, ..problem };
            let deeds = Deeds::new(collective, calls, &problem, group.rank, lengths(&shape));
            return Some(Prepared { shape, decision, service: Service::Calls(Arc::new(deeds)) });
        }
    };
    let is_packed = collective == Collective::Bcast && shape.has_gaps && schedule.blocks > 1;
    let packed = Counts::One { count: shape.call.bytes, bytes: 1 };
    let recv = if is_packed { &packed } else { &shape.recv };
    let Group { rank, size, remote } = group;
    if schedule.slots > 0 {
        let geometry = geometry.expect("what takes shared memory is chosen where it is had");
        let bounds = geometry.bounds(stripe);
        let plan = in_slots(&shape, arguments, schedule, &bounds, group);
        let extent = if collective.reduces() { arguments.extent() } else { 1 };
        // Beyond its slots lies what other calls use. Only who sends more than it expects of others needs more.
        if schedule.slots > geometry.slots || !plan.keeps_to_slots(extent, &bounds) {
            return None;
        }
        let decision = Decision::new(collective, group, number, shown, decided);
        let planned =
            Planned { program: Program::Plan(Arc::new(plan)), is_packed: false, decision: decision.clone() };
        return Some(Prepared { shape, decision, service: Service::Planned(planned) });
    }
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
    Some(Prepared { shape, decision, service: Service::Planned(planned) })
}

/// How long blocks are in each buffer, and in memory of the algorithm's own: reductions need elements there, everything else
/// keeps bytes.
fn lengths(shape: &Shape) -> Lengths {
    let elements = |counts: &Counts| match counts {
        Counts::One { count, .. } => *count,
        // Algorithms made of calls serve no such.
        Counts::Each { .. } | Counts::Typed { .. } => 0,
    };
    let [send, recv] = [&shape.send, &shape.recv].map(elements);
    let own = if shape.call.collective.reduces() { send.max(recv) } else { shape.call.bytes };
    Lengths { send, recv, own }
}

/// The plan of a schedule with slots. Where blocks are cut into stripes, ranks must cut them at the same bytes, whatever
/// their datatypes: reductions have the same elements on all ranks, of all else the bytes are numbered.
fn in_slots(
    shape: &Shape,
    arguments: &Arguments,
    schedule: &Schedule,
    bounds: &SlotBounds,
    group: Group,
) -> Plan {
    let collective = shape.call.collective;
    let plan = |send: &Counts, recv: &Counts, extent| {
        let binding = bind(collective, group.rank, schedule.blocks, send, recv);
        Plan::in_stripes(schedule, &binding, extent, bounds)
    };
    if collective.reduces() {
        return plan(&shape.send, &shape.recv, arguments.extent());
    }
    match Some(plan(&shape.send, &shape.recv, 1)).filter(|plan| plan.stripes() == 1) {
        Some(whole) if collective != Collective::Bcast => whole,
        _ => Plan { is_in_bytes: true, ..plan(&shape.send.in_bytes(), &shape.recv.in_bytes(), 1) },
    }
}
