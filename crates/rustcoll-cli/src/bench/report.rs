//! The report of a plan's experiments. It has ratios alone, since times of a shared machine mean nothing elsewhere.

use super::bound::FORMULAS;
use super::cells::Cells;
use super::limits::{Ratio, Verdict, by_name, ratios};
use super::plan::{Against, Experiment, Limit, Plan};
use super::store::Store;
use super::{Race, machine, overview};
use crate::failure::Failure;
use crate::files;
use crate::words::counted;
use measurements::{Contestant, Heat};
use rustcoll::selection::quantity;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

const INTRODUCTION: &str = "# Performance

For readers who compare rustcoll with other MPIs. A number is the time of rustcoll divided by the time of the fastest other component of Open MPI.
Below 1, rustcoll is faster. Columns of *overlap* are percentages, and more is better. `rustcoll performance` writes this page; do not edit it.
";

const OVERVIEW: &str = "
The upper number of a cell is the geometric mean of all measurements. The lower one is the worst measurement: one number of bytes on one number of
ranks. A number over 1.1 is bold. Block lengths and neighbours are those of [the shapes](tuning.md#to-compare). Columns of *two groups* are of
inter-communicators, in all three forms. Columns of *overlap* say which part of a call is hidden behind computing: the mean, in parentheses the
mean of the best other component, and below them the worst.
";

const METHOD: &str = "
## How it is measured

A number is the median time of the first contestant divided by that of the best of the others, unless a section says otherwise. All of them
take turns in one job. A time ends when the last rank has ended the call. Each section says when it begins, and whether what ranks send is new in
each call, as in programs, or the same data again. Other MPIs take turns with it in jobs of their own, several of each; then the median of the
jobs' medians counts. Results are checked. Bytes are those by the collective's measure ([rules.md](rules.md)), and those of a block where it has
none.
";

const LIMITS: &str = "

## Limits

*Number* is how many cells were measured. *Each* is the highest ratio that a cell may have, *worst* the highest that was measured. *Mean* is the highest
geometric mean of the ratios that there may be, *found* is the one that was measured. Sections below give the reasons of cells beyond a limit. A reason
explains ratios up to a limit of its own.
";

const BOUND: &str = "

Here times are divided by a bound, the least that algorithms known for it take where a message of n bytes takes alpha + n beta.
Alpha and beta come from broadcasts between two ranks of the same experiment. A rank that has several messages under way
at once can be faster, for they share the latency. With p ranks and q = ceil(log2 p):

";

/// An experiment and its results.
struct Outcome<'plan> {
    experiment: &'plan Experiment,
    ratios: Vec<Ratio<'plan>>,
    /// Contestants that were not measured although others were.
    missing: Vec<String>,
    verdicts: Vec<(&'plan Limit, Verdict)>,
    /// How many cells lack a measurement, and how many there are.
    lacking: (usize, usize),
}

impl Outcome<'_> {
    /// Returns what was not measured, in words: the experiment, or cells of its limits. `failed`: why some experiments were not.
    fn unmeasured(&self, failed: &BTreeMap<String, String>) -> Vec<String> {
        let name = &self.experiment.name;
        if let Some(reason) = failed.get(name) {
            return vec![format!("{name} ({reason})")];
        }
        if self.ratios.is_empty() {
            return vec![format!("{name} (nothing to compare with)")];
        }
        if let (lacking @ 1.., all) = self.lacking {
            return vec![format!("{name} ({lacking} of {})", counted(all, "cell"))];
        }
        let empty = self.verdicts.iter().filter(|(_, verdict)| verdict.cells == 0);
        empty.map(|(limit, _)| format!("{name} ({})", limit.cells.described())).collect()
    }
}

/// Writes the report. Returns whether all that is asked for was measured, all means are within their limits, and cells beyond a
/// limit have a reason.
pub fn write(
    plan: &Plan,
    store: &Store,
    failed: &BTreeMap<String, String>,
    is_asked: &dyn Fn(&str) -> bool,
    path: &Path,
    output: &mut impl Write,
) -> Result<bool, Failure> {
    let outcomes = outcomes(plan, store)?;
    let overview = overview(&outcomes);
    let measured = |name: &String| plan.experiments.iter().any(|one| one.name == *name);
    let machines = store.machines.iter().filter(|(name, _)| measured(name));
    let machines = machine::of_all(&machines.map(|(name, one)| (name.clone(), one.clone())).collect());
    let first = if overview.is_empty() { String::new() } else { format!("\n{overview}{OVERVIEW}") };
    let note = plan.note.as_ref().map(|note| format!("\n{}\n", note.trim())).unwrap_or_default();
    let mut text = format!("{INTRODUCTION}{first}{note}{METHOD}\n{machines}{LIMITS}{}", summary(&outcomes));
    outcomes.iter().for_each(|outcome| text += &section(plan, outcome));
    files::write(Some(path), text.as_bytes(), &mut io::sink())?;
    for outcome in outcomes.iter().filter(|outcome| !outcome.ratios.is_empty()) {
        writeln!(output, "{}", table(outcome))?;
    }
    writeln!(output, "{}", format!("{overview}{}", summary(&outcomes)).trim())?;
    let asked = outcomes.iter().filter(|outcome| is_asked(&outcome.experiment.name));
    let unmeasured: Vec<String> = asked.flat_map(|outcome| outcome.unmeasured(failed)).collect();
    if !unmeasured.is_empty() {
        writeln!(output, "\nNot measured: {}", unmeasured.join("; "))?;
    }
    let mut verdicts = outcomes.iter().flat_map(|outcome| &outcome.verdicts);
    Ok(unmeasured.is_empty() && verdicts.all(|(_, verdict)| is_explained(verdict)))
}

