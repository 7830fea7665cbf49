//! `rustcoll rules`

mod check;
pub mod choice;
mod convert;
mod derive;
mod diff;
mod explain;
mod notes;
mod regret;

use crate::command_line::RulesCommand;
use crate::failure::{Failure, Outcome};
use crate::files;
use rustcoll::selection::Rules;
use std::io::Write;
use std::path::Path;

/// Does what is to be done with rule files.
pub fn run(command: &RulesCommand, output: &mut impl Write) -> Result<Outcome, Failure> {
    match command {
        RulesCommand::Check { files } => check::run(files, output),
        RulesCommand::Explain(options) => explain::run(options, output),
        RulesCommand::Convert(options) => convert::run(options, output),
        RulesCommand::Diff(options) => diff::run(options, output),
        RulesCommand::Derive(options) => derive::run(options, output),
        RulesCommand::Regret(options) => regret::run(options, output),
    }
}

/// The rules of files in the order in which the component asks them: later ones first, then those that hold by default.
pub fn in_order<'path>(files: impl DoubleEndedIterator<Item = &'path Path>) -> Result<Rules, Failure> {
    let mut rules = Rules::default();
    for file in files.rev() {
        rules = rules.followed_by(&files::load(file).map_err(Failure::Input)?);
    }
    Ok(rules.followed_by(Rules::built_in()))
}
