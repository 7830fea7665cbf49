//! `rustcoll rules check`

use crate::failure::{Failure, Outcome};
use crate::files;
use crate::rules::notes;
use crate::words::counted;
use rustcoll::algorithms::Collective;
use rustcoll::selection::Rules;
use std::io::Write;
use std::path::PathBuf;

/// Prints the faults of each file; for a file without faults, its notes and a summary.
pub fn run(files: &[PathBuf], output: &mut impl Write) -> Result<Outcome, Failure> {
    let mut outcome = Outcome::Right;
    for file in files {
        match files::load(file) {
            Ok(rules) => {
                for line in notes::lines(rules.notes()) {
                    writeln!(output, "{line}")?;
                }
                writeln!(output, "{}: {}", files::name(file), content(&rules))?;
            }
            Err(faults) => {
                writeln!(output, "{faults}")?;
                outcome = Outcome::Wrong;
            }
        }
    }
    Ok(outcome)
}

/// Returns the priority, and the number of rules for each collective.
fn content(rules: &Rules) -> String {
    let count = |collective: &Collective| rules.of(*collective).len();
    let collectives: Vec<Collective> = Collective::ALL.into_iter().filter(|one| count(one) > 0).collect();
    let each: Vec<String> = collectives.iter().map(|one| format!("{} {}", one.name(), count(one))).collect();
    let all = counted(collectives.iter().map(count).sum(), "rule");
    let priority = rules.priority().map(|priority| format!("priority {priority}, ")).unwrap_or_default();
    let each = if each.is_empty() { String::new() } else { format!(" ({})", each.join(", ")) };
    format!("{priority}{all}{each}")
}
