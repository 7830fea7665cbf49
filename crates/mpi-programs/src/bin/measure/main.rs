//! Measures collectives. Contestants `component[:algorithm]` take turns in one job, each on a communicator of its
//! component. `copy` copies as many bytes as a call moves. Other MPIs than Open MPI have no components, so the
//! contestant may have any name.
//!
//! `mpirun -n 8 measure allreduce:8,64,1K/rustcoll,tuned bcast:8/rustcoll,rustcoll:chain`

mod bystander;
mod cell;
mod clock;
mod compute;
mod copy;
mod hosts;
mod options;
mod race;
mod racer;
mod repetitions;
mod rule_files;
mod shaped;
mod timing;
mod variables;
mod watchdog;

use std::error::Error;
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::Duration;

use measurements::{Job, OutputLine};
use mpi_programs::command_line::{parse, refuse};
use mpi_programs::component;
use mpi_programs::environment::{self, Environment, HAS_COMPONENTS};

use bystander::Bystander;
use clock::Clock;
use hosts::Hosts;
use options::{ClockChoice, Options};
use race::{Race, Setting};
use timing::Timer;
use watchdog::Watchdog;

fn main() -> ExitCode {
    let environment = Environment::new().expect("MPI can be initialized");
    measure(&environment).unwrap_or_else(|error| {
        eprintln!("measure: {error}");
        environment::abort();
        ExitCode::FAILURE
    })
}

fn measure(environment: &Environment) -> Result<ExitCode, Box<dyn Error>> {
    let world = environment.world()?;
    let options: Options = match parse(&world) {
        Ok(options) => options,
        Err(code) => return Ok(code),
    };
    if world.size() < 2 {
        return Ok(refuse(&world, "measure: this needs at least two ranks"));
    }
    if HAS_COMPONENTS && std::env::var("OMPI_MCA_coll").is_ok_and(|names| names == component::NAME) {
        let reason = "OMPI_MCA_coll=rustcoll loads no other component, and this program needs one for what it does not measure";
        return Ok(refuse(&world, format!("measure: {reason}; unset the variable, or name others, too")));
    }
    let heats = match options.all_heats() {
        Ok(heats) => heats,
        Err(reason) => return Ok(refuse(&world, format!("measure: {reason}"))),
    };
    let control = world.dup_for(&format!("tuned,^{}", component::NAME))?;
    // Reports missing contestants before anything is measured.
    let fault = heats.iter().find_map(|heat| race::check(heat, world.size()).err());
    let fault = fault.map_or_else(|| rule_files::fault(&heats, &control), |fault| Ok(Some(fault)))?;
    if let Some(reason) = fault {
        return Ok(refuse(&world, format!("measure: {reason}")));
    }
    let mut all_right = true;
    let mut tell = |line: &OutputLine| {
        all_right &= !matches!(line, OutputLine::Fault(_));
        if world.rank() == 0 { print(line) } else { Ok(()) }
    };
    let hosts = Hosts::of(&control)?;
    tell(&OutputLine::Job(Job {
        ranks: world.size(),
        nodes: hosts.number,
        ranks_per_node: hosts.most_ranks,
        library: environment.library()?,
    }))?;
    let is_synchronised = match options.clock {
        ClockChoice::Auto => !hosts.share_clock,
        choice => choice == ClockChoice::Synchronised,
    };
    let limit = options.limit.filter(|_| world.rank() == 0).map(Duration::from_secs_f64);
    let timer = Timer::new(&options, &control, Clock::new(is_synchronised), Watchdog::new(limit));
    let bystander = Bystander::find();
    if options.short_lived.is_none() {
        bystander.share_memory_at_once()?;
    }
    let setting = Setting { options: &options, control: &control, bystander: &bystander, timer: &timer };
    for heat in &heats {
        Race::new(heat, &setting)?.run(&mut tell)?;
    }
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(line: &OutputLine) -> io::Result<()> {
    let mut output = io::stdout().lock();
    writeln!(output, "{}", line.to_json())?;
    output.flush()
}
