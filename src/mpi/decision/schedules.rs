//! Chooses the algorithms that serve a communicator's calls, and keeps their schedules.

use super::decided::{Decided, Lack};
use super::info::Info;
use super::rules;
use crate::algorithms::{
    Algorithm, Calls, Collective, Cut, Graph, Nodes, Parameter, Problem, Reason, Requirement,
};
use crate::engine::SlotBounds;
use crate::engine::mock_up::NoRoom;
use crate::mpi::calls::mock_up;
use crate::mpi::calls::precedents::Place;
use crate::mpi::messages::transport::Error;
use crate::mpi::messages::work::{Group, Name};
use crate::mpi::parameters::settings::{self, Values, name_below, number};
use crate::mpi::reporting::watch::Watcher;
use crate::mpi::shared_memory::geometry::Geometry;
use crate::mpi::shared_memory::nodes::{Knowledge, Spread};
use crate::mpi::shared_memory::spared::{self, Spared};
use crate::mpi::shim::bindings::rustcoll_shim_goes_by_tcp;
use crate::schedule::Schedule;
use crate::selection::online::{self, Counter, NextCall, Online};
use crate::selection::{Call, Choice, MOST_SEGMENTS, Parameters, Rule, Table};
use std::collections::BTreeSet;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// The most schedules that a communicator keeps; then it forgets all of them. Otherwise broadcasts from ever new roots
/// would fill the memory.
const MOST_SCHEDULES: usize = 64;

/// The choices and schedules of one rank of a communicator.
pub struct Schedules {
    name: Name,
    known: Vec<Known>,
    info: Arc<Info>,
    /// The rules that can match here, of the collectives that needed some.
    tables: Vec<(Collective, Tables)>,
    nodes: Knowledge,
    /// The node of each rank, once each rank knows the neighbours of all ranks of its node.
    nodes_of_neighbours: Option<Nodes>,
    /// Whether ranks have slots enough for their neighbours, if all are on one node.
    have_slots: bool,
    memory: SharedMemory,
    /// Counts the first blocking calls, which do not use shared memory.
    spared: Arc<Spared>,
    /// Forced algorithms whose refusal was reported.
    reported: BTreeSet<(Collective, &'static str)>,
    /// The trials of algorithms while the job runs.
    online: Online,
    /// Keeps calls watched while algorithms are tried: only then remembered calls are counted.
    _watcher: Option<Watcher>,
}

/// The rules of a collective.
struct Tables {
    /// Those of the communicator's info keys.
    own: Table,
    /// Those of the job.
    job: Arc<Table>,
}

/// What the form of a call allows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Form {
    /// Whether there is a component below that serves this form.
    pub has_below: bool,
    pub is_blocking: bool,
    /// Whether the call may use the map of nodes that ranks exchanged. MPI itself makes calls that may not: at some ranks before the exchange,
    /// at others after it. All ranks make the others behind the same exchange.
    pub uses_map: bool,
    /// Whether all ranks come to the call, so that it may wait for all of them before it is decided.
    pub all_come: bool,
    /// Whether the call may use shared memory, if the ranks can have any.
    pub may_share: bool,
    /// Whether calls of other collectives may serve it. Such inner calls must not be served by calls again: they would
    /// call each other without end.
    pub calls_others: bool,
}

/// What ranks must do before a call can be decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Exchange their nodes.
    Nodes,
    /// Find out whether they can share memory.
    SharedMemory,
    /// Exchange the times of those calls of this kind that tried algorithms.
    Times(Box<Call>),
}

/// Whether the ranks of each node share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedMemory {
    /// The ranks have not tried yet.
    Unknown,
    /// They do.
    Had {
        /// Whether they can copy from each other's own memory, too.
        copies_singly: bool,
    },
    /// At least one rank could not get its memory.
    Missing,
}

/// A schedule that was made before.
struct Known {
    collective: Collective,
    algorithm: &'static Algorithm,
    problem: Problem,
    schedule: Arc<Schedule>,
}

