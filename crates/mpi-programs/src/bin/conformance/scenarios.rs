//! Tests that involve more than a single call.

use std::error::Error;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use expected_results::random::combine;
use mpi_programs::call::Elements;
use mpi_programs::call::{Arguments, Call};
use mpi_programs::clock;
use mpi_programs::communicator::Communicator;
use mpi_programs::component::{self, AUTO, Component, number};
use mpi_programs::datatype::Datatype;
use mpi_programs::environment;
use mpi_programs::invocation::Form;
use mpi_programs::operator::{Arithmetic, Operator};
use mpi_programs::preloaded;
use mpi_programs::tools::ControlVariable;
use mpi_programs::topology::Topology;
use rustcoll::algorithms::{Collective, Cut, Requirement};

use crate::case::Case;
use crate::progress::Progress;
use crate::report::Report;
use crate::run::{self, Trial};
use crate::shape::{Shape, Sides};
use crate::{Session, Subject, name};

type Outcome = Result<(), Box<dyn Error>>;

/// Number of communicators that are made and freed.
const GENERATIONS: usize = 200;
/// How often persistent operations are restarted.
const STARTS: usize = 10;
/// How much later than the others a rank enters a barrier.
const LATENESS: Duration = Duration::from_millis(1);

type Scenario = fn(&Stage, &mut Progress) -> Outcome;

/// Scenarios on one group of ranks and between two.
const ON_EITHER: [(&str, Scenario); 7] = [
    ("interleaved communicators", interleaved),
    ("all collectives outstanding", outstanding),
    ("restarted persistent operations", restarted),
    ("handles freed before completion", freed_early),
    ("outstanding on communicators", scattered),
    ("barriers separate", barrier),
    ("switched between two calls", switched),
];

/// Where scenarios run.
struct Stage<'a> {
    session: &'a Session<'a>,
    subjects: &'a [Subject],
    /// Ranks of the first group, if there are two.
    split: Option<usize>,
}

impl Stage<'_> {
    /// Returns a new communicator of all ranks for the tested component.
    fn communicator(&self) -> Result<Communicator, environment::Error> {
        match self.split {
            Some(at) => self.session.world.parted(at)?.dup_for(component::NAME),
            None => tested(self.session),
        }
    }

    fn run(&self, progress: &mut Progress, report: &mut Report) -> Outcome {
        let all = self.session.world.size();
        let sizes = self.split.map_or(all.to_string(), |at| format!("{at}+{}", all - at));
        let what = if self.split.is_some() { "between groups" } else { "scenario" };
        for (name, scenario) in ON_EITHER {
            scenario(self, progress)?;
            progress.rest();
            report.line(what, name, &sizes, progress)?;
        }
        Ok(())
    }
}

/// Runs all scenarios on all ranks.
pub fn all(session: &Session, progress: &mut Progress, report: &mut Report) -> Outcome {
    if !session.subjects.is_empty() {
        Stage { session, subjects: &session.subjects, split: None }.run(progress, report)?;
        on_one_group(session, progress, report)?;
    }
    let ranks = session.world.size();
    if ranks > 1 && !session.between.is_empty() {
        Stage { session, subjects: &session.between, split: Some(ranks.div_ceil(2)) }
            .run(progress, report)?;
    }
    Ok(())
}

fn on_one_group(session: &Session, progress: &mut Progress, report: &mut Report) -> Outcome {
    let sizes = session.world.size().to_string();
    let mut line = |name: &str, progress: &mut Progress| {
        progress.rest();
        report.line("scenario", name, &sizes, progress)
    };
    alone(session, progress)?;
    line("MPI_COMM_SELF", progress)?;
    come_and_go(session, progress)?;
    line("communicators come and go", progress)?;
    let Some(component) = &session.component else { return Ok(()) };
    // The preloaded library's variables have plain numbers, without names or checks.
    if !preloaded::is_loaded() {
        names(component, progress);
        line("names of the algorithms", progress)?;
        refused_values(component, progress)?;
        line("refused values", progress)?;
    }
    if !session.options.without_errors {
        too_long(session, component, progress)?;
        line("blocks that do not fit", progress)?;
    }
    Ok(())
}

pub fn seed(session: &Session, number: usize) -> u64 {
    combine(&[session.options.seed, number as u64, 1])
}

/// Returns a new communicator of all ranks for the tested component, with a ring for neighbourhood collectives.
pub fn tested(session: &Session) -> Result<Communicator, environment::Error> {
    tested_on(session, &Topology::ring(session.world.size()))
}

