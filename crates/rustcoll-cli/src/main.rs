//! The command `rustcoll`: algorithms, schedules, the verifier, prices, rules and measurements. Only its jobs need MPI.

#![forbid(unsafe_code)]

mod advise;
mod algorithms;
mod appended;
mod atlas;
mod bench;
mod command_line;
mod failure;
mod files;
mod fit;
mod guide;
mod guidelines;
mod html;
mod import;
mod interruption;
mod machine;
mod manual;
mod measured;
mod pictures;
mod predict;
mod problem;
mod profiles;
mod progress;
mod report_html;
mod rules;
mod schedule;
mod schedule_json;
mod schedules;
mod synthesize;
mod table;
mod tune;
mod validate;
mod verify;
mod words;

use clap::Parser;
use command_line::{Command, CommandLine};
use failure::{Failure, Outcome};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut output = io::BufWriter::new(io::stdout().lock());
    let CommandLine { command, schedules } = CommandLine::parse();
    let result = schedules::load(&schedules).and_then(|()| run(command, &mut output));
    let flushed = output.flush().map_err(Failure::Output);
    match (result, flushed) {
        // The reader of the output has seen enough, as `head` does.
        (Err(Failure::Output(error)), _) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        (Ok(outcome), Err(Failure::Output(error))) if error.kind() == io::ErrorKind::BrokenPipe => {
            outcome.into()
        }
        (Err(failure), _) | (Ok(_), Err(failure)) => {
            // The terminal may be gone.
            let _ = writeln!(io::stderr(), "rustcoll: {failure}");
            failure.exit_code()
        }
        (Ok(outcome), Ok(())) => outcome.into(),
    }
}

fn run(command: Command, output: &mut impl Write) -> Result<Outcome, Failure> {
    match command {
        Command::Algorithms(options) => algorithms::run(&options, output),
        Command::Schedule(options) => schedule::run(&options, output),
        Command::Verify(options) => verify::run(&options, output),
        Command::Predict(options) => predict::run(&options, output),
        Command::Import(options) => import::run(&options, output),
        Command::Synthesize(options) => synthesize::run(&options, output),
        Command::Atlas(options) => atlas::run(&options, output),
        Command::Fit(options) => fit::run(&options, output),
        Command::Validate(options) => validate::run(&options, output),
        Command::Bench(options) => bench::run(&options, output),
        Command::Performance(options) => bench::performance::run(&options, output),
        Command::Advise(options) => advise::run(&options, output),
        Command::Tune(options) => tune::run(&options, output),
        Command::Guidelines(options) => guidelines::run(&options, output),
        Command::Guide(options) => guide::run(&options, output),
        Command::Rules { command } => rules::run(&command, output),
        Command::Completions { shell } => manual::completions(shell, output),
        Command::Man { folder } => manual::pages(folder.as_deref(), output),
    }
}