/// Returns the first table, from all experiments that have a place in it.
fn overview(outcomes: &[Outcome]) -> String {
    let mut all = Vec::new();
    for outcome in outcomes {
        if let Some(place) = &outcome.experiment.place {
            all.extend(outcome.ratios.iter().map(|ratio| (&place[..], ratio)));
        }
    }
    overview::table(&all)
}

fn is_explained(verdict: &Verdict) -> bool {
    verdict.mean_holds && verdict.beyond.iter().all(|(_, reason)| reason.is_some())
}

fn outcomes<'plan>(plan: &'plan Plan, store: &Store) -> Result<Vec<Outcome<'plan>>, Failure> {
    let nothing = Default::default();
    let outcome = |experiment: &'plan Experiment| {
        let cells = store.experiments.get(&experiment.name).unwrap_or(&nothing);
        let ratios = ratios(plan, experiment, cells)?;
        let verdicts =
            experiment.limits.iter().map(|limit| (limit, Verdict::of(limit, &ratios, plan))).collect();
        let missing = missing(&plan.contestants(experiment)?, cells);
        let lacking = lacking(&plan.races(experiment)?, experiment.launches, &missing, cells);
        Ok(Outcome { experiment, ratios, missing, verdicts, lacking })
    };
    plan.experiments.iter().map(outcome).collect::<Result<_, String>>().map_err(Failure::Input)
}

fn missing(contestants: &[Contestant], cells: &Cells) -> Vec<String> {
    let names = contestants.iter().map(Contestant::to_string);
    names.filter(|name| !cells.0.is_empty() && cells.0.iter().all(|cell| cell.ran(name).is_none())).collect()
}

/// Returns how many cells lack a contestant in some launch, and how many there are. Does not ask for those of `missing`.
fn lacking(races: &[Race], launches: usize, missing: &[String], cells: &Cells) -> (usize, usize) {
    let lacking = |race: &Race| {
        let mut race = race.clone();
        race.contestants.retain(|contestant| !missing.contains(&contestant.to_string()));
        let is_lacking = |heat: &Heat, bytes| {
            let cell = cells.find(&heat.series.name(), race.ranks, bytes);
            !cell.is_some_and(|cell| {
                (0..launches).all(|launch| cell.is_whole(race.contestants_of(heat), launch))
            })
        };
        race.only(is_lacking).map_or(0, |race| race.cells())
    };
    (races.iter().map(lacking).sum(), races.iter().map(Race::cells).sum())
}

/// Returns a table of all limits and their results.
fn summary(outcomes: &[Outcome]) -> String {
    let mut text = "\n| experiment | cells | number | each | worst | mean | found | |\n|---|---|--:|--:|--:|--:|--:|---|\n".to_owned();
    for (outcome, (limit, verdict)) in
        outcomes.iter().flat_map(|outcome| outcome.verdicts.iter().map(move |verdict| (outcome, verdict)))
    {
        let mut cells = limit.cells.described();
        if let Some(algorithm) = &limit.algorithm {
            let _ = write!(cells, " by `{algorithm}`");
        }
        let found = found(verdict);
        let _ = writeln!(
            text,
            "| {} | {cells} | {} | {} | {} | {} | {} | {found} |",
            outcome.experiment.name,
            verdict.cells,
            number(limit.each),
            number(verdict.worst),
            number(limit.mean),
            number(verdict.mean),
        );
    }
    text
}

/// Returns the result of a limit in words.
fn found(verdict: &Verdict) -> String {
    let explained = verdict.beyond.iter().filter(|(_, reason)| reason.is_some()).count();
    let mut words = Vec::new();
    words.extend((explained > 0).then(|| format!("{explained} beyond it, with a reason")));
    let unexplained = verdict.beyond.len() - explained;
    words.extend((unexplained > 0).then(|| format!("{unexplained} beyond it")));
    let within = verdict.within_again;
    words.extend((within > 0).then(|| format!("{within} within it when measured again")));
    words.extend((!verdict.mean_holds).then(|| "the mean is beyond it".to_owned()));
    match verdict.cells {
        0 => "not measured".into(),
        _ if words.is_empty() => "holds".into(),
        _ => words.join("; "),
    }
}

