//! `rustcoll guidelines`

use crate::bench::cells::{Cell, Cells};
use crate::bench::launcher::Launcher;
use crate::bench::{Adding, Race, distinct, job, series, store};
use crate::command_line::{Format, GuidelinesOptions};
use crate::failure::{Failure, Outcome};
use crate::interruption;
use crate::progress::Progress;
use crate::words::counted;
use measurements::{Cause, Contestant, Heat, Measurement, OutputLine, Series};
use rustcoll::algorithms::Collective;
use rustcoll::selection::quantity;
use rustcoll::text::{Alignment, columns};
use serde_json::json;
use std::io::Write;
use std::ops::ControlFlow;
use tuning::words::{self, probability, time};
use tuning::{Comparison, Decision, Guideline, Limits, MockUp, Tried, comparisons, violations};

const HEADINGS: [(&str, Alignment); 8] = [
    ("guideline", Alignment::Left),
    ("ranks", Alignment::Right),
    ("bytes", Alignment::Right),
    ("time", Alignment::Right),
    ("faster", Alignment::Left),
    ("its time", Alignment::Right),
    ("ratio", Alignment::Right),
    ("p", Alignment::Right),
];

/// The message if no guideline has both its sides measured.
const NOTHING: &str = "nothing could be compared: pattern needs mock-ups of the collective, monotony two sizes, \
                       and split a size that is a multiple of another";

/// Measures, and prints the guidelines that do not hold.
pub fn run(options: &GuidelinesOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    options.repetitions.check()?;
    interruption::listen()?;
    let races = races(options)?;
    let mut campaign = Campaign { options, cells: Cells::default(), reference: None, is_complete: true };
    for race in &races {
        for launch in 0..options.launches as usize {
            campaign.measure(race, launch)?;
        }
    }
    let cells: Vec<Decision> = campaign.cells.0.iter().filter_map(|cell| decision(cell, options)).collect();
    let all = comparisons(&cells, &options.only);
    if all.is_empty() {
        return Err(Failure::Input(NOTHING.into()));
    }
    let limits = Limits { factor: options.factor, significance: options.significance };
    let violations = violations(&all, limits);
    match options.format {
        Format::Text => write_text(options, &violations, all.len(), output)?,
        Format::Json => write_json(options, &violations, all.len(), output)?,
    }
    let is_right = violations.is_empty() && campaign.is_complete;
    Ok(if is_right { Outcome::Right } else { Outcome::Wrong })
}

/// Returns a job for each number of ranks, in which the component races its mock-ups.
fn races(options: &GuidelinesOptions) -> Result<Vec<Race>, Failure> {
    let contestant = &options.contestant;
    if contestant.is_copy() || contestant.algorithm.is_some() || !contestant.parameters.is_empty() {
        let reason =
            "a component is expected, as tuned, or rustcoll@FILE: guidelines are about what it chooses";
        return Err(Failure::Usage(format!("--contestant {contestant}: {reason}")));
    }
    let mut names = options.series.clone();
    if names.is_empty() {
        let all = Collective::ALL.into_iter().filter(|collective| MockUp::all(*collective).next().is_some());
        names.extend(all.map(|collective| collective.name().to_owned()));
    }
    let all = series(&names, &options.bytes)?;
    all.iter().try_for_each(check_plain)?;
    let heats: Vec<Heat> = merged(all).into_iter().map(|series| heat(series, options)).collect();
    let race = |&ranks| {
        let ranks_per_host = options.ranks_per_host.unwrap_or(ranks);
        Ok(Race { heats: heats.clone(), ..Race::new(ranks, ranks_per_host, Vec::new(), Vec::new())? })
    };
    distinct(&options.ranks).iter().map(race).collect::<Result<_, String>>().map_err(Failure::Usage)
}

fn check_plain(series: &Series) -> Result<(), Failure> {
    match series.operation.is_plain() {
        true => Ok(()),
        false => Err(Failure::Usage(format!(
            "{}: guidelines are about blocking collectives, as {}",
            series.name(),
            series.operation.collective.name()
        ))),
    }
}

/// Returns each collective once, with all the bytes that the user names for it.
fn merged(all: Vec<Series>) -> Vec<Series> {
    let mut merged: Vec<Series> = Vec::new();
    for series in all {
        match merged.iter_mut().find(|one| one.operation == series.operation) {
            Some(one) => one.bytes.extend(series.bytes),
            None => merged.push(series),
        }
    }
    merged.iter_mut().for_each(|one| one.bytes = distinct(&one.bytes));
    merged
}

fn heat(series: Series, options: &GuidelinesOptions) -> Heat {
    let mut contestants = vec![options.contestant.clone()];
    if options.only.contains(&Guideline::Pattern) {
        contestants.extend(mock_ups(series.operation.collective, &options.contestant));
    }
    Heat { series, contestants }
}

/// Returns the component with each mock-up of a collective. A mock-up calls the component's other collectives.
fn mock_ups(collective: Collective, component: &Contestant) -> impl Iterator<Item = Contestant> {
    let all = MockUp::all(collective);
    all.map(|mock_up| Contestant { algorithm: Some(mock_up.name.to_owned()), ..component.clone() })
}

/// All jobs, and what they measured.
struct Campaign<'options> {
    options: &'options GuidelinesOptions,
    cells: Cells,
    /// Seconds of the shortest calls until their mean was known well, in the job that needed most.
    reference: Option<f64>,
    is_complete: bool,
}

