//! Reads the command line, and refuses to start, with one message for all ranks.

use std::fmt::Display;
use std::process::ExitCode;

use clap::Parser;

use crate::communicator::Communicator;

/// Reads the program's arguments. If the program should not start, prints why on rank 0 and returns the exit code.
pub fn parse<Options: Parser>(world: &Communicator) -> Result<Options, ExitCode> {
    Options::try_parse().map_err(|error| {
        if world.rank() == 0 {
            // Errors are ignored: nothing can be done about them.
            let _ = error.print();
        }
        if error.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS }
    })
}

/// Prints on rank 0 why the program cannot do its work, and returns the exit code.
pub fn refuse(world: &Communicator, reason: impl Display) -> ExitCode {
    if world.rank() == 0 {
        eprintln!("{reason}");
    }
    ExitCode::from(2)
}