fn number(number: Option<f64>) -> String {
    number.map_or(String::new(), |number| format!("{number:.2}"))
}

fn section(plan: &Plan, outcome: &Outcome) -> String {
    let experiment = outcome.experiment;
    let mut text = format!("\n## {}\n\n{}\n", experiment.title, setting(plan, experiment));
    if !outcome.missing.is_empty() {
        let _ = writeln!(text, "\nNot measured, and so not compared with: {}.", outcome.missing.join(", "));
    }
    if outcome.ratios.is_empty() {
        return text + "\nNot measured.\n";
    }
    let _ = write!(text, "\n{}", table(outcome));
    let beyond: BTreeSet<(String, Option<String>)> =
        outcome.verdicts.iter().flat_map(|(_, verdict)| verdict.beyond.clone()).collect();
    if !beyond.is_empty() {
        text += "\nBeyond a limit:\n\n";
    }
    for (cell, reason) in beyond {
        let _ = writeln!(text, "- {cell}. {}", reason.as_deref().unwrap_or("The reason is not known."));
    }
    text
}

/// Returns where the experiment was measured, and with what.
fn setting(plan: &Plan, experiment: &Experiment) -> String {
    let contestants = plan.contestants(experiment).unwrap_or_default();
    let names: Vec<String> = contestants.iter().map(|contestant| format!("`{contestant}`")).collect();
    let mut text = match &experiment.network {
        Some(network) => format!(
            "Emulated network: latency {}, bandwidth {}, gap {}; ranks on each host: {}.",
            network.latency, network.bandwidth, network.gap, experiment.ranks_per_host
        ),
        None => "One node.".to_owned(),
    };
    match (names.split_first(), experiment.against) {
        (Some((first, _)), Against::Bound) => text += &format!(" {first}."),
        (Some((first, others)), Against::BestOther) => {
            text += &format!(" {first} against {}.", others.join(" and "));
        }
        (None, _) => {}
    }
    text += match experiment.hot {
        true => " Calls begin after a barrier.",
        false => " Ranks begin a call at one instant.",
    };
    text += match experiment.fresh {
        true => " Ranks write what they send before each call.",
        false => " Ranks send the same data in each call.",
    };
    if experiment.launches > 1 {
        let _ = write!(text, " {} jobs of each MPI.", experiment.launches);
    }
    if experiment.twice {
        text += " A cell beyond a limit is measured in one more job, and fails only if it is beyond it there too. Tables and means \
                 have the ratio of the first jobs.";
    }
    if let Some(calls) = experiment.short_lived {
        let _ =
            write!(text, " A time is that of making a communicator, {calls} calls on it, and freeing it.");
    }
    for (name, value) in &experiment.mca {
        let _ = write!(text, " `{name}` is `{value}`.");
    }
    for path in &experiment.rules {
        let _ = write!(text, " Rules: `{path}`.");
    }
    if experiment.against == Against::Bound {
        let _ = write!(text, "{BOUND}{FORMULAS}");
    }
    text
}

/// Returns all ratios of an experiment: a row for each collective and number of ranks, a column for each of bytes.
fn table(outcome: &Outcome) -> String {
    let ratios = &outcome.ratios;
    let bytes: BTreeSet<usize> = ratios.iter().map(|ratio| ratio.place.bytes).collect();
    let head: String = bytes.iter().map(|&bytes| format!(" {} |", quantity::in_units(bytes))).collect();
    let name = &outcome.experiment.name;
    let mut text = format!("| {name} | ranks |{head}\n|---|--:|{}\n", "--:|".repeat(bytes.len()));
    for (name, own) in by_name(ratios) {
        let ranks: BTreeSet<usize> = own.iter().map(|ratio| ratio.place.ranks).collect();
        for ranks in ranks {
            let cell = |bytes| {
                own.iter().find(|ratio| (ratio.place.ranks, ratio.place.bytes) == (ranks, bytes)).copied()
            };
            let cells: String = bytes.iter().map(|&bytes| format!(" {} |", shown(cell(bytes)))).collect();
            let _ = writeln!(text, "| {name} | {ranks} |{cells}");
        }
    }
    text
}

fn shown(cell: Option<&Ratio>) -> String {
    match cell.map(|cell| cell.overlap) {
        Some(Some([own, others])) => format!("{own:.0} % ({others:.0} %)"),
        _ => number(cell.map(|cell| cell.ratio)),
    }
}