/// Who serves a call, and who decided it.
pub struct Chosen<'a> {
    pub decided: Decided,
    /// `None`: the component below serves it.
    pub selected: Option<Selected<'a>>,
    /// Whether the choice depended on shared memory.
    pub depends_on_memory: bool,
    /// How long the choice holds for the same call.
    pub lasting: Lasting,
}

/// How long a choice holds for the same call.
#[derive(Clone, Debug)]
pub enum Lasting {
    /// As long as nothing else changes.
    Always,
    /// While the counter lets calls pass: until the next call that tries an algorithm.
    While(Arc<Counter>),
    /// While the communicator's first calls send messages. Among them, this one has that weight.
    WhileSpared(Arc<Spared>, u64),
    /// For this call alone, which tries an algorithm for calls of this kind.
    Tried(Call),
}

/// The algorithm by which rustcoll serves a call.
pub struct Selected<'a> {
    pub algorithm: &'static Algorithm,
    /// Its number among the collective's algorithms, from 1.
    pub number: c_int,
    /// Its name with the parameters that shape its schedule or its stripes.
    pub shown: String,
    /// The longest part of a block in shared memory at a time, in bytes, if the user or a rule sets it.
    pub stripe: Option<usize>,
    pub made_of: MadeOf<'a>,
}

/// What an algorithm consists of.
pub enum MadeOf<'a> {
    /// The schedule of its messages, and the problem that it solves.
    Messages(&'a Arc<Schedule>, &'a Problem),
    /// Calls of other collectives, which solve this problem.
    Calls(&'static Calls, Problem),
}

impl Schedules {
    pub fn new(name: Name, info: Arc<Info>, nodes: Knowledge) -> Self {
        Schedules {
            name,
            known: Vec::new(),
            _watcher: info.tunes_online().then(Watcher::start),
            info,
            tables: Vec::new(),
            nodes,
            nodes_of_neighbours: None,
            have_slots: true,
            memory: SharedMemory::Unknown,
            spared: Arc::default(),
            reported: BTreeSet::new(),
            online: Online::new(settings::tune_from()),
        }
    }

