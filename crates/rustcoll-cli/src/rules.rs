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
use rustcoll::algorithms::Collective;
use rustcoll::selection::{Measure, Rules};
use std::io::Write;
use std::path::Path;

/// Runs a subcommand of `rustcoll rules`.
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

/// Whether rules can be derived from the prices of a collective: those that can ask for its bytes, and those of barrier.
fn can_be_derived(collective: Collective) -> bool {
    collective == Collective::Barrier || Measure::of(collective) != Measure::Nothing
}

/// Returns the rules in the order in which the component asks them: later files first, the default rules last.
pub fn in_order<'path>(files: impl DoubleEndedIterator<Item = &'path Path>) -> Result<Rules, Failure> {
    let mut rules = Rules::default();
    for file in files.rev() {
        rules = rules.followed_by(&files::load(file).map_err(Failure::Input)?);
    }
    Ok(rules.followed_by(Rules::built_in()))
}