impl Campaign<'_> {
    fn measure(&mut self, race: &Race, launch: usize) -> Result<(), Failure> {
        let options = self.options;
        let mut words = options.repetitions.words();
        words.push("--estimate".into());
        words.extend(
            self.reference.into_iter().flat_map(|seconds| ["--reference".into(), seconds.to_string()]),
        );
        let launcher = Launcher::new(&options.launch, words)?;
        let work = format!("{} ranks, job {} of {}", race.ranks, launch + 1, options.launches);
        let adding = Adding { cells: &mut self.cells, progress: Progress::new(&work) };
        let ended = job::run(&launcher, race, &mut Launch { adding, launch, reference: &mut self.reference });
        // Keep what was measured, whatever happens later.
        store::write(options.times.csv.as_deref(), options.times.json.as_deref(), &self.cells)?;
        interruption::check(|| "a part of the jobs proves nothing".into())?;
        if ended.library.is_none() || ended.is_hopeless {
            // The next job would end in the same way.
            return Err(Failure::Input(format!("{work}: {}", ended.complaints(race.ranks).join("; "))));
        }
        for complaint in ended.complaints(race.ranks) {
            eprintln!("rustcoll: {work}: {complaint}");
        }
        // A call that the component does not serve violates nothing.
        let has_failed = ended.faults.iter().any(|fault| fault.cause != Cause::NotEligible);
        self.is_complete &= ended.trouble.is_none() && !has_failed;
        Ok(())
    }
}

/// Receives the lines of one of several jobs that measure the same.
struct Launch<'cells> {
    adding: Adding<'cells>,
    launch: usize,
    reference: &'cells mut Option<f64>,
}

impl job::Hearer for Launch<'_> {
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()> {
        let line = match line {
            OutputLine::Measurement(measurement) => {
                OutputLine::Measurement(Measurement { launch: self.launch, ..measurement })
            }
            OutputLine::Reference(reference) => {
                let longest = self.reference.map_or(reference.seconds, |known| known.max(reference.seconds));
                *self.reference = Some(longest);
                return ControlFlow::Continue(());
            }
            other => other,
        };
        self.adding.hear(line, part)
    }
}

/// Returns a cell as guidelines need it: the component, and its mock-ups as candidates.
fn decision(cell: &Cell, options: &GuidelinesOptions) -> Option<Decision> {
    let collective = Collective::ALL.into_iter().find(|collective| collective.name() == cell.collective)?;
    let tried = |contestant: Contestant| {
        let name = contestant.to_string();
        let ran = cell.ran(&name).unwrap_or_default().to_owned();
        Tried { launches: cell.launches(&name), contestant, ran }
    };
    let ranks_per_node = options.ranks_per_host.unwrap_or(cell.ranks);
    Some(Decision {
        collective,
        ranks: cell.ranks,
        nodes: cell.ranks / ranks_per_node,
        ranks_per_node,
        bytes: cell.bytes,
        default: tried(options.contestant.clone()),
        candidates: mock_ups(collective, &options.contestant).map(tried).collect(),
        skipped: Vec::new(),
        chosen: None,
        verified: None,
    })
}

fn write_text(
    options: &GuidelinesOptions,
    violations: &[&Comparison],
    compared: usize,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let (contestant, factor) = (&options.contestant, options.factor);
    let compared = counted(compared, "comparison");
    let worst = violations.iter().max_by(|one, other| one.ratio().total_cmp(&other.ratio()));
    let Some(worst) = worst else {
        writeln!(
            output,
            "{contestant}: no guideline is violated by a factor of more than {factor}, in {compared}"
        )?;
        return Ok(());
    };
    let rows: Vec<_> = violations.iter().map(|one| row(one)).collect();
    output.write_all(columns(HEADINGS, &rows).as_bytes())?;
    let count = counted(violations.len(), "violation");
    writeln!(output, "\n{contestant}: {count} by a factor of more than {factor}, in {compared}")?;
    let (ranks, bytes) = (worst.ranks, words::bytes(worst.bytes));
    writeln!(
        output,
        "The worst: {}, {ranks} ranks, {bytes}: {:.2} times as long",
        worst.guideline,
        worst.ratio()
    )?;
    Ok(())
}

fn row(one: &Comparison) -> [String; 8] {
    [
        one.guideline.clone(),
        one.ranks.to_string(),
        quantity::in_units(one.bytes),
        time(one.seconds),
        one.other.clone(),
        time(one.other_seconds),
        format!("{:.2}", one.ratio()),
        probability(one.probability),
    ]
}

fn write_json(
    options: &GuidelinesOptions,
    violations: &[&Comparison],
    compared: usize,
    output: &mut impl Write,
) -> Result<(), Failure> {
    let violation = |one: &&Comparison| {
        json!({
            "kind": one.kind.name(),
            "guideline": one.guideline,
            "collective": one.collective.name(),
            "ranks": one.ranks,
            "bytes": one.bytes,
            "seconds": one.seconds,
            "faster": one.other,
            "faster_seconds": one.other_seconds,
            "ratio": one.ratio(),
            "probability": one.probability,
        })
    };
    let all = json!({
        "contestant": options.contestant.to_string(),
        "factor": options.factor,
        "significance": options.significance,
        "comparisons": compared,
        "violations": violations.iter().map(violation).collect::<Vec<_>>(),
    });
    writeln!(output, "{all:#}")?;
    Ok(())
}