    /// Returns who serves a call. All ranks get the same answer, because it depends only on what is equal on all
    /// ranks; `in_place` and `graph` only shape this rank's schedule. An error: what the ranks must do first.
    pub fn choose(
        &mut self,
        call: &Call,
        in_place: bool,
        root: usize,
        values: Values,
        form: Form,
        graph: Graph,
    ) -> Result<Chosen<'_>, Missing> {
        let may_be_spared =
            form.is_blocking && !self.spared.is_over() && self.may_be_spared(call, values, form);
        let is_spared = may_be_spared && self.spared.is_next();
        let form = Form { may_share: form.may_share && !is_spared, ..form };
        let kind = online::kind(call);
        let call = &self.located(call, values, form);
        let mut depends_on_memory = self.depends_on_memory(call, values, form);
        // A rank that did not know whether there is memory has kept a non-blocking call, and cannot fall back now.
        let has_below = form.has_below && (form.is_blocking || !depends_on_memory);
        let form = Form { has_below, ..form };
        let (mut choice, mut decided) = self.choice(call, values, form);
        let mut has_room = true;
        if let Some(algorithm) = choice.algorithm()
            && let Err(lack) = mock_up::check_room(algorithm, call)
        {
            has_room = false;
            self.report_lack_of_room(call.collective, algorithm, lack);
        }
        let call = &Call { calls_others: call.calls_others && has_room, ..*call };
        if !has_room {
            (choice, decided) = self.choice(call, values, form);
            depends_on_memory = self.depends_on_memory(call, values, form);
        }
        let is_explored = self.is_explored(call, &decided, values, form);
        let needs_nodes = is_explored || self.needs_nodes(call, choice, &decided, values);
        if form.is_blocking && form.all_come && call.nodes.is_none() && needs_nodes {
            return Err(Missing::Nodes);
        }
        if depends_on_memory && self.memory == SharedMemory::Unknown {
            return Err(Missing::SharedMemory);
        }
        let mut lasting = Lasting::Always;
        if is_explored && !is_spared {
            let usual = choice;
            (choice, lasting) = self.turn(call, kind, usual)?;
            decided = match lasting {
                Lasting::Tried(_) => Decided::Tried,
                _ if choice != usual => Decided::Learnt,
                _ => decided,
            };
            // Each rank may remember another part of the calls that are not tried.
            if !matches!(lasting, Lasting::Always) {
                self.online.count(&kind);
            }
        }
        // That a call shares no memory yet is no reason.
        let shares = |has: bool| has || is_spared;
        let lasting_call = Call {
            shares_memory: shares(call.shares_memory),
            copies_singly: shares(call.copies_singly),
            ..*call
        };
        self.report_refusal(&lasting_call, values, form);
        if may_be_spared {
            let weight = spared::weight(call, self.info.tunes_online());
            if self.spared.count(weight) {
                lasting = Lasting::WhileSpared(Arc::clone(&self.spared), weight);
            }
        }
        let lacks_memory = depends_on_memory && self.memory == SharedMemory::Missing;
        let lacks = [
            (lacks_memory, Lack::SharedMemory),
            (is_spared, Lack::SharedMemoryYet),
            (!has_room, Lack::RoomForCalls),
        ];
        let lacking = lacks.into_iter().filter_map(|(is_lacking, lack)| is_lacking.then_some(lack));
        let decided = lacking.fold(decided, |decided, lack| Decided::Without(lack, Box::new(decided)));
        let selected = match choice {
            Choice::Below => None,
            Choice::Use { algorithm, parameters } => {
                let mut problem = self.problem(call, algorithm, parameters, form);
                (problem.in_place, problem.root, problem.graph) = (in_place, root, graph);
                let number = number(call.collective, algorithm);
                let stripe = parameters.stripe(algorithm);
                let shown = describe(algorithm, &problem, stripe);
                let made_of = match algorithm.calls() {
                    Some(calls) => MadeOf::Calls(calls, problem),
                    None => {
                        let known = self.known(call.collective, algorithm, problem);
                        MadeOf::Messages(&known.schedule, &known.problem)
                    }
                };
                Some(Selected { algorithm, number, shown, stripe, made_of })
            }
        };
        Ok(Chosen { decided, selected, depends_on_memory, lasting })
    }

    /// Returns on what decisions about a collective depend besides the call, if other communicators may have the same in common.
    /// Decisions that are logged, even if only once, are each communicator's own.
    pub fn place(&self, collective: Collective, values: Values, form: Form) -> Option<Place> {
        let is_plain = !self.info.says_anything()
            && !self.info.tunes_online()
            && values.forced(collective).is_none()
            && collective.cut() != Cut::Edges
            && log::max_level() < log::LevelFilter::Info;
        let Schedules { name: Name { group, .. }, ref nodes, .. } = *self;
        let seen = if is_plain { nodes.untold()? } else { return None };
        Some(Place { collective, group, form, seen })
    }

    /// Counts the first blocking calls, which do not use shared memory.
    pub fn spared(&self) -> &Arc<Spared> {
        &self.spared
    }

    /// Whether algorithms are tried for calls like this one, given what decided it. The same on all ranks.
    fn is_explored(&self, call: &Call, decided: &Decided, values: Values, form: Form) -> bool {
        let is_ruled = matches!(decided, Decided::Rule(_));
        let is_plain = form.is_blocking && form.calls_others && call.remote == 0 && !call.reproducible;
        let has_limit = values.scratch_limit() < usize::MAX;
        self.info.tunes_online()
            && is_ruled
            && is_plain
            && call.is_length_known()
            && call.collective.cut() != Cut::Edges
            && !has_limit
    }

    /// Returns what serves the next call of a kind, and how long, if the rules choose `usual` for it.
    fn turn(&mut self, call: &Call, kind: Call, usual: Choice) -> Result<(Choice, Lasting), Missing> {
        if usual.algorithm().is_none_or(Algorithm::is_mock_up) {
            return Ok((usual, Lasting::Always));
        }
        // Calls of a kind differ in their root and, a little, in their length.
        let serves = |choice: &Choice| {
            choice.algorithm().is_some_and(|algorithm| call.is_served_by(algorithm).is_ok())
        };
        match self.online.turn(&kind, usual, || online::others(call, usual)) {
            NextCall::Gather => Err(Missing::Times(Box::new(kind))),
            NextCall::Usual => Ok((usual, Lasting::Always)),
            NextCall::Serve(choice, counter) => {
                Ok((choice.filter(serves).unwrap_or(usual), Lasting::While(counter)))
            }
            NextCall::Try(choice) => Ok((choice.filter(serves).unwrap_or(usual), Lasting::Tried(kind))),
        }
    }

    /// The trials of algorithms: the times of calls, and what follows from the times of all ranks.
    pub fn online(&mut self) -> &mut Online {
        &mut self.online
    }

    /// Whether the choice for a call depends on shared memory. Ranks learn at different times whether they have it, so a rank that does not
    /// know it yet must not choose for such a call.
    pub fn depends_on_memory(&mut self, call: &Call, values: Values, form: Form) -> bool {
        let with = Call { shares_memory: true, copies_singly: true, ..*call };
        let without =
            [true, false].map(|shares_memory| Call { shares_memory, copies_singly: false, ..*call });
        self.may_share(call, values, form) && {
            let (wished, decided) = self.choice(&with, values, form);
            wished.algorithm().is_some_and(Algorithm::takes_shared_memory)
                || (!decided.is_forced() && without.iter().any(|call| self.ruled(&with) != self.ruled(call)))
                || self.is_explored(call, &decided, values, form)
        }
    }

    /// Whether a call, if it is one of the first, goes by messages although its choice depends on shared memory. All
    /// ranks count alike: remembered calls count, too, and what a rank knows of the memory does not matter.
    pub fn may_be_spared(&mut self, call: &Call, values: Values, form: Form) -> bool {
        let call = self.located(call, values, form);
        self.depends_on_memory(&call, values, form) && {
            let (_, decided) =
                self.choice(&Call { shares_memory: true, copies_singly: true, ..call }, values, form);
            !decided.is_forced()
        }
    }

    /// Whether decisions about a collective depend on all ranks having their neighbours at the same offsets of a grid.
    /// The same on all ranks, whatever the arguments of their calls are.
    pub fn depends_on_stencil(&mut self, collective: Collective, values: Values) -> bool {
        self.may_take(collective, values, Table::depends_on_stencil, Algorithm::takes_stencil)
    }

    /// Whether a choice for a collective may need the neighbours of all ranks of the node. The same on all ranks, whatever
    /// the arguments of their calls are.
    pub fn depends_on_neighbours_of_node(&mut self, collective: Collective, values: Values) -> bool {
        let is_on_several = match self.nodes.known(true) {
            Spread::Nodes(nodes) => nodes.number() > 1,
            Spread::Several => true,
            Spread::Unknown => false,
        };
        let takes = |algorithm: &Algorithm| {
            let may_serve = !is_on_several || !algorithm.requires.contains(&Requirement::OneNode);
            algorithm.takes_neighbours_of_node() && may_serve
        };
        self.may_take(collective, values, |rules| rules.takes(takes), takes)
    }

    /// Whether a forced algorithm, or the rules that may decide, take something.
    fn may_take(
        &mut self,
        collective: Collective,
        values: Values,
        do_rules: impl Fn(&Table) -> bool,
        does: impl Fn(&Algorithm) -> bool,
    ) -> bool {
        let forced = self.info.forced(collective).unwrap_or_else(|| values.forced(collective));
        let do_rules_decide = forced.is_none_or(may_leave_it_to_rules);
        let Tables { own, job } = self.tables(&Call::new(collective, self.name.group.size, 0));
        // The communicator's own rules go before an algorithm that a parameter forces.
        forced.is_some_and(does) || do_rules(own) || (do_rules_decide && do_rules(job))
    }

    /// Returns the rule that decides: the matching one of the communicator, or else that of the job.
    fn ruled(&mut self, call: &Call) -> Option<*const Rule> {
        let Tables { own, job } = self.tables(call);
        own.rule(call).or_else(|| job.rule(call)).map(ptr::from_ref)
    }

    /// Whether the ranks may share memory for a call, if they can have any. Ranks on several nodes must exchange their
    /// nodes first.
    fn may_share(&self, call: &Call, values: Values, form: Form) -> bool {
        let is_located = form.is_blocking || self.map(form).nodes().is_some();
        let have_slots = self.have_slots || call.collective.cut() != Cut::Edges;
        form.may_share && is_located && have_slots && call.remote == 0 && values.may_share_memory()
    }

    /// Whether the choice or the chosen algorithm depends on the ranks' nodes; the same on all ranks.
    fn needs_nodes(&mut self, call: &Call, choice: Choice, decided: &Decided, values: Values) -> bool {
        let wished = self.wished(call, values).map(|algorithm| call.is_served_by(algorithm));
        let may_be_one =
            !call.is_on_several_nodes && matches!(wished, Some(Err(Reason::Unmet(Requirement::OneNode))));
        let Tables { own, job } = self.tables(call);
        let is_asked = match decided {
            Decided::Info => false,
            Decided::Parameter => own.depends_on_nodes(call),
            _ => own.depends_on_nodes(call) || (own.rule(call).is_none() && job.depends_on_nodes(call)),
        };
        // The ranks of two groups do not exchange their nodes.
        call.remote == 0 && (is_asked || may_be_one || choice.algorithm().is_some_and(Algorithm::takes_nodes))
    }

    /// Returns the call with what it may know of nodes, shared memory and calls of other collectives.
    pub fn located(&self, call: &Call, values: Values, form: Form) -> Call {
        let shares_memory = self.may_share(call, values, form) && self.memory != SharedMemory::Missing;
        let calls_others = form.calls_others && call.remote == 0 && !call.reproducible;
        let copies_singly = shares_memory && self.memory != SharedMemory::Had { copies_singly: false };
        let knows_neighbours_of_node =
            form.all_come && call.collective.cut() == Cut::Edges && self.nodes_of_neighbours.is_some();
        let goes_by_tcp = self.goes_by_tcp();
        let call = &Call {
            shares_memory,
            copies_singly,
            calls_others,
            knows_neighbours_of_node,
            goes_by_tcp,
            ..*call
        };
        match self.spread(call.collective, form) {
            Spread::Unknown => *call,
            Spread::Several => Call { is_on_several_nodes: true, ..*call },
            Spread::Nodes(nodes) => Call {
                is_on_several_nodes: nodes.number() > 1,
                goes_by_tcp: goes_by_tcp && nodes.number() > 1,
                nodes: Some(nodes.number()),
                ranks_per_node: Some(*nodes.populations().end()),
                ..*call
            },
        }
    }

    /// Whether messages between nodes go by TCP, as far as all ranks know.
    fn goes_by_tcp(&self) -> bool {
        match (settings::tcp(), self.nodes.known(false)) {
            (_, Spread::Nodes(_)) => false,
            (Some(goes), _) => goes,
            // SAFETY: the shim reads what the job's processes published when MPI was initialized.
            (None, Spread::Several) => unsafe { rustcoll_shim_goes_by_tcp() != 0 },
            (None, Spread::Unknown) => false,
        }
    }

    /// Notes the layout of the shared memory; `None` if at least one rank could not get any.
    pub fn note_memory(&mut self, geometry: Option<Geometry>) {
        let had = |Geometry { copies_singly, .. }| SharedMemory::Had { copies_singly };
        self.memory = geometry.map_or(SharedMemory::Missing, had);
    }

    /// Returns for each rank whether it is on this rank's node; false if that is not known.
    pub fn neighbours(&self) -> Vec<bool> {
        let Group { rank, size, .. } = self.name.group;
        match self.nodes().or(self.nodes_of_neighbours.as_ref()) {
            Some(nodes) => nodes.iter().map(|node| node == nodes.of(rank)).collect(),
            None => vec![false; size],
        }
    }

    /// Notes that each rank knows this graph, of the neighbours of all ranks of its node, and each rank's node.
    pub fn note_neighbours_of_node(&mut self, nodes: Nodes, graph: &Graph) {
        // Ranks of different nodes know different neighbours, but share no memory among neighbours.
        self.have_slots = nodes.number() > 1 || graph.most_sent() <= SlotBounds::slots(self.name.group.size);
        self.nodes_of_neighbours = Some(nodes);
    }

    fn map(&self, form: Form) -> Spread<'_> {
        self.nodes.known(form.uses_map)
    }

    /// Returns each rank's node, if all ranks know that before a blocking call.
    pub fn nodes(&self) -> Option<&Nodes> {
        self.nodes.known(true).nodes()
    }

    /// Returns each rank's node, if every rank sees that without messages.
    pub fn seen_nodes(&self) -> Option<&Nodes> {
        self.nodes.known(false).nodes()
    }

    /// What all ranks know of their nodes before a call. Of neighbourhood collectives MPI makes none itself.
    fn spread(&self, collective: Collective, form: Form) -> Spread<'_> {
        match &self.nodes_of_neighbours {
            Some(nodes) if form.all_come && collective.cut() == Cut::Edges => Spread::Nodes(nodes),
            _ => self.map(form),
        }
    }

    /// Returns the map of nodes on which decisions may rest, from that which the ranks exchanged.
    pub fn corrected(&self, told: Nodes) -> Nodes {
        self.nodes.corrected(told)
    }

    /// Notes each rank's node, or the error with which the exchange failed at this rank.
    pub fn note_nodes(&mut self, nodes: Result<Nodes, Error>) {
        // Who knows the neighbours of a node's ranks knows those of a part of them. One map must hold for all calls.
        if let (Some(known), Ok(nodes)) = (&mut self.nodes_of_neighbours, &nodes) {
            known.clone_from(nodes);
            self.have_slots |= nodes.number() > 1;
        }
        self.nodes.note(nodes);
    }

    /// Whether the ranks have exchanged their nodes, even if that failed at this rank.
    pub fn are_nodes_told(&self) -> bool {
        self.nodes.are_told()
    }

    /// Fails if this rank failed to get the map of nodes. The other ranks may have it, and decide by it.
    pub fn check_map(&self) -> Result<(), Error> {
        self.nodes.check()
    }

    /// Notes that MPI tells now how the ranks are spread over nodes.
    pub fn look_again(&mut self) {
        self.nodes.look_again();
    }

    /// Returns the choice for a call, and what decided it.
    fn choice(&mut self, call: &Call, values: Values, form: Form) -> (Choice, Decided) {
        // The order in which the component below reduces is unknown.
        let may_pass_on = form.has_below && !call.reproducible;
        let chosen = self
            .by_info(call, values)
            .or_else(|| self.by_parameter(call, values))
            .unwrap_or_else(|| self.by_rules(call, values));
        match chosen {
            (Choice::Below, _) if !may_pass_on => (first_that_serves(call, values), Decided::NoneBelow),
            chosen => chosen,
        }
    }

    /// Returns the choice of the communicator's info keys, if they make one.
    fn by_info(&mut self, call: &Call, values: Values) -> Option<(Choice, Decided)> {
        let algorithm = self.info.forced(call.collective).flatten();
        if let Some(choice) = algorithm.and_then(|algorithm| forced(algorithm, call, values)) {
            return Some((choice, Decided::Info));
        }
        let rule = self.tables(call).own.rule(call)?;
        let choice = shaped(rule.choice, |ruled| ruled.or(values.parameters()));
        Some((choice, Decided::Rule(rule.origin.clone())))
    }

    fn by_parameter(&self, call: &Call, values: Values) -> Option<(Choice, Decided)> {
        if self.info.forced(call.collective).is_some() {
            return None;
        }
        let choice = forced(values.forced(call.collective)?, call, values)?;
        Some((choice, Decided::Parameter))
    }

    /// Returns the forced algorithm that goes before the rules for a call, whether or not it can serve the call.
    fn wished(&mut self, call: &Call, values: Values) -> Option<&'static Algorithm> {
        if let Some(forced) = self.info.forced(call.collective) {
            return forced;
        }
        let has_own_rule = self.tables(call).own.rule(call).is_some();
        values.forced(call.collective).filter(|_| !has_own_rule)
    }

    /// Returns the choice of the job's rules. Parameters that the user sets take precedence over those of a rule.
    fn by_rules(&mut self, call: &Call, values: Values) -> (Choice, Decided) {
        match self.tables(call).job.rule(call) {
            Some(rule) => {
                let choice = shaped(rule.choice, |ruled| values.parameters().or(ruled));
                (choice, Decided::Rule(rule.origin.clone()))
            }
            None => (Choice::Below, Decided::NoRule),
        }
    }

    fn tables(&mut self, call: &Call) -> &Tables {
        let Schedules { tables, info, .. } = self;
        let known = tables.iter().position(|(collective, _)| *collective == call.collective);
        let place = known.unwrap_or_else(|| {
            let own = info.rules.for_communicator(call.collective, call.size, call.groups());
            let job = rules::table_of_job(call.collective, call.size, call.groups());
            tables.reserve_exact(1);
            tables.push((call.collective, Tables { own, job }));
            tables.len() - 1
        });
        &tables[place].1
    }

    /// Logs once for each communicator and algorithm, at rank 0 of each group, why a forced algorithm was not used.
    fn report_refusal(&mut self, call: &Call, values: Values, form: Form) {
        let Some(algorithm) = self.wished(call, values) else { return };
        let Err(reason) = call.is_served_by(algorithm) else { return };
        if self.reported.insert((call.collective, algorithm.name)) && self.name.group.rank == 0 {
            let instead = match !leaves_it_to_rules(&reason) && form.has_below && !call.reproducible {
                true => format!("{} serves it", name_below()),
                false => "another one runs".into(),
            };
            log::warn!(
                "{}: {} is forced for {}, but cannot serve this call: {reason}; {instead}",
                self.name,
                algorithm.name,
                call.collective.name()
            );
        }
    }

    /// Logs once for each communicator and algorithm why it has no room. Other reasons are not logged then.
    fn report_lack_of_room(&mut self, collective: Collective, algorithm: &'static Algorithm, lack: NoRoom) {
        let name = self.name;
        if self.reported.insert((collective, algorithm.name)) && self.name.group.rank == 0 {
            let (collective, remedy) = (collective.name(), mock_up::remedy(lack));
            log::warn!(
                "{name}: {} cannot serve {collective}: {lack}{remedy}; no mock-up runs",
                algorithm.name
            );
        }
    }

    /// Returns the problem that the algorithm must solve.
    fn problem(&self, call: &Call, algorithm: &Algorithm, parameters: Parameters, form: Form) -> Problem {
        let mut problem = Problem { remote: self.name.group.remote, ..Problem::new(self.name.group.all()) };
        if let (true, Spread::Nodes(nodes)) = (algorithm.takes_nodes(), self.spread(call.collective, form)) {
            problem.nodes = nodes.clone();
        }
        let problem = parameters.applied(algorithm, call.bytes, problem);
        self.report_cuts(call, algorithm, parameters, &problem);
        problem
    }

    /// Logs which of the requested parameters were cut.
    fn report_cuts(&self, call: &Call, algorithm: &Algorithm, parameters: Parameters, problem: &Problem) {
        let wanted =
            |parameter| parameters.get(parameter).filter(|_| algorithm.parameters.contains(&parameter));
        let (name, size) = (self.name, problem.size);
        if let Some(radix) = wanted(Parameter::Radix).filter(|radix| *radix != problem.radix) {
            log::info!("{name}: radix {radix} is cut to {}, for there are {size} ranks", problem.radix);
        }
        let segment = wanted(Parameter::Segment).filter(|_| algorithm.cuts_segments());
        let segments = segment.map(|segment| call.bytes.div_ceil(segment));
        if let Some(segments) = segments.filter(|segments| *segments > MOST_SEGMENTS) {
            log::info!("{name}: {segments} segments are cut to {MOST_SEGMENTS}");
        }
    }

    /// Returns an algorithm's schedule, remembered or new. Collectives share it; the log names each of them once.
    fn known(&mut self, collective: Collective, algorithm: &'static Algorithm, problem: Problem) -> &Known {
        let is_same = |known: &&Known| ptr::eq(known.algorithm, algorithm) && known.problem == problem;
        let is_it = |known: &Known| known.collective == collective && is_same(&known);
        let position = match self.known.iter().position(is_it) {
            Some(position) => position,
            None => {
                log::info!("{}: {} by {}", self.name, collective.name(), describe(algorithm, &problem, None));
                let of_another = self.known.iter().find(is_same).map(|known| Arc::clone(&known.schedule));
                let schedule = of_another
                    .unwrap_or_else(|| Arc::new(algorithm.schedule(&problem, self.name.group.rank)));
                if self.known.len() == MOST_SCHEDULES {
                    self.known.clear();
                }
                self.known.reserve_exact(1);
                self.known.push(Known { collective, algorithm, problem, schedule });
                self.known.len() - 1
            }
        };
        &self.known[position]
    }
}

