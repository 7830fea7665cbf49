//! `rustcoll rules convert`

use crate::command_line::{ConvertOptions, FileFormat, MOST_RANKS_TO_WRITE};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::rules::notes;
use rustcoll::selection::{Conversion, Rules};
use std::io::Write;

/// Decisions are written up to this number of ranks, unless the user gives another or the rules name more ranks.
const MOST_RANKS: usize = 128;

/// Writes rules in another format. The standard error stream gets what that format cannot express.
pub fn run(options: &ConvertOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let rules = match &options.file {
        Some(file) => files::load(file).map_err(Failure::Input)?,
        None => Rules::built_in().clone(),
    };
    let Conversion { text, notes, is_empty } = converted(&rules, options)?;
    notes::lines(&[rules.notes(), &notes].concat()).for_each(|line| eprintln!("{line}"));
    if is_empty {
        return Err(Failure::Input("that format can say nothing of these rules".into()));
    }
    if let Err(faults) = Rules::read("the new file", text.as_bytes()) {
        eprintln!("rustcoll itself would not read this:\n{faults}");
    }
    files::write(options.output.as_deref(), text.as_bytes(), output)?;
    Ok(Outcome::Right)
}

fn converted(rules: &Rules, options: &ConvertOptions) -> Result<Conversion, Failure> {
    let named = rules.last_change_of_ranks().clamp(MOST_RANKS, MOST_RANKS_TO_WRITE);
    let most_ranks = options.most_ranks.unwrap_or(named);
    match options.to {
        FileFormat::Native if options.most_ranks.is_some() => {
            let message = "--most-ranks has no effect on rustcoll's own format, which has rules for all numbers of ranks";
            Err(Failure::Usage(message.into()))
        }
        FileFormat::Native => Ok(Conversion { text: rules.to_native(), is_empty: false, notes: Vec::new() }),
        FileFormat::Tuned => Ok(rules.to_tuned(most_ranks)),
        FileFormat::OpenmpiJson => Ok(rules.to_open_mpi(most_ranks)),
    }
}
