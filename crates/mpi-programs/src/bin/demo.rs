//! Shows all algorithms of some collectives at work: whether their results are right, whether they ran at all, and their times
//! compared with Open MPI's own choice.
//!
//! `mpirun -n 8 demo`

use std::error::Error;
use std::fmt::Display;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::Parser;
use measurements::Shape;
use mpi_programs::call::Call;
use mpi_programs::command_line::{parse, refuse};
use mpi_programs::communicator::Communicator;
use mpi_programs::component::{self, CollectiveVariables, Component, name_of, number};
use mpi_programs::environment::{self, Environment};
use mpi_programs::shares;
use rustcoll::algorithms::{Algorithm, Collective};

const RIVAL: &str = "tuned";
const SEED: u64 = 1;
/// The collectives that are shown, also named in `Options`, README.md and docs/first-run.md.
const SHOWN: [Collective; 3] = [Collective::Allreduce, Collective::Alltoall, Collective::Bcast];
/// Calls of one contestant before the other contestant's turn. The first of them is not counted.
const CHUNK: usize = 5;
/// The most turns of a contestant.
const TURNS: usize = 40;
/// No turn begins after this time in a row of the table.
const TIME_PER_ROW: Duration = Duration::from_millis(500);

/// Shows every algorithm of allreduce, alltoall and bcast: its result, whether it ran, and its time
#[derive(Parser, Debug)]
struct Options {
    /// What to print as Open MPI's mca_base_component_path in the closing hint
    #[arg(long, value_name = "PATH")]
    plugin_path: Option<String>,
}

fn main() -> ExitCode {
    let environment = Environment::new().expect("MPI can be initialized");
    show_all(&environment).unwrap_or_else(|error| {
        eprintln!("demo: {error}");
        environment::abort();
        ExitCode::FAILURE
    })
}

