//! Runs every registered algorithm over a real MPI and compares each element with a locally computed result.
//!
//! `mpirun -n N conformance` tests communicators of all sizes from 1 to N. Every rank draws the same cases
//! from the same seed. A rank that finds an error notes it and goes on, so no rank waits for another.

mod between;
mod case;
mod huge;
mod options;
mod plan;
mod progress;
mod report;
mod run;
mod scenarios;
mod shape;
mod soak;
mod topologies;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use expected_results::random::combine;
use mpi_programs::command_line::{parse, refuse};
use mpi_programs::communicator::Communicator;
use mpi_programs::component::{self, CollectiveVariables, Component};
use mpi_programs::environment::{self, Environment};
use mpi_programs::pretended_nodes;
use mpi_programs::topology::Topology;
use rustcoll::algorithms::{Algorithm, Collective, Cut};
use rustcoll::schedule_file::{self, Loaded};

use case::Case;
use options::Options;
use progress::Progress;
use report::Report;

/// Registers the algorithms of a folder's schedule files, as the component does.
fn register(folder: &Path) -> Result<(), String> {
    let mut loaded = Loaded::default();
    for path in schedule_file::files(folder)? {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).map_err(|error| format!("{name}: {error}"))?;
        loaded.add(&name, schedule_file::prove(&name, &text)?)?;
    }
    loaded.register();
    Ok(())
}

/// Number of cases between two looks at the clock.
const CASES_PER_LOOK: usize = 8;

fn main() -> ExitCode {
    let environment = Environment::new().expect("MPI can be initialized");
    conform(&environment).unwrap_or_else(|error| {
        eprintln!("conformance: {error}");
        environment::abort();
        ExitCode::FAILURE
    })
}

fn conform(environment: &Environment) -> Result<ExitCode, Box<dyn Error>> {
    let world = environment.world()?;
    let options: Options = match parse(&world) {
        Ok(options) => options,
        Err(code) => return Ok(code),
    };
    if options.ranks_on_node.is_some_and(|ranks| !pretended_nodes::pretend(ranks)) {
        return Ok(refuse(&world, "the library of pretended nodes is not loaded"));
    }
    if let Some(Err(fault)) = options.schedules.as_deref().map(register) {
        return Ok(refuse(&world, fault));
    }
    let subjects = match subjects(&options) {
        Ok(subjects) => subjects,
        Err(error) => return Ok(refuse(&world, error)),
    };
    let component = match options.reference {
        true => None,
        false => match Component::find() {
            Ok(component) => {
                component.share_memory_at_once()?;
                component.promise_no_idle_neighbours()?;
                Some(component)
            }
            Err(error) => return Ok(refuse(&world, error)),
        },
    };
    let session = Session {
        groups: groups(&world, &options, &subjects)?,
        world: &world,
        idle: world.dup_for("libnbc")?,
        itself: environment.itself()?,
        component,
        between: between::subjects(&options),
        subjects,
        options,
    };
    session.run()
}

/// A collective, and the forced algorithm, or `None` for the component's own choice.
type Subject = (Collective, Option<&'static Algorithm>);

fn subjects(options: &Options) -> Result<Vec<Subject>, String> {
    let collectives =
        Collective::ALL.into_iter().filter(|&one| options.collective.is_none_or(|it| it == one));
    let subjects: Vec<Subject> = collectives
        .flat_map(|collective| {
            let is_tested = |algorithm: &&Algorithm| {
                let comes_into_question = options.ranks_on_node.is_none() || algorithm.takes_nodes();
                comes_into_question && !algorithm.is_for_two_groups()
            };
            let algorithms =
                collective.algorithms().filter(is_tested).map(Some).filter(|_| !options.reference);
            [None].into_iter().chain(algorithms).map(move |algorithm| (collective, algorithm))
        })
        .filter(|subject| options.algorithm.as_deref().is_none_or(|name| is_called(subject, name)))
        .collect();
    if subjects.is_empty() && between::subjects(options).is_empty() {
        Err("there is no such algorithm".into())
    } else {
        Ok(subjects)
    }
}

fn is_called(&(collective, algorithm): &Subject, name: &str) -> bool {
    match algorithm {
        None => name == "auto",
        Some(algorithm) => collective.algorithm(name).is_some_and(|found| found.name == algorithm.name),
    }
}

fn name(algorithm: Option<&Algorithm>) -> &'static str {
    algorithm.map_or("auto", |algorithm| algorithm.name)
}

/// The communicators of one size. They are empty on ranks outside the group.
struct Group {
    size: usize,
    tested: Option<Communicator>,
    /// The same ranks with every topology, if the test covers neighbourhood collectives.
    topological: Vec<Communicator>,
    /// The ranks agree over it on the time, without the tested component.
    control: Option<Communicator>,
}

