//! The results of a tuning.

use super::campaign::seconds;
use super::entry::{Stage, TuningStep};
use super::plan::{Plan, default_contestant};
use super::record::Record;
use crate::bench::placement::Placement;
use crate::command_line::TuneOptions;
use measurements::{Contestant, Measurement};
use rustcoll::algorithms::Collective;
use std::collections::BTreeSet;
use tuning::{CellKey, Decision, Field, Provenance, Skipped, Tried, Tuning, decide, words};

/// Returns all decisions, and where verified, what the rule file gained. The rule file is the contestant
/// `tuned`. Cells in which the default was not measured have no decision.
pub fn tuning(options: &TuneOptions, plan: &Plan, record: &Record, tuned: &Contestant) -> Tuning {
    let header = &record.header;
    let provenance = Provenance {
        machine: header.machine.clone(),
        library: header.library.clone(),
        version: header.version.clone(),
        date: header.date.clone(),
        launcher: options.launch.launcher.clone(),
        launches: plan.launches,
        rules: options.rules().iter().map(|path| path.display().to_string()).collect(),
    };
    let (mut cells, mut seconds_saved) = (Vec::new(), 0.0);
    for setting in &plan.settings {
        let Placement { ranks, ranks_per_host } = setting.placement;
        let placement = record.placement(ranks).unwrap_or((setting.placement.hosts(), ranks_per_host));
        for (place, field) in &setting.cells {
            let Some(decision) = undecided(record, (*place, field), placement, tuned) else { continue };
            seconds_saved += saved(&decision, field, record);
            cells.push(decision);
        }
    }
    cells.sort_by_key(|cell| (cell.collective, cell.ranks, cell.bytes));
    let is_beside = |one: &Decision, other: &Decision| beside(one) == beside(other);
    cells.chunk_by_mut(is_beside).for_each(|cells| decide(cells, plan.demands));
    for cell in &mut cells {
        add_others(cell, record);
    }
    Tuning { provenance, cells, seconds_saved }
}

fn beside(cell: &Decision) -> (Collective, usize) {
    (cell.collective, cell.ranks)
}

/// Returns the step by which all is decided. What is known later changes no decision.
fn verification(place: CellKey) -> TuningStep {
    TuningStep { ranks: place.ranks, stage: Stage::Verify, round: 0 }
}

/// Returns the times of a contestant in a stage, job by job.
fn tried(record: &Record, place: CellKey, contestant: &Contestant, stage: Stage) -> Option<Tried> {
    let name = contestant.to_string();
    let own = |(step, one): &(TuningStep, &Measurement)| step.stage == stage && one.contestant == name;
    let measured: Vec<(TuningStep, &Measurement)> = record.measured_in(place).filter(own).collect();
    let ran = measured.first()?.1.ran.clone();
    let jobs = measured.iter().map(|(step, _)| step.round + 1).max()?;
    let mut launches = vec![Vec::new(); jobs];
    for (step, one) in measured {
        launches[step.round] = seconds(&one.nanoseconds);
    }
    Some(Tried { contestant: contestant.clone(), ran, launches })
}

/// Returns how many jobs of the final measured a cell, and how many of them the default.
pub fn finals(record: &Record, place: CellKey) -> (usize, usize) {
    let measured = record.measured_in(place).filter(|(step, _)| step.stage == Stage::Final);
    let (mut all, mut of_default) = (BTreeSet::new(), BTreeSet::new());
    for (step, one) in measured {
        all.insert(step.round);
        of_default.extend((one.contestant == default_contestant().to_string()).then_some(step.round));
    }
    (all.len(), of_default.len())
}

/// Returns the contestants that were measured in a stage, without the default and rule files.
fn candidates(record: &Record, place: CellKey, is_stage: impl Fn(Stage) -> bool) -> Vec<Contestant> {
    let mut all: Vec<Contestant> = Vec::new();
    for (step, measured) in record.measured_in(place) {
        if let Ok(contestant) = measured.contestant.parse::<Contestant>()
            && is_stage(step.stage)
            && contestant.algorithm.is_some()
            && !all.contains(&contestant)
        {
            all.push(contestant);
        }
    }
    all
}

