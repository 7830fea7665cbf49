//! What the programs say before they start, once for all ranks.

use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;

use crate::communicator::Communicator;

/// Reads the program's arguments. If it should not start, says why on one rank and returns the exit code.
pub fn parse<Options: Parser>(world: &Communicator) -> Result<Options, ExitCode> {
    Options::try_parse().map_err(|error| {
        if world.rank() == 0 {
            // Nothing can be done if it cannot be printed.
            let _ = error.print();
        }
        if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
    })
}

/// Says on one rank why the program cannot do its work.
pub fn refuse(world: &Communicator, reason: impl Display) -> ExitCode {
    if world.rank() == 0 {
        eprintln!("{reason}");
    }
    ExitCode::from(2)
}