fn tested_on(session: &Session, topology: &Topology) -> Result<Communicator, environment::Error> {
    let name = if session.component.is_some() { component::NAME } else { "tuned" };
    session.world.with_topology(topology)?.dup_for(name)
}

fn simple(subject: Subject, communicator: &Communicator) -> Case {
    let (size, remote) = communicator.sizes();
    let topology = communicator.topology().clone();
    Case { topology, remote, ..Case::simple(subject.0, subject.1, size) }
}

/// Runs a simple call on one communicator.
fn call(
    session: &Session,
    subject: Subject,
    communicator: &Communicator,
    number: usize,
    progress: &mut Progress,
) -> Outcome {
    let variables = session.variables(subject.0);
    let case = simple(subject, communicator);
    run::run(&case, communicator, variables, seed(session, number), progress)?;
    Ok(())
}

fn alone(session: &Session, progress: &mut Progress) -> Outcome {
    let duplicate = session.itself.with_topology(&Topology::ring(1))?.dup_for(component::NAME)?;
    for &subject in &session.subjects {
        call(session, subject, &duplicate, 0, progress)?;
        // Priorities decide which component serves the predefined communicator. It has no topology.
        if subject.0.cut() != Cut::Edges {
            let case = simple(subject, &session.itself);
            run::run(&case, &session.itself, None, seed(session, 1), progress)?;
        }
    }
    Ok(())
}

fn come_and_go(session: &Session, progress: &mut Progress) -> Outcome {
    for generation in 0..GENERATIONS {
        let communicator = tested(session)?;
        let subject = session.subjects[generation % session.subjects.len()];
        call(session, subject, &communicator, generation, progress)?;
    }
    Ok(())
}

/// Alternates calls on two communicators, each with its own algorithm.
fn interleaved(stage: &Stage, progress: &mut Progress) -> Outcome {
    let Stage { session, subjects, .. } = *stage;
    let (left, right) = (stage.communicator()?, stage.communicator()?);
    for (index, &subject) in subjects.iter().enumerate() {
        let other = subjects[(index + 1) % subjects.len()];
        let cases = [simple(subject, &left), simple(other, &right)];
        progress.begin(format!("{} and {} in turn", cases[0], cases[1]));
        let mut trials = Vec::new();
        for round in 0..8 {
            let communicator = if round % 2 == 0 { &left } else { &right };
            trials.push(Trial::new(&cases[round % 2], communicator, seed(session, round))?);
        }
        for (round, trial) in trials.iter_mut().enumerate() {
            let (collective, _) = if round % 2 == 0 { subject } else { other };
            let variables = session.variables(collective);
            trial.begin(if round % 2 == 0 { &left } else { &right }, variables)?;
        }
        trials.iter().for_each(|trial| trial.judge(progress));
    }
    Ok(())
}

/// Returns rounds with one algorithm of each collective. Together they contain every subject.
fn rounds(stage: &Stage) -> Vec<Vec<Subject>> {
    let of = |collective| stage.subjects.iter().copied().filter(move |subject| subject.0 == collective);
    let longest = Collective::ALL.into_iter().map(|collective| of(collective).count()).max().unwrap_or(0);
    let round = |round| {
        let subject = |collective| {
            let subjects: Vec<_> = of(collective).collect();
            subjects.get(round % subjects.len().max(1)).copied()
        };
        Collective::ALL.into_iter().filter_map(subject).collect()
    };
    (0..longest).map(round).collect()
}

/// Returns simple calls of this form.
fn cases(subjects: &[Subject], form: Form, communicator: &Communicator) -> Vec<Case> {
    subjects.iter().map(|&subject| Case { form, ..simple(subject, communicator) }).collect()
}

/// Begins all cases, so that they are in flight together. The communicators take turns.
fn begin<'a>(
    session: &'a Session,
    cases: &'a [Case],
    communicators: &[Communicator],
    progress: &mut Progress,
) -> Result<Vec<Trial<'a>>, environment::Error> {
    let names: Vec<_> = cases.iter().map(|case| name(case.algorithm)).collect();
    let case = cases.first().map_or(String::new(), Case::to_string);
    progress.begin(format!("{} calls at once, the first {case}, by {}", cases.len(), names.join(", ")));
    let mut trials = Vec::new();
    for (number, (case, communicator)) in cases.iter().zip(communicators.iter().cycle()).enumerate() {
        let mut trial = Trial::new(case, communicator, seed(session, number))?;
        trial.begin(communicator, session.variables(case.collective))?;
        trials.push(trial);
    }
    Ok(trials)
}

