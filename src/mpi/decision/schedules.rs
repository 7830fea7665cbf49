//! Which algorithm serves a call on a communicator, and its schedules.

use super::decided::{Decided, Lack};
use super::info::Info;
use super::rules;
use crate::algorithms::{
    Algorithm, Calls, Collective, Cut, Graph, Nodes, Parameter, Problem, Reason, Requirement,
};
use crate::engine::mock_up::NoRoom;
use crate::mpi::calls::mock_up;
use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings::{self, Values, name_below, number};
use crate::mpi::reporting::watch::Watcher;
use crate::mpi::shared_memory::geometry::Geometry;
use crate::mpi::shared_memory::nodes::{Knowledge, Spread};
use crate::mpi::shared_memory::spared::Spared;
use crate::schedule::Schedule;
use crate::selection::online::{self, Counter, Online, Turn};
use crate::selection::{Call, Choice, MOST_SEGMENTS, Parameters, Rule, Table};
use std::collections::HashSet;
use std::ffi::c_int;
use std::ptr;
use std::sync::Arc;

/// A communicator keeps at most so many schedules; then it starts anew. Broadcasts from ever new roots would fill the
/// memory otherwise.
const MOST_SCHEDULES: usize = 64;

/// The schedules of one rank of a communicator.
pub struct Schedules {
    group: Group,
    /// How log lines begin.
    name: Arc<str>,
    known: Vec<Known>,
    /// What the communicator was created with.
    info: Info,
    /// By collective: the rules as far as they can match here, once they were asked.
    tables: [Option<Box<Tables>>; Collective::ALL.len()],
    nodes: Knowledge,
    memory: SharedMemory,
    /// The first calls that block.
    spared: Spared,
    /// Forced algorithms whose refusal was reported.
    reported: HashSet<(Collective, &'static str)>,
    /// What was tried so far.
    online: Online,
    /// Remembered calls are counted only while somebody wants to know of them.
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
    /// Whether there is a component below for it.
    pub has_below: bool,
    /// Whether it blocks. Nothing else knows what the ranks told each other of their nodes: MPI makes calls of its own
    /// that do not, when it duplicates a communicator, and these meet the exchange on some ranks before and on others
    /// after it.
    pub is_blocking: bool,
    /// Whether there is shared memory for it, if the ranks can have any.
    pub may_share: bool,
    /// Whether it may be served by calls of other collectives. Those that such calls bring about may not, lest they call each
    /// other for ever.
    pub calls_others: bool,
}

/// What ranks must do before a call can be decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// Tell each other their nodes.
    Nodes,
    /// Find out whether they can share memory.
    SharedMemory,
    /// Bring together how long calls of this kind took that were tried.
    Times(Call),
}

/// Whether the ranks of each node share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SharedMemory {
    /// Nobody has tried.
    Unknown,
    /// They do.
    Had {
        /// Whether they can copy from each other's own memory, too.
        copies_singly: bool,
    },
    /// One of them, at least, could not have it.
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
    /// Who decided it.
    pub decided: Decided,
    /// `None`: the component below serves it.
    pub selected: Option<Selected<'a>>,
    /// Whether it depended on memory that ranks share.
    pub depends_on_memory: bool,
    /// How long the same call is served so.
    pub lasting: Lasting,
}

/// How long the same call is served so.
#[derive(Clone, Debug)]
pub enum Lasting {
    /// As long as nothing else changes.
    Always,
    /// While the counter lets it pass.
    While(Arc<Counter>),
    /// For this call alone: it is one of the first ones.
    Once,
    /// For this call alone: it is one of this kind that are tried.
    Tried(Call),
}

