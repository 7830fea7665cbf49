//! Which algorithm serves a call on a communicator, and its schedules.

use super::parameters::{Values, number};
use super::work::Group;
use crate::algorithms::{
    Algorithm, Collective, Graph, Parameter, Problem, REGISTRY, Reason, Requirement, default_radix,
    legal_radix,
};
use crate::schedule::Schedule;
use crate::selection::{Call, Choice, Origin, Parameters, Rules, Table};
use std::collections::HashSet;
use std::ffi::c_int;
use std::fmt;
use std::ptr;
use std::sync::{Arc, LazyLock};

/// A communicator keeps at most so many schedules; then it starts anew. Broadcasts from ever new roots would fill the
/// memory otherwise.
const MOST_SCHEDULES: usize = 64;

/// A vector is cut into at most so many segments, however short the user wants them.
const MOST_SEGMENTS: usize = 16384;

/// The schedules of one rank of a communicator.
pub struct Schedules {
    group: Group,
    /// How log lines begin.
    name: String,
    known: Vec<Known>,
    /// By collective: the rules as far as they can match here, once they were asked.
    tables: [Option<Table>; Collective::ALL.len()],
    /// The number of each rank's node, once it was asked for.
    nodes: Option<Arc<[u32]>>,
    /// Forced algorithms whose refusal was reported.
    reported: HashSet<(Collective, &'static str)>,
}

/// A schedule that was made before.
struct Known {
    algorithm: &'static Algorithm,
    problem: Problem,
    schedule: Arc<Schedule>,
}

/// Who serves a call, and who decided it.
pub struct Chosen<'a> {
    /// Who decided it.
    pub decided: Decided,
    /// `None`: the component below serves it.
    pub served: Option<Served<'a>>,
}

/// What this component serves a call by.
pub struct Served<'a> {
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its number among the collective's.
    pub number: c_int,
    /// Its schedule.
    pub schedule: &'a Arc<Schedule>,
}

/// Who decided how a call is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// A parameter that forces an algorithm, also if that cannot serve the call.
    Parameter,
    /// The rule that stands there.
    Rule(Origin),
    /// No rule matches.
    NoRule,
    /// What was decided is the component below, but it must not serve the call, or there is none.
    NoneBelow,
    /// The call moves no data.
    NothingToDo,
}

impl fmt::Display for Decided {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Decided::Parameter => formatter.write_str("forced"),
            Decided::Rule(origin) => write!(formatter, "{origin}"),
            Decided::NoRule => formatter.write_str("no rule"),
            Decided::NoneBelow => formatter.write_str("nothing below"),
            Decided::NothingToDo => formatter.write_str("nothing to do"),
        }
    }
}

impl Schedules {
    /// None yet.
    pub fn new(group: Group, identifier: u32) -> Self {
        let name = format!("{group}, communicator {identifier}");
        let tables = [const { None }; Collective::ALL.len()];
        Schedules { group, name, known: Vec::new(), tables, nodes: None, reported: HashSet::new() }
    }