fn show_all(environment: &Environment) -> Result<ExitCode, Box<dyn Error>> {
    let world = environment.world()?;
    let options: Options = match parse(&world) {
        Ok(options) => options,
        Err(code) => return Ok(code),
    };
    let component = match Component::find() {
        Ok(component) => component,
        Err(error) => return Ok(refuse(&world, error)),
    };
    if world.size() < 2 {
        return Ok(refuse(&world, "this needs at least two ranks"));
    }
    let stage = Stage { subject: world.dup_for(component::NAME)?, rival: world.dup_for(RIVAL)? };
    stage.print_head();
    let mut all_right = true;
    for collective in SHOWN {
        let variables = component.variables(collective);
        if !stage.rival_is_independent(variables)? {
            return Ok(refuse(&world, format!("{} also serves {RIVAL}'s communicator", component::NAME)));
        }
        for bytes in sizes(collective) {
            for algorithm in collective.algorithms().filter(|algorithm| !algorithm.is_for_two_groups()) {
                all_right &= stage.show(variables, (collective, algorithm), bytes)?;
            }
        }
    }
    if world.rank() == 0 {
        print_hint(&options);
    }
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns lengths in bytes of the vector, or of the block for each rank.
fn sizes(collective: Collective) -> [usize; 3] {
    match collective {
        Collective::Alltoall => [8, 1 << 10, 1 << 15],
        _ => [8, 1 << 14, 1 << 20],
    }
}

/// The same ranks, with one communicator for each contestant.
struct Stage {
    subject: Communicator,
    rival: Communicator,
}

impl Stage {
    /// Prints a line on rank 0.
    fn print(&self, line: impl Display) {
        if self.subject.rank() == 0 {
            println!("{line}");
        }
    }

    fn print_head(&self) {
        let ranks = self.subject.size();
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.print(format_args!("{ranks} ranks, {processors} processors"));
        if ranks > processors {
            self.print(
                "The ranks share processors: the times tell more about the scheduler than about algorithms.",
            );
        }
        self.print("Bytes are those of the vector, in alltoall those of the block for each rank.\n");
        self.print(format_args!(
            "{:<10} {:>8}  {:<42} {:<42} {:<6} {:>10} {:>10} {:>7}",
            "collective", "bytes", "asked for", "ran", "result", "time/us", "tuned/us", "ratio"
        ));
    }

    /// Whether the component sees none of the rival's calls: they do not change its variable `ran`.
    fn rival_is_independent(&self, variables: &CollectiveVariables) -> Result<bool, environment::Error> {
        let collective = variables.collective;
        let (Some(first), Some(last)) = (collective.algorithms().next(), collective.algorithms().last())
        else {
            return Ok(true);
        };
        variables.choose(Some(first))?;
        shares::call((collective, Shape::Even), &self.subject, 8, SEED)?.perform(&self.subject)?;
        let before = variables.ran.read()?;
        variables.choose(Some(last))?;
        shares::call((collective, Shape::Even), &self.rival, 8, SEED)?.perform(&self.rival)?;
        self.rival.everywhere(first.name == last.name || variables.ran.read()? == before)
    }

    /// Prints a row of the table; returns whether the algorithm ran and was right on all ranks.
    fn show(
        &self,
        variables: &CollectiveVariables,
        (collective, algorithm): (Collective, &Algorithm),
        bytes: usize,
    ) -> Result<bool, Box<dyn Error>> {
        let mut call = shares::call((collective, Shape::Even), &self.subject, bytes, SEED)?;
        variables.choose(Some(algorithm))?;
        call.perform(&self.subject)?;
        let ran = variables.ran.read()?;
        let is_right =
            self.rival.everywhere(call.difference().is_none() && call.changed_source().is_none())?;
        let did_run = self.rival.everywhere(ran == number(collective, algorithm))?;
        let (time, rival) = self.race(&mut call)?;
        self.print(format_args!(
            "{:<10} {bytes:>8}  {:<42} {:<42} {:<6} {:>10.1} {:>10.1} {:>7.2}",
            collective.name(),
            algorithm.name,
            if did_run { algorithm.name } else { odd_one(collective, ran, algorithm) },
            if is_right { "right" } else { "WRONG" },
            time * 1e6,
            rival * 1e6,
            time / rival
        ));
        Ok(is_right && did_run)
    }

    /// Returns the median times in seconds of the component and its rival, which take turns.
    fn race(&self, call: &mut Call) -> Result<(f64, f64), environment::Error> {
        let (mut subject, mut rival) = (Vec::new(), Vec::new());
        let start = Instant::now();
        for turn in 0..TURNS {
            if turn > 0 && !self.rival.told_by(0, start.elapsed() < TIME_PER_ROW)? {
                break;
            }
            subject.extend(self.turn(call, &self.subject)?);
            rival.extend(self.turn(call, &self.rival)?);
        }
        Ok((median(self.rival.maxima(&subject)?), median(self.rival.maxima(&rival)?)))
    }

    /// Returns this rank's times of some calls. A barrier precedes each call.
    fn turn(&self, call: &mut Call, communicator: &Communicator) -> Result<Vec<f64>, environment::Error> {
        let mut times = Vec::new();
        for _ in 0..CHUNK {
            self.rival.barrier()?;
            let start = Instant::now();
            call.perform(communicator)?;
            times.push(start.elapsed().as_secs_f64());
        }
        Ok(times.split_off(1))
    }
}

/// Returns what to print if not all ranks ran the requested algorithm.
fn odd_one(collective: Collective, ran: i32, asked: &Algorithm) -> &'static str {
    if ran == number(collective, asked) { "another on other ranks" } else { name_of(collective, ran) }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn print_hint(options: &Options) {
    let general = Collective::Allreduce.algorithms().filter(|algorithm| algorithm.requires.is_empty());
    let Some(algorithm) = general.last() else { return };
    let path = options.plugin_path.as_ref().map(|path| format!("--mca mca_base_component_path {path} "));
    println!("\nWith your own program:\n");
    println!(
        "    mpirun {}--mca coll {},tuned,basic,libnbc,self,inter --mca coll_{}_{}_algorithm {} ./your_program",
        path.unwrap_or_default(),
        component::NAME,
        component::NAME,
        Collective::Allreduce.name(),
        algorithm.name
    );
}
