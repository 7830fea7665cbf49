//! `rustcoll tune`

mod budget;
mod campaign;
mod csv;
mod entry;
mod hearing;
mod heats;
mod outputs;
mod plan;
mod record;
mod results;
mod schedule;
mod wanted;

use crate::command_line::TuneOptions;
use crate::failure::{Failure, Outcome};
use crate::interruption;
use campaign::Campaign;
pub use entry::{Conclusion, Entry, Event, Stage, TuningStep};
use measurements::Contestant;
pub use plan::FORMAT;
use plan::Plan;
pub use record::MEASURED;
use record::Record;
use schedule::Schedule;
use std::io::Write;
use tuning::{CellKey, Tuning, words};
pub use wanted::cell_of;

/// Measures what is not measured yet, and writes the results.
pub fn run(options: &TuneOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let tuned = tuned(options)?;
    let (wanted, application) = wanted::wanted(options)?;
    plan::check(options, &wanted)?;
    let launcher = plan::launcher(options)?;
    let header = plan::header(options, &wanted, &launcher);
    let record = Record::open(&options.output, header, options.from_scratch)?;
    let plan = Plan::new(options, &wanted)?;
    interruption::listen()?;
    let schedule = Schedule::new(&plan.budget, plan.settings.len(), options.verify);
    let mut campaign = Campaign { plan: &plan, launcher, record, schedule };
    campaign.measure()?;
    let mut tuning = results::tuning(options, &plan, &campaign.record, &tuned);
    if tuning.cells.is_empty() {
        return Err(Failure::Input("the default could not be measured in any cell".into()));
    }
    outputs::write(&tuning, &options.output, plan.demands)?;
    let verifies = options.verify && tuning.has_rules();
    if verifies {
        campaign.verify(&tuned)?;
        tuning = results::tuning(options, &plan, &campaign.record, &tuned);
        outputs::write(&tuning, &options.output, plan.demands)?;
    }
    let Campaign { record, .. } = campaign;
    outputs::print(&tuning, &options.output, output)?;
    if let Some(application) = application {
        application.print_gain(&tuning, output)?;
    }
    let mut is_right = true;
    if verifies {
        is_right &= outputs::print_verified(&tuning, output)?;
        is_right &= tell_unverified(&tuning, &record, &tuned);
    }
    is_right &= tell_unmeasured(&plan, &tuning, &record);
    is_right &= tell_missed_finals(&tuning, &record);
    Ok(if is_right { Outcome::Right } else { Outcome::Wrong })
}

/// Returns the contestant that follows the rule file. Fails if --verify needs another path of that file.
fn tuned(options: &TuneOptions) -> Result<Contestant, Failure> {
    let folder = std::path::absolute(&options.output)?;
    let path = outputs::rule_file(&folder).display().to_string();
    if options.verify && (path.contains([':', ',']) || path.len() > LONGEST_PATH) {
        return Err(Failure::Usage(format!(
            "--output {path}: --verify needs a path of at most {LONGEST_PATH} bytes, with neither `:` nor `,`"
        )));
    }
    Ok(Contestant { rules: Some(path), ..plan::default_contestant() })
}

/// The longest value that an attribute of a communicator may have.
const LONGEST_PATH: usize = 255;

/// Reports cells without decisions, and why. Returns whether there are none.
fn tell_unmeasured(plan: &Plan, tuning: &Tuning, record: &Record) -> bool {
    let is_decided = |place: &CellKey| tuning.cells.iter().any(|cell| CellKey::of(cell) == *place);
    let cells = plan.settings.iter().flat_map(|setting| &setting.cells).map(|(place, _)| *place);
    let missing: Vec<CellKey> = cells.filter(|place| !is_decided(place)).collect();
    for place in &missing {
        tell(*place, "the default could not be measured", record, &[&plan::default_contestant()]);
    }
    missing.is_empty()
}

/// Reports cells in which jobs of the final lack the default, and why. Returns whether most jobs have it everywhere.
fn tell_missed_finals(tuning: &Tuning, record: &Record) -> bool {
    let mut is_right = true;
    for place in tuning.cells.iter().map(CellKey::of) {
        let (all, measured) = results::finals(record, place);
        if measured < all {
            let missed = all - measured;
            let missing = format!("the default could not be measured in {missed} of {all} jobs of the final");
            tell(place, &missing, record, &[&plan::default_contestant()]);
            is_right &= 2 * measured > all;
        }
    }
    is_right
}

/// Reports cells that could not be verified, and why. Returns whether there are none.
fn tell_unverified(tuning: &Tuning, record: &Record, tuned: &Contestant) -> bool {
    let missing: Vec<CellKey> =
        tuning.cells.iter().filter(|cell| cell.verified_ratio().is_none()).map(CellKey::of).collect();
    for place in &missing {
        tell(
            *place,
            "what the rule file gains could not be verified",
            record,
            &[tuned, &plan::default_contestant()],
        );
    }
    missing.is_empty()
}

/// Reports what is missing in a cell, and why one of `whose` was not called there.
fn tell(place: CellKey, missing: &str, record: &Record, whose: &[&Contestant]) {
    let names: Vec<String> = whose.iter().map(ToString::to_string).collect();
    let known = record.exclusions(place).find(|(name, _)| names.iter().any(|one| one == name));
    let reason = known.map_or("ranks were late in every repetition", |(_, reason)| reason);
    let CellKey { collective, ranks, bytes } = place;
    eprintln!("rustcoll: {}, {ranks} ranks, {}: {missing}: {reason}", collective.name(), words::bytes(bytes));
}
