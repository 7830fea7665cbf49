//! `rustcoll rules`

mod check;
mod explain;

use crate::command_line::RulesCommand;
use crate::failure::{Failure, Outcome};
use std::io::Write;

/// Does what is to be done with rule files.
pub fn run(command: &RulesCommand, output: &mut impl Write) -> Result<Outcome, Failure> {
    match command {
        RulesCommand::Check { files } => check::run(files, output),
        RulesCommand::Explain(options) => explain::run(options, output),
    }
}
