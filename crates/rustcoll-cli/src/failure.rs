//! How a run ends.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// The result of a run that could do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All is well.
    Right,
    /// What the run checked is wrong, or differs.
    Wrong,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Right => ExitCode::SUCCESS,
            Outcome::Wrong => ExitCode::from(1),
        }
    }
}

/// Why a run could not do its work.
#[derive(Debug)]
pub enum Failure {
    /// The command line does not make sense.
    Usage(String),
    /// The input is wrong.
    Input(String),
    /// A signal ended the run.
    Interrupted {
        signal: u8,
        /// How the user can continue the run.
        message: String,
    },
    /// The output could not be written.
    Output(io::Error),
}

impl Failure {
    /// Returns 2 for a wrong command line, 128 plus the signal (as shells do) for a signal, otherwise 1.
    pub fn exit_code(&self) -> ExitCode {
        ExitCode::from(match self {
            Failure::Usage(_) => 2,
            Failure::Interrupted { signal, .. } => 128 + signal,
            Failure::Input(_) | Failure::Output(_) => 1,
        })
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Usage(message) | Failure::Input(message) | Failure::Interrupted { message, .. } => {
                formatter.write_str(message)
            }
            Failure::Output(error) => write!(formatter, "the output cannot be written: {error}"),
        }
    }
}