/// Returns the forced algorithm if it can serve the call, or the component below. `None` leaves the call to rules.
fn forced(algorithm: &'static Algorithm, call: &Call, values: Values) -> Option<Choice> {
    match call.is_served_by(algorithm) {
        Ok(()) => Some(Choice::Use { algorithm, parameters: values.parameters() }),
        Err(reason) if leaves_it_to_rules(&reason) || call.reproducible => None,
        Err(_) => Some(Choice::Below),
    }
}

/// Whether rules decide a call that a forced algorithm cannot serve for this reason. Forcing an algorithm for one group leaves
/// it open what happens between two, and vice versa. The same holds for the other needs that only some calls can meet.
fn leaves_it_to_rules(reason: &Reason) -> bool {
    matches!(
        reason,
        Reason::Unmet(
            Requirement::OneGroup
                | Requirement::TwoGroups
                | Requirement::OneNode
                | Requirement::SharedMemory
                | Requirement::SingleCopy
                | Requirement::Predefined
                | Requirement::Stencil
                | Requirement::NeighboursOfNode
                | Requirement::OtherCollectives,
        )
    )
}

/// Whether rules decide some calls although this algorithm is forced.
fn may_leave_it_to_rules(algorithm: &Algorithm) -> bool {
    algorithm.requires.iter().any(|&requirement| leaves_it_to_rules(&Reason::Unmet(requirement)))
}