/// Returns a cell with the candidates to choose from: the finalists that were never excluded; none if no final measured the
/// default.
fn undecided(
    record: &Record,
    (place, field): (CellKey, &Field),
    (nodes, ranks_per_node): (usize, usize),
    tuned: &Contestant,
) -> Option<Decision> {
    let default = default_contestant();
    if record.was_excluded(place, &default, verification(place)) {
        return None;
    }
    let in_final = tried(record, place, &default, Stage::Final);
    let finalists = candidates(record, place, |stage| stage == Stage::Final && in_final.is_some());
    let good = finalists.iter().filter(|one| !record.was_excluded(place, one, verification(place)));
    let verified = || {
        let [default, tuned] = [&default, tuned].map(|one| tried(record, place, one, Stage::Verify));
        Some([default?, tuned?])
    };
    Some(Decision {
        collective: place.collective,
        ranks: place.ranks,
        nodes,
        ranks_per_node,
        bytes: place.bytes,
        default: in_final.or_else(|| tried(record, place, &default, Stage::Survey))?,
        candidates: good.filter_map(|one| tried(record, place, one, Stage::Final)).collect(),
        skipped: skipped(record, place, field),
        chosen: None,
        verified: verified(),
    })
}

/// Adds candidates without a final. All their times count as one launch, which is less than the final's jobs.
fn add_others(cell: &mut Decision, record: &Record) {
    let place = CellKey::of(cell);
    for contestant in candidates(record, place, |stage| stage < Stage::Final) {
        let is_new = cell.candidates.iter().all(|one| one.contestant != contestant);
        if !is_new || record.was_excluded(place, &contestant, verification(place)) {
            continue;
        }
        let stages = [Stage::Survey, Stage::Search].map(|stage| tried(record, place, &contestant, stage));
        let times: Vec<f64> = stages.iter().flatten().flat_map(Tried::times).collect();
        let ran = stages.iter().flatten().next().map(|one| one.ran.clone());
        cell.candidates.push(Tried { contestant, ran: ran.unwrap_or_default(), launches: vec![times] });
    }
}

fn skipped(record: &Record, place: CellKey, field: &Field) -> Vec<Skipped> {
    let hopeless = field.hopeless.iter().filter_map(|entrant| {
        let (seconds, least) = (entrant.predicted?, field.least?);
        let reason = format!(
            "predicted to take {}, {:.1} times the least prediction",
            words::time(seconds),
            seconds / least
        );
        Some(Skipped { contestant: entrant.contestant.clone(), reason })
    });
    let mut all: Vec<Skipped> = hopeless.collect();
    for (name, reason) in record.exclusions(place) {
        let Ok(contestant) = name.parse::<Contestant>() else { continue };
        if all.iter().all(|one| one.contestant != contestant) {
            all.push(Skipped { contestant, reason: words::on_one_line(reason) });
        }
    }
    all
}

/// Returns the seconds that hopeless candidates would have taken in the survey, called as often as the default. Their
/// times are in proportion to their predictions; the best candidate's time has the least prediction.
fn saved(cell: &Decision, field: &Field, record: &Record) -> f64 {
    let place = CellKey::of(cell);
    let surveyed = |contestant: &Contestant| tried(record, place, contestant, Stage::Survey);
    let measured = field.entrants.iter().filter_map(|entrant| surveyed(&entrant.contestant)?.median());
    let default = surveyed(&default_contestant());
    let repetitions = default.as_ref().map_or(0, |default| default.times().len());
    let best = measured.chain(default.and_then(|default| default.median())).reduce(f64::min);
    let (Some(best), Some(least)) = (best, field.least.filter(|least| *least > 0.0)) else { return 0.0 };
    let ratios = field.hopeless.iter().filter_map(|entrant| Some(entrant.predicted? / least));
    ratios.sum::<f64>() * best * repetitions as f64
}