impl Group {
    /// Returns the communicator with this topology.
    fn with(&self, topology: &Topology) -> Option<&Communicator> {
        self.tested.iter().chain(&self.topological).find(|communicator| communicator.topology() == topology)
    }
}

fn groups(
    world: &Communicator,
    options: &Options,
    subjects: &[Subject],
) -> Result<Vec<Group>, environment::Error> {
    let sizes = options.sizes.up_to(world.size());
    let have_neighbours = subjects.iter().any(|(collective, _)| collective.cut() == Cut::Edges);
    sizes.into_iter().map(|size| group(world, options, size, have_neighbours)).collect()
}

fn group(
    world: &Communicator,
    options: &Options,
    size: usize,
    have_neighbours: bool,
) -> Result<Group, environment::Error> {
    let Some(ranks) = world.first_reversed(size)? else {
        return Ok(Group { size, tested: None, topological: Vec::new(), control: None });
    };
    let control = Some(ranks.dup_for("tuned")?);
    let of_component = |ranks: Communicator| match options.reference {
        true => Ok(ranks),
        false => ranks.dup_for(component::NAME),
    };
    let topologies = if have_neighbours { topologies::topologies(size) } else { Vec::new() };
    let topological = topologies.iter().map(|topology| of_component(ranks.with_topology(topology)?));
    let topological = topological.collect::<Result<_, _>>()?;
    Ok(Group { size, tested: Some(of_component(ranks)?), topological, control })
}

struct Session<'a> {
    world: &'a Communicator,
    /// All ranks, without the tested component.
    idle: Communicator,
    itself: Communicator,
    groups: Vec<Group>,
    component: Option<Component>,
    subjects: Vec<Subject>,
    /// Subjects for inter-communicators.
    between: Vec<Subject>,
    options: Options,
}

impl Session<'_> {
    fn run(&self) -> Result<ExitCode, Box<dyn Error>> {
        let mut report = Report::new(self.world);
        let mut progress = Progress::new(self.world.rank());
        report.title(&format!("seed {}, {} ranks", self.options.seed, self.world.size()));
        if let Some(operations) = self.options.soak {
            soak::soak(self, operations, &mut progress, &mut report)?;
        } else if self.options.huge {
            huge::huge(self, &mut progress, &mut report)?;
        } else {
            for &subject in &self.subjects {
                self.test(subject, &mut progress, &mut report)?;
            }
            between::all(self, &mut progress, &mut report)?;
            scenarios::all(self, &mut progress, &mut report)?;
        }
        Ok(report.finish())
    }

    /// Tests one algorithm on all sizes.
    fn test(
        &self,
        subject: Subject,
        progress: &mut Progress,
        report: &mut Report,
    ) -> Result<(), Box<dyn Error>> {
        for group in &self.groups {
            if let Some(control) = &group.control {
                self.test_on(subject, group, control, progress)?;
            }
            if let Some(variables) = self.variables(subject.0) {
                variables.reset()?;
            }
            progress.rest();
            self.idle.idle_barrier()?;
        }
        let sizes: Vec<usize> = self.groups.iter().map(|group| group.size).collect();
        let (collective, algorithm) = subject;
        report.line(collective.name(), name(algorithm), &options::ranges(&sizes), progress)?;
        Ok(())
    }

    fn test_on(
        &self,
        subject: Subject,
        group: &Group,
        control: &Communicator,
        progress: &mut Progress,
    ) -> Result<(), Box<dyn Error>> {
        let (collective, algorithm) = subject;
        let plan = plan::draw(&Case::simple(collective, algorithm, group.size), &self.options);
        let variables = self.variables(collective);
        let start = Instant::now();
        for (index, case) in plan.cases.iter().enumerate() {
            let looks = index >= plan.indispensable && index % CASES_PER_LOOK == 0;
            if looks && !control.told_by(0, start.elapsed() < self.share())? {
                break;
            }
            let tested = group.with(&case.topology).ok_or("there is no communicator for a case")?;
            run::run(case, tested, variables, combine(&[self.options.seed, index as u64]), progress)?;
        }
        Ok(())
    }

    /// Returns the variables that control the component, if it is loaded.
    fn variables(&self, collective: Collective) -> Option<&CollectiveVariables> {
        self.component.as_ref().map(|component| component.variables(collective))
    }

    /// Returns the time for one algorithm on one size.
    fn share(&self) -> Duration {
        let splits = between::splits(self.world.size()).len();
        let parts = self.subjects.len() * self.groups.len() + self.between.len() * splits;
        self.options.budget_seconds.map_or(Duration::MAX, |budget| budget.div_f64(parts as f64))
    }
}