/// What rustcoll serves a call by.
pub struct Selected<'a> {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its number among the collective's.
    pub number: c_int,
    /// Its name with the parameters that shape its schedule or its stripes.
    pub shown: String,
    /// The longest part of a block that is in shared memory at a time, in bytes, if there is a wish.
    pub stripe: Option<usize>,
    /// What it consists of.
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
    /// None yet, on a communicator that was created with some info keys.
    pub fn new(group: Group, name: Arc<str>, info: Info, nodes: Knowledge) -> Self {
        let tables = [const { None }; Collective::ALL.len()];
        Schedules {
            group,
            name,
            known: Vec::new(),
            _watcher: info.tunes_online().then(Watcher::start),
            info,
            tables,
            nodes,
            memory: SharedMemory::Unknown,
            spared: Spared::default(),
            reported: HashSet::new(),
            online: Online::new(settings::tune_from()),
        }
    }

    /// Who serves a call with these parameter values. All ranks come to the same answer, for all that it depends on is
    /// equal on all ranks; `in_place` and `graph` only shape this rank's schedule. An error: what the ranks must do first.
    pub fn choose(
        &mut self,
        call: &Call,
        in_place: bool,
        root: usize,
        values: Values,
        form: Form,
        graph: Graph,
    ) -> Result<Chosen<'_>, Missing> {
        let may_be_spared = self.may_be_spared(call, values, form);
        let is_spared = may_be_spared && self.spared.is_next();
        let form = Form { may_share: form.may_share && !is_spared, ..form };
        let kind = online::kind(call);
        let call = &self.located(call, values, form);
        let mut depends_on_memory = self.depends_on_memory(call, values, form);
        // A rank that did not know whether there is memory has kept a non-blocking call, and cannot pass it on now.
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
        let needs_nodes = is_explored || self.needs_nodes(call, choice, &decided);
        if form.is_blocking && call.nodes.is_none() && needs_nodes {
            return Err(Missing::Nodes);
        }
        if depends_on_memory && self.memory == SharedMemory::Unknown {
            return Err(Missing::SharedMemory);
        }
        let mut lasting = if is_spared { Lasting::Once } else { Lasting::Always };
        if is_explored && !is_spared {
            let usual = choice;
            (choice, lasting) = self.turn(call, kind, usual)?;
            decided = match lasting {
                Lasting::Tried(_) => Decided::Tried,
                _ if choice != usual => Decided::Learnt,
                _ => decided,
            };
            self.online.count(&kind);
        }
        if may_be_spared {
            self.spared.count();
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

    /// Whether algorithms are tried for such calls, of which that was decided. The same on all ranks.
    fn is_explored(&self, call: &Call, decided: &Decided, values: Values, form: Form) -> bool {
        let is_ruled = matches!(decided, Decided::Rule(_));
        let is_plain = form.is_blocking && form.calls_others && call.remote == 0 && !call.reproducible;
        let is_measured = call.collective == Collective::Barrier || call.is_measured();
        let has_limit = values.scratch_limit() < usize::MAX;
        self.info.tunes_online()
            && is_ruled
            && is_plain
            && is_measured
            && call.collective.cut() != Cut::Edges
            && !has_limit
    }

    /// What the next call of a kind is served by, if the rules choose that for it.
    fn turn(&mut self, call: &Call, kind: Call, usual: Choice) -> Result<(Choice, Lasting), Missing> {
        if usual.algorithm().is_none_or(Algorithm::is_mock_up) {
            return Ok((usual, Lasting::Always));
        }
        // Calls of a kind differ in their root and, a little, in their length.
        let serves = |choice: &Choice| {
            choice.algorithm().is_some_and(|algorithm| call.is_served_by(algorithm).is_ok())
        };
        match self.online.turn(&kind, usual, || online::others(call, usual)) {
            Turn::Gather => Err(Missing::Times(kind)),
            Turn::Usual => Ok((usual, Lasting::Always)),
            Turn::Serve(choice, counter) => {
                Ok((choice.filter(serves).unwrap_or(usual), Lasting::While(counter)))
            }
            Turn::Try(choice) => Ok((choice.filter(serves).unwrap_or(usual), Lasting::Tried(kind))),
        }
    }

    /// How long calls of a kind took that were tried, and what follows from what all ranks say of that.
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

    /// Whether a call that blocks goes by messages though shared memory would decide how it is served, if it is one of the first. All ranks
    /// count alike: what goes by messages so is not remembered, and what this rank knows of the memory does not matter.
    fn may_be_spared(&mut self, call: &Call, values: Values, form: Form) -> bool {
        let call = self.located(call, values, form);
        form.is_blocking && self.depends_on_memory(&call, values, form) && {
            let (_, decided) =
                self.choice(&Call { shares_memory: true, copies_singly: true, ..call }, values, form);
            !decided.is_forced()
        }
    }

    /// Whether it decides about calls of a collective if all ranks have their neighbours at the same offsets of a grid. The same on all ranks,
    /// whatever the arguments of their calls are.
    pub fn depends_on_stencil(&mut self, collective: Collective, values: Values) -> bool {
        let forced = self.info.forced(collective);
        if let Some(algorithm) = forced.flatten() {
            return algorithm.takes_stencil();
        }
        let parameter = values.forced(collective).filter(|_| forced.is_none());
        let Tables { own, job } = self.tables(&Call::new(collective, self.group.size, 0));
        own.depends_on_stencil()
            || parameter.map_or_else(|| job.depends_on_stencil(), Algorithm::takes_stencil)
    }

    /// Those of the communicator's and of the job's rules that match.
    fn ruled(&mut self, call: &Call) -> [Option<*const Rule>; 2] {
        let Tables { own, job } = self.tables(call);
        [own, job].map(|table| table.rule(call).map(ptr::from_ref))
    }

    /// Whether the ranks may share memory for a call, if they can have any. Those of several nodes tell each other first who is where,
    /// which only calls that block do.
    fn may_share(&self, call: &Call, values: Values, form: Form) -> bool {
        let is_located = form.is_blocking || matches!(self.nodes.known(false), Spread::Nodes(_));
        form.may_share && is_located && call.remote == 0 && values.may_share_memory()
    }

    /// Whether the choice, or what was chosen, depends on the ranks' nodes; the same on all ranks.
    fn needs_nodes(&mut self, call: &Call, choice: Choice, decided: &Decided) -> bool {
        let Tables { own, job } = self.tables(call);
        let is_asked = match decided {
            Decided::Info => false,
            Decided::Parameter => own.depends_on_nodes(call),
            _ => own.depends_on_nodes(call) || (own.rule(call).is_none() && job.depends_on_nodes(call)),
        };
        // Two groups do not tell each other.
        call.remote == 0 && (is_asked || choice.algorithm().is_some_and(Algorithm::takes_nodes))
    }

    /// A call with what it may know of the ranks' nodes.
    pub fn located(&self, call: &Call, values: Values, form: Form) -> Call {
        let shares_memory = self.may_share(call, values, form) && self.memory != SharedMemory::Missing;
        let calls_others = form.calls_others && call.remote == 0 && !call.reproducible;
        let copies_singly = shares_memory && self.memory != SharedMemory::Had { copies_singly: false };
        let call = &Call { shares_memory, copies_singly, calls_others, ..*call };
        match self.nodes.known(form.is_blocking) {
            Spread::Unknown => *call,
            Spread::Several => Call { is_on_several_nodes: true, ..*call },
            Spread::Nodes(nodes) => Call {
                is_on_several_nodes: nodes.number() > 1,
                nodes: Some(nodes.number()),
                ranks_per_node: Some(*nodes.populations().end()),
                ..*call
            },
        }
    }

    /// Notes how the memory lies that the ranks of each node share, if they do.
    pub fn note_memory(&mut self, geometry: Option<Geometry>) {
        let had = |Geometry { copies_singly, .. }| SharedMemory::Had { copies_singly };
        self.memory = geometry.map_or(SharedMemory::Missing, had);
    }

    /// Of each rank whether it is on this rank's node, as far as is known.
    pub fn neighbours(&self) -> Vec<bool> {
        let Group { rank, size, .. } = self.group;
        match self.nodes.known(true) {
            Spread::Nodes(nodes) => nodes.iter().map(|node| node == nodes.of(rank)).collect(),
            Spread::Several | Spread::Unknown => vec![false; size],
        }
    }

    /// Notes each rank's node.
    pub fn note_nodes(&mut self, nodes: Nodes) {
        self.nodes.note(nodes);
    }

    /// What is chosen, of what may be, and who chose it.
    fn choice(&mut self, call: &Call, values: Values, form: Form) -> (Choice, Decided) {
        // Nobody knows how the component below reduces.
        let may_pass_on = form.has_below && !call.reproducible;
        let chosen = self
            .by_info(call, values, may_pass_on)
            .or_else(|| self.by_parameter(call, values, may_pass_on))
            .unwrap_or_else(|| self.by_rules(call, values));
        match chosen {
            (Choice::Below, _) if !may_pass_on => (first_that_serves(call, values), Decided::NoneBelow),
            chosen => chosen,
        }
    }

    /// What the communicator's info keys say.
    fn by_info(&mut self, call: &Call, values: Values, may_pass_on: bool) -> Option<(Choice, Decided)> {
        let algorithm = self.info.forced(call.collective).flatten();
        if let Some(choice) =
            algorithm.and_then(|algorithm| self.forced(algorithm, call, values, may_pass_on))
        {
            return Some((choice, Decided::Info));
        }
        let rule = self.tables(call).own.rule(call)?;
        let choice = shaped(rule.choice, |ruled| ruled.or(values.parameters()));
        Some((choice, Decided::Rule(rule.origin.clone())))
    }

    fn by_parameter(&mut self, call: &Call, values: Values, may_pass_on: bool) -> Option<(Choice, Decided)> {
        if self.info.forced(call.collective).is_some() {
            return None;
        }
        let choice = self.forced(values.forced(call.collective)?, call, values, may_pass_on)?;
        Some((choice, Decided::Parameter))
    }

    /// What the job's rules say, which leave its parameters to the user.
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
        tables[call.collective as usize].get_or_insert_with(|| {
            let own = info.rules.for_communicator(call.collective, call.size, call.groups());
            Box::new(Tables { own, job: rules::table_of_job(call.collective, call.size, call.groups()) })
        })
    }

    /// The forced algorithm, if it can serve the call; `None` leaves it to the rules.
    fn forced(
        &mut self,
        algorithm: &'static Algorithm,
        call: &Call,
        values: Values,
        may_pass_on: bool,
    ) -> Option<Choice> {
        match call.is_served_by(algorithm) {
            Ok(()) => Some(Choice::Use { algorithm, parameters: values.parameters() }),
            // Whoever forces an algorithm for one group leaves it open what happens between two, and vice versa.
            // So does it what happens to calls that can share no memory, and those that cannot call others.
            Err(
                reason @ Reason::Unmet(
                    Requirement::OneGroup
                    | Requirement::TwoGroups
                    | Requirement::OneNode
                    | Requirement::SharedMemory
                    | Requirement::SingleCopy
                    | Requirement::Predefined
                    | Requirement::Stencil
                    | Requirement::OtherCollectives,
                ),
            ) => {
                self.report_refusal(call.collective, algorithm, &reason.to_string(), false);
                None
            }
            Err(reason) => {
                self.report_refusal(call.collective, algorithm, &reason.to_string(), may_pass_on);
                (!call.reproducible).then_some(Choice::Below)
            }
        }
    }

    /// Says once for each communicator (in each of its groups) and algorithm why a forced algorithm was not used.
    fn report_refusal(
        &mut self,
        collective: Collective,
        algorithm: &'static Algorithm,
        reason: &str,
        is_passed_on: bool,
    ) {
        if self.reported.insert((collective, algorithm.name)) && self.group.rank == 0 {
            let instead =
                if is_passed_on { format!("{} serves it", name_below()) } else { "another one runs".into() };
            log::warn!(
                "{}: {} is forced for {}, but cannot serve this call: {reason}; {instead}",
                self.name,
                algorithm.name,
                collective.name()
            );
        }
    }

    /// Says once for each communicator and algorithm why there is no room for one that was chosen. No other reason is told then.
    fn report_lack_of_room(&mut self, collective: Collective, algorithm: &'static Algorithm, lack: NoRoom) {
        let name = &self.name;
        if self.reported.insert((collective, algorithm.name)) && self.group.rank == 0 {
            let (collective, remedy) = (collective.name(), mock_up::remedy(lack));
            log::warn!(
                "{name}: {} cannot serve {collective}: {lack}{remedy}; no mock-up runs",
                algorithm.name
            );
        }
    }

    /// What the algorithm is asked.
    fn problem(&self, call: &Call, algorithm: &Algorithm, parameters: Parameters, form: Form) -> Problem {
        let mut problem = Problem { remote: self.group.remote, ..Problem::new(self.group.all()) };
        if let (true, Spread::Nodes(nodes)) = (algorithm.takes_nodes(), self.nodes.known(form.is_blocking)) {
            problem.nodes = nodes.clone();
        }
        let problem = parameters.applied(algorithm, call.bytes, problem);
        self.report_cuts(call, algorithm, parameters, &problem);
        problem
    }

    /// Says in the log which of the wanted parameters go too far.
    fn report_cuts(&self, call: &Call, algorithm: &Algorithm, parameters: Parameters, problem: &Problem) {
        let wanted =
            |parameter| parameters.get(parameter).filter(|_| algorithm.parameters.contains(&parameter));
        let (name, size) = (&self.name, problem.size);
        if let Some(radix) = wanted(Parameter::Radix).filter(|radix| *radix != problem.radix) {
            log::info!("{name}: radix {radix} is cut to {}, for there are {size} ranks", problem.radix);
        }
        let segment = wanted(Parameter::Segment).filter(|_| algorithm.cuts_segments());
        let segments = segment.map(|segment| call.bytes.div_ceil(segment));
        if let Some(segments) = segments.filter(|segments| *segments > MOST_SEGMENTS) {
            log::info!("{name}: {segments} segments are cut to {MOST_SEGMENTS}");
        }
    }

    /// The schedule of an algorithm, from memory or new. Collectives of one algorithm share it; the log names each of them once.
    fn known(&mut self, collective: Collective, algorithm: &'static Algorithm, problem: Problem) -> &Known {
        let is_same = |known: &&Known| ptr::eq(known.algorithm, algorithm) && known.problem == problem;
        let is_it = |known: &Known| known.collective == collective && is_same(&known);
        let position = match self.known.iter().position(is_it) {
            Some(position) => position,
            None => {
                log::info!("{}: {} by {}", self.name, collective.name(), describe(algorithm, &problem, None));
                let of_another = self.known.iter().find(is_same).map(|known| Arc::clone(&known.schedule));
                let schedule =
                    of_another.unwrap_or_else(|| Arc::new(algorithm.schedule(&problem, self.group.rank)));
                if self.known.len() == MOST_SCHEDULES {
                    self.known.clear();
                }
                self.known.push(Known { collective, algorithm, problem, schedule });
                self.known.len() - 1
            }
        };
        &self.known[position]
    }
}

/// Where nothing is below, or may be: the first registered algorithm that can serve the call.
fn first_that_serves(call: &Call, values: Values) -> Choice {
    let serving = call.collective.algorithms().find(|algorithm| call.is_served_by(algorithm).is_ok());
    serving.map_or(Choice::Below, |algorithm| Choice::Use { algorithm, parameters: values.parameters() })
}

/// A choice with other parameters.
fn shaped(choice: Choice, shape: impl FnOnce(Parameters) -> Parameters) -> Choice {
    match choice {
        Choice::Below => Choice::Below,
        Choice::Use { algorithm, parameters } => Choice::Use { algorithm, parameters: shape(parameters) },
    }
}

/// An algorithm with the parameters that shape its schedule, and how long the user wants stripes of it.
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
