//! Measures collectives: contestants `component[:algorithm]` take turns in one job, each on a communicator of its own; `copy`
//! copies as many bytes as a call moves. An MPI other than Open MPI has no components: its contestant is whatever it is called.
//!
//! `mpirun -n 8 measure --contestants rustcoll,tuned allreduce:8,64,1K`

mod bystander;
mod clock;
mod copy;
mod options;
mod race;
mod timing;
mod variables;

use std::error::Error;
use std::io::Write;
use std::process::ExitCode;

use measurements::{Contestant, Job, Line};
use mpi_programs::command_line::{parse, refuse};
use mpi_programs::environment::{self, Environment};

use bystander::Bystander;
use options::Options;
use race::Race;
use timing::Clock;

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
    let control = world.dup_for(&format!("tuned,^{}", Contestant::OWN))?;
    let bystander = Bystander::find();
    let race = |series: &measurements::Series| {
        Race::new(series.collective, &options.contestants, &control, &bystander)
    };
    // Whoever is not there is told of before anything is measured.
    if let Err(reason) = options.series.iter().try_for_each(|series| race(series).map(drop)) {
        return Ok(refuse(&world, format!("measure: {reason}")));
    }
    let print = |line: &Line| if world.rank() == 0 { print(line) } else { Ok(()) };
    print(&Line::Job(Job {
        ranks: world.size(),
        nodes: 0,
        ranks_per_node: 0,
        library: environment.library()?,
    }))?;
    let clock = Clock::new(&options);
    let mut all_right = true;
    for series in &options.series {
        let race = race(series)?;
        for &bytes in &series.bytes {
            for line in race.run(bytes, &clock)? {
                all_right &= !matches!(line, Line::Fault(_));
                print(&line)?;
            }
        }
    }
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn print(line: &Line) -> std::io::Result<()> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", line.to_json())?;
    output.flush()
}