/// Begins a call of each collective on one communicator, and completes them in reverse order.
fn outstanding(stage: &Stage, progress: &mut Progress) -> Outcome {
    let communicators = [stage.communicator()?];
    for subjects in rounds(stage) {
        let cases = cases(&subjects, Form::Nonblocking, &communicators[0]);
        run::finish(&mut begin(stage.session, &cases, &communicators, progress)?, progress);
    }
    Ok(())
}

/// Restarts a persistent operation of each collective together, many times with changing data.
fn restarted(stage: &Stage, progress: &mut Progress) -> Outcome {
    let communicators = [stage.communicator()?];
    for subjects in rounds(stage) {
        let cases = cases(&subjects, Form::Persistent, &communicators[0]);
        let mut trials = begin(stage.session, &cases, &communicators, progress)?;
        for start in 0..STARTS {
            run::finish(&mut trials, progress);
            trials.iter_mut().for_each(|trial| trial.restart(seed(stage.session, start)));
        }
        run::finish(&mut trials, progress);
    }
    Ok(())
}

/// Frees the operator and the datatype while the operation is in flight. Others then take their place in memory.
fn freed_early(stage: &Stage, progress: &mut Progress) -> Outcome {
    let communicators = [stage.communicator()?];
    for &subject in stage.subjects {
        for arithmetic in [Arithmetic::Product, Arithmetic::Affine] {
            let sides = Sides(Shape::Vector, Shape::Vector);
            let simple = simple(subject, &communicators[0]);
            let cases = [Case { form: Form::Nonblocking, sides, arithmetic, ..simple }];
            let mut trials = begin(stage.session, &cases, &communicators, progress)?;
            trials[0].free_handles();
            let _others = (Shape::Interleaved.datatype(0)?, Operator::new(Arithmetic::Product)?);
            run::finish(&mut trials, progress);
        }
    }
    Ok(())
}

/// Begins calls on several communicators in turn, all in flight together.
fn scattered(stage: &Stage, progress: &mut Progress) -> Outcome {
    let communicators = [stage.communicator()?, stage.communicator()?, stage.communicator()?];
    for subjects in rounds(stage) {
        let cases = cases(&[&subjects[..], &subjects[..]].concat(), Form::Nonblocking, &communicators[0]);
        run::finish(&mut begin(stage.session, &cases, &communicators, progress)?, progress);
    }
    Ok(())
}

/// No rank may leave a barrier before all have entered it, whichever rank is late. Between two groups, a rank waits for the
/// ranks of the other one.
fn barrier(stage: &Stage, progress: &mut Progress) -> Outcome {
    let Stage { session, subjects, .. } = *stage;
    let (communicator, control) = (stage.communicator()?, session.world.dup_for("tuned")?);
    let shares_clock = clock::is_shared(&control)?;
    for &subject in subjects.iter().filter(|subject| subject.0 == Collective::Barrier) {
        for form in Form::ALL {
            for late in 0..control.size() {
                let case = Case { form, ..simple(subject, &communicator) };
                progress.begin(format!("{case}, rank {late} is late"));
                let mut trial = Trial::new(&case, &communicator, 0)?;
                control.barrier()?;
                if control.rank() == late {
                    thread::sleep(LATENESS);
                }
                let entered = clock::now();
                trial.begin(&communicator, session.variables(subject.0))?;
                trial.finish();
                let left = clock::now();
                trial.judge(progress);
                let early = last_of_partners(&communicator, &control, entered)? - left;
                progress
                    .check((shares_clock && early > 0.0).then(|| format!("left {early} seconds too early")));
            }
        }
    }
    Ok(())
}

/// Returns the latest time of the ranks with which this one exchanges data.
fn last_of_partners(
    communicator: &Communicator,
    control: &Communicator,
    time: f64,
) -> Result<f64, environment::Error> {
    let group = |first: usize| usize::from(first > 0);
    let mut times = [0.0; 2];
    times[group(communicator.number(0))] = time;
    Ok(control.maxima(&times)?[group(communicator.partners().start)])
}

/// The component must offer the algorithms that this program knows, with the same numbers.
fn names(component: &Component, progress: &mut Progress) {
    for collective in Collective::ALL {
        progress.begin(format!("names of the algorithms for {}", collective.name()));
        let variables = component.variables(collective);
        let names = |zero: &str| {
            let algorithms = collective
                .algorithms()
                .map(|algorithm| (number(collective, algorithm), algorithm.name.into()));
            [(0, zero.to_owned())].into_iter().chain(algorithms).collect::<Vec<_>>()
        };
        let compare = |got: Vec<_>, expected| {
            (got != expected).then(|| format!("the component has {got:?}, expected {expected:?}"))
        };
        progress.check(compare(variables.algorithm.names(), names("auto")));
        progress.check(compare(variables.ran.names(), names("below")));
    }
}