/// Returns the first registered algorithm that can serve the call, where no component below may.
fn first_that_serves(call: &Call, values: Values) -> Choice {
    let serving = call.collective.algorithms().find(|algorithm| call.is_served_by(algorithm).is_ok());
    serving.map_or(Choice::Below, |algorithm| Choice::Use { algorithm, parameters: values.parameters() })
}

/// Returns the choice with other parameters.
fn shaped(choice: Choice, shape: impl FnOnce(Parameters) -> Parameters) -> Choice {
    match choice {
        Choice::Below => Choice::Below,
        Choice::Use { algorithm, parameters } => Choice::Use { algorithm, parameters: shape(parameters) },
    }
}

/// Names an algorithm with the parameters that shape its schedule. `stripe`: bytes, if the user sets it.
fn describe(algorithm: &Algorithm, problem: &Problem, stripe: Option<usize>) -> String {
    let value = |parameter: &Parameter| match parameter {
        Parameter::Radix => format!(", radix {}", problem.radix),
        Parameter::Segment if algorithm.cuts_segments() => format!(", segments {}", problem.segments),
        Parameter::Segment => stripe.map_or(String::new(), |bytes| format!(", segment {bytes}")),
        Parameter::Window => format!(", window {}", problem.window),
    };
    let nodes =
        if algorithm.takes_nodes() { format!(", nodes {}", problem.nodes.number()) } else { String::new() };
    [algorithm.name.to_owned()]
        .into_iter()
        .chain(algorithm.parameters.iter().map(value))
        .chain([nodes])
        .collect()
}