    /// Who serves a call with these parameter values. All ranks come to the same answer, for all that it depends on is
    /// equal on all ranks; `in_place` and `graph` only shape this rank's schedule.
    pub fn choose(
        &mut self,
        call: &Call,
        in_place: bool,
        root: usize,
        values: Values,
        has_below: bool,
        graph: Graph,
    ) -> Chosen<'_> {
        let (choice, decided) = self.choice(call, values, has_below);
        let served = match choice {
            Choice::Below => None,
            Choice::Use { algorithm, parameters } => {
                let mut problem = self.problem(call, algorithm, values, parameters);
                (problem.in_place, problem.root, problem.graph) = (in_place, root, graph);
                let number = number(algorithm);
                Some(Served { algorithm, number, schedule: self.schedule(algorithm, problem) })
            }
        };
        Chosen { decided, served }
    }

    /// Whether the ranks' nodes must be asked for before a call is served; the same on all ranks.
    pub fn lack_nodes(&mut self, call: &Call, values: Values, has_below: bool) -> bool {
        self.nodes.is_none()
            && self.choice(call, values, has_below).0.algorithm().is_some_and(Algorithm::takes_nodes)
    }

    /// Notes the number of each rank's node.
    pub fn note_nodes(&mut self, nodes: Arc<[u32]>) {
        self.nodes = Some(nodes);
    }

    /// What is chosen, of what may be, and who chose it.
    fn choice(&mut self, call: &Call, values: Values, has_below: bool) -> (Choice, Decided) {
        // Nobody knows how the component below reduces.
        let may_pass_on = has_below && !call.reproducible;
        let forced =
            values.forced(call.collective).and_then(|algorithm| self.forced(algorithm, call, may_pass_on));
        let (choice, decided) = match forced {
            Some(choice) => (choice, Decided::Parameter),
            None => self.by_rules(call),
        };
        match choice {
            Choice::Below if !may_pass_on => (first_that_serves(call), Decided::NoneBelow),
            _ => (choice, decided),
        }
    }

    /// The forced algorithm, if it can serve the call; `None` leaves it to the rules.
    fn forced(&mut self, algorithm: &'static Algorithm, call: &Call, may_pass_on: bool) -> Option<Choice> {
        match call.is_served_by(algorithm) {
            Ok(()) => Some(Choice::Use { algorithm, parameters: Parameters::default() }),
            // Whoever forces an algorithm for one group leaves it open what happens between two, and vice versa.
            Err(reason @ Reason::Unmet(Requirement::OneGroup | Requirement::TwoGroups)) => {
                self.report_refusal(algorithm, &reason.to_string(), false);
                None
            }
            Err(reason) => {
                self.report_refusal(algorithm, &reason.to_string(), may_pass_on);
                (!call.reproducible).then_some(Choice::Below)
            }
        }
    }

    fn by_rules(&mut self, call: &Call) -> (Choice, Decided) {
        let table = self.tables[call.collective as usize].get_or_insert_with(|| {
            Rules::built_in().for_communicator(call.collective, call.size, call.groups())
        });
        match table.rule(call) {
            Some(rule) => (rule.choice, Decided::Rule(rule.origin.clone())),
            None => (Choice::Below, Decided::NoRule),
        }
    }

    /// Says once for each communicator (in each of its groups) and algorithm why a forced algorithm was not used.
    fn report_refusal(&mut self, algorithm: &'static Algorithm, reason: &str, is_passed_on: bool) {
        let collective = algorithm.collective;
        if self.reported.insert((collective, algorithm.name)) && self.group.rank == 0 {
            let instead = if is_passed_on { "the component below serves it" } else { "another one runs" };
            log::warn!(
                "{}: {} is forced for {}, but cannot serve this call: {reason}; {instead}",
                self.name,
                algorithm.name,
                collective.name()
            );
        }
    }

    /// What the algorithm is asked, with the user's parameters before the rule's.
    fn problem(&self, call: &Call, algorithm: &Algorithm, values: Values, parameters: Parameters) -> Problem {
        let mut problem = Problem { remote: self.group.remote, ..Problem::new(self.group.all()) };
        if algorithm.takes_nodes() {
            problem.nodes = self.nodes.clone().unwrap_or_default();
        }
        for &parameter in algorithm.parameters {
            let ruled = parameters.get(parameter);
            match parameter {
                Parameter::Radix => {
                    let wanted = values.radix().or(ruled).unwrap_or(default_radix(self.group.all()));
                    problem.radix = self.radix(wanted);
                }
                Parameter::Segment => {
                    let segment = values.segment().or(ruled).unwrap_or(usize::MAX);
                    problem.segments = self.segments(call.bytes.div_ceil(segment).max(1));
                }
                Parameter::Window => problem.window = values.window().or(ruled).unwrap_or(problem.window),
            }
        }
        problem
    }

    fn radix(&self, wanted: usize) -> usize {
        let radix = legal_radix(wanted, self.group.all());
        if radix != wanted {
            log::info!(
                "{}: radix {wanted} is cut to {radix}, for there are {} ranks",
                self.name,
                self.group.all()
            );
        }
        radix
    }

    fn segments(&self, wanted: usize) -> usize {
        if wanted > MOST_SEGMENTS {
            log::info!("{}: {wanted} segments are cut to {MOST_SEGMENTS}", self.name);
        }
        wanted.min(MOST_SEGMENTS)
    }

    /// The schedule of an algorithm, from memory or new.
    fn schedule(&mut self, algorithm: &'static Algorithm, problem: Problem) -> &Arc<Schedule> {
        let is_it = |known: &Known| ptr::eq(known.algorithm, algorithm) && known.problem == problem;
        let position = self.known.iter().position(is_it).unwrap_or_else(|| {
            log::info!(
                "{}: {} by {}{}",
                self.name,
                algorithm.collective.name(),
                algorithm.name,
                describe(algorithm, &problem)
            );
            if self.known.len() == MOST_SCHEDULES {
                self.known.clear();
            }
            let schedule = Arc::new((algorithm.schedule)(&problem, self.group.rank));
            self.known.push(Known { algorithm, problem, schedule });
            self.known.len() - 1
        });
        &self.known[position].schedule
    }
}

/// Whether any algorithm of a collective takes the ranks' nodes.
pub fn may_take_nodes(collective: Collective) -> bool {
    static TAKING: LazyLock<Vec<Collective>> = LazyLock::new(|| {
        let taking = REGISTRY.iter().filter(|algorithm| algorithm.takes_nodes());
        taking.map(|algorithm| algorithm.collective).collect()
    });
    TAKING.contains(&collective)
}

/// Where nothing is below, or may be: the first registered algorithm that can serve the call.
fn first_that_serves(call: &Call) -> Choice {
    let serving = call.collective.algorithms().find(|algorithm| call.is_served_by(algorithm).is_ok());
    serving.map_or(Choice::Below, |algorithm| Choice::Use { algorithm, parameters: Parameters::default() })
}

/// The parameters that shape a schedule, for the log.
fn describe(algorithm: &Algorithm, problem: &Problem) -> String {
    let value = |parameter: &Parameter| match parameter {
        Parameter::Radix => format!(", radix {}", problem.radix),
        Parameter::Segment => format!(", segments {}", problem.segments),
        Parameter::Window => format!(", window {}", problem.window),
    };
    let nodes = problem.nodes.iter().max().map_or(1, |last| last + 1);
    let nodes = if algorithm.takes_nodes() { format!(", nodes {nodes}") } else { String::new() };
    algorithm.parameters.iter().map(value).chain([nodes]).collect()
}