/// The component must refuse values out of range, and keep the old value.
fn refused_values(component: &Component, progress: &mut Progress) -> Outcome {
    for collective in Collective::ALL {
        let variables = component.variables(collective);
        let last = collective.algorithms().last().map_or(AUTO, |algorithm| number(collective, algorithm));
        let mut attempt = |name: &str, variable: &ControlVariable, legal: i32, illegal: &[i32]| -> Outcome {
            for &value in illegal {
                progress.begin(format!("coll_{}_{}_{name} = {value}", component::NAME, collective.name()));
                progress.check(accepted(variable, legal, value)?);
            }
            variable.write(0)?;
            Ok(())
        };
        attempt("algorithm", &variables.algorithm, last, &[99, last + 1, -1])?;
        for (parameter, variable) in &variables.parameters {
            let minimum = parameter.minimum();
            let illegal: Vec<i32> = (1..minimum).chain([-1, i32::MIN]).collect();
            attempt(parameter.name(), variable, minimum + 3, &illegal)?;
        }
    }
    Ok(())
}

/// Returns a message if the component accepted the illegal value or lost the legal one.
fn accepted(
    variable: &ControlVariable,
    legal: i32,
    illegal: i32,
) -> Result<Option<String>, environment::Error> {
    variable.write(legal)?;
    let written = variable.write(illegal);
    let now = variable.read()?;
    Ok(match written {
        Ok(()) => Some("writing it succeeded".into()),
        Err(_) if now != legal => {
            Some(format!("it was refused, but the variable went from {legal} to {now}"))
        }
        Err(_) => None,
    })
}

/// A write must take effect at the next call. Tests every pair of algorithms with one call each.
fn switched(stage: &Stage, progress: &mut Progress) -> Outcome {
    let Stage { session, subjects, .. } = *stage;
    let communicator = stage.communicator()?;
    for &first in subjects {
        for &second in subjects.iter().filter(|second| second.0 == first.0) {
            let variables = session.variables(first.0);
            for subject in [first, second] {
                let case = simple(subject, &communicator);
                progress.begin(format!("{case} (from {} to {})", name(first.1), name(second.1)));
                let mut trial = Trial::new(&case, &communicator, seed(session, 0))?;
                trial.begin(&communicator, variables)?;
                trial.finish();
                trial.judge(progress);
            }
        }
    }
    Ok(())
}

/// Sends the last rank a block that is longer than it expects. Another rank sends the block, because MPI
/// itself checks what a rank sends to itself. In algorithms that exchange lengths, the receiver must get an
/// error once all is complete. Its buffer then holds what fits and nothing beyond, and no rank hangs.
fn too_long(session: &Session, component: &Component, progress: &mut Progress) -> Outcome {
    const COUNT: usize = 3;
    let communicator = tested_on(session, &Topology::complete(session.world.size()))?;
    let last = communicator.size() - 1;
    let is_last = last > 0 && communicator.rank() == last;
    let double = Rc::new(Datatype::double());
    let blocks = |number, count| vec![Elements { datatype: Rc::clone(&double), count }; number];
    for &(collective, algorithm) in &session.subjects {
        let Some(algorithm) = algorithm.filter(|it| it.requires.contains(&Requirement::BlockLengths)) else {
            continue;
        };
        let (root, sent, received) = match collective {
            Collective::Gatherv => (last, 1, last + 1),
            Collective::Scatterv => (0, last + 1, 1),
            // These have one count for all blocks.
            Collective::NeighborAllgather | Collective::NeighborAlltoall => continue,
            Collective::NeighborAllgatherv => (0, 1, last + 1),
            _ => (0, last + 1, last + 1),
        };
        let (send, mut receive) = (blocks(sent, COUNT), blocks(received, COUNT));
        receive[0].count -= usize::from(is_last);
        let arguments = Arguments { root, ..Arguments::new(collective, send, receive) };
        component.variables(collective).choose(Some(algorithm))?;
        for form in Form::ALL {
            progress.begin(format!("{} {}, {form:?}, too long", collective.name(), algorithm.name));
            let mut call = Call::new(&communicator, &arguments, seed(session, 0))?;
            let outcome = call.begin(&communicator, form).and(call.wait());
            let expected = if is_last { Err(environment::Error::TRUNCATED) } else { Ok(()) };
            progress.check((outcome != expected).then(|| format!("{outcome:?} instead of {expected:?}")));
            progress.check(call.difference());
        }
        component.variables(collective).reset()?;
    }
    Ok(())
}
