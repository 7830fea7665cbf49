//! `rustcoll tune`

mod budget;
mod campaign;
mod csv;
mod entry;
mod hearing;
mod heats;
mod interruption;
mod outputs;
mod plan;
mod record;
mod results;
mod schedule;

use crate::command_line::TuneOptions;
use crate::failure::{Failure, Outcome};
use crate::words::counted;
use campaign::Campaign;
use interruption::Interruption;
use measurements::Contestant;
use plan::Plan;
use record::Record;
use schedule::Schedule;
use std::io::Write;
use std::path::Path;
use tuning::Tuning;

/// Measures what is not measured yet, and writes what comes of it.
pub fn run(options: &TuneOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let tuned = options.verify.then(|| tuned(&options.output)).transpose()?;
    let plan = Plan::new(options)?;
    let launcher = plan::launcher(options)?;
    let record = Record::open(&options.output, plan::header(options)?, options.from_scratch)?;
    let interruption = Interruption::listen()?;
    let schedule = Schedule::new(&plan.budget, plan.settings.len(), options.verify);
    let mut campaign = Campaign { plan: &plan, launcher, record, interruption, schedule };
    campaign.measure()?;
    let mut tuning = results::tuning(options, &plan, &campaign.record);
    complain(&plan, &tuning)?;
    outputs::write(&tuning, &options.output, plan.demands)?;
    if let Some(tuned) = tuned.filter(|_| outputs::has_rules(&tuning)) {
        campaign.verify(&tuned)?;
        tuning = results::tuning(options, &plan, &campaign.record);
        outputs::write(&tuning, &options.output, plan.demands)?;
    }
    drop(campaign);
    outputs::print(&tuning, &options.output, output)?;
    let is_fast = !options.verify || outputs::print_verified(&tuning, output)?;
    Ok(if is_fast { Outcome::Right } else { Outcome::Wrong })
}

/// The contestant that follows the rule file. Fails if its path cannot be told to the measuring program.
fn tuned(folder: &Path) -> Result<Contestant, Failure> {
    let folder = std::path::absolute(folder)?;
    let path = outputs::rule_file(&folder).display().to_string();
    if path.contains([':', ',']) || path.len() > LONGEST_PATH {
        return Err(Failure::Usage(format!(
            "--output {path}: --verify needs a path of at most {LONGEST_PATH} bytes, with neither `:` nor `,`"
        )));
    }
    Ok(Contestant { rules: Some(path), ..plan::default_contestant() })
}

/// As long as a value that is attached to a communicator may be.
const LONGEST_PATH: usize = 255;

/// Fails if nothing could be measured, and tells of cells without decisions.
fn complain(plan: &Plan, tuning: &Tuning) -> Result<(), Failure> {
    let missing = plan.budget.cells - tuning.cells.len();
    if tuning.cells.is_empty() {
        return Err(Failure::Input("the default could not be measured in any cell".into()));
    }
    if missing > 0 {
        eprintln!(
            "rustcoll: in {} of {} the default could not be measured",
            missing,
            counted(plan.budget.cells, "cell")
        );
    }
    Ok(())
}
