//! `rustcoll bench`

mod bound;
pub mod cells;
mod duration;
pub mod for_fit;
pub mod job;
mod lab;
pub mod launcher;
mod limits;
pub mod machine;
mod other_mpis;
mod overview;
pub mod performance;
pub mod placement;
mod plan;
mod repetitions;
mod report;
mod results;
pub mod shaping;
pub mod store;

use crate::command_line::BenchOptions;
use crate::failure::{Failure, Outcome};
use crate::interruption;
use crate::progress::Progress;
use crate::words::counted;
use cells::Cells;
use job::{Ended, Hearer};
use launcher::Launcher;
use measurements::{Contestant, Heat, OutputLine, Series};
use repetitions::short_lived_words;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::io::Write;
use std::ops::ControlFlow;

/// One job: its ranks, the collectives that it calls, and its contestants.
#[derive(Clone, Debug)]
pub struct Race {
    pub ranks: usize,
    pub ranks_per_host: usize,
    pub heats: Vec<Heat>,
    /// The contestants of heats that name none.
    pub contestants: Vec<Contestant>,
}

/// Measures, and prints the results.
pub fn run(options: &BenchOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    options.repetitions.check()?;
    interruption::listen()?;
    if let Some(file) = &options.for_fit {
        return for_fit::run(options, file, output);
    }
    let race = race(options)?;
    let words = [options.repetitions.words(), short_lived_words(options.short_lived)].concat();
    let launcher = Launcher::new(&options.launch, words)?;
    let mut cells = Cells::default();
    let ended = job::run(&launcher, &race, &mut Adding { cells: &mut cells, progress: race.progress() });
    // Keep and show what was measured, even if the job failed later, or if there is nowhere to keep or show it.
    let kept = store::write(options.times.csv.as_deref(), options.times.json.as_deref(), &cells);
    let shown = results::write(&cells, output);
    let is_right = tell(&race, &cells, &ended);
    kept?;
    shown?;
    interruption::check(|| "only a part was measured".into())?;
    Ok(if is_right { Outcome::Right } else { Outcome::Wrong })
}

/// Reports what went wrong, and cells that are missing. Returns whether there was nothing to report.
fn tell(race: &Race, cells: &Cells, ended: &Ended) -> bool {
    let complaints = ended.complaints(race.ranks);
    for complaint in &complaints {
        eprintln!("rustcoll: {complaint}");
    }
    let missing = cells.left(race, 0).map_or(0, |left| left.cells());
    if missing > 0 {
        eprintln!("rustcoll: {} of {} could not be measured by all", missing, counted(race.cells(), "cell"));
    }
    complaints.is_empty() && missing == 0
}

/// Adds measurements to cells, and shows the job's progress.
pub struct Adding<'cells> {
    pub cells: &'cells mut Cells,
    pub progress: Progress,
}

impl Hearer for Adding<'_> {
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()> {
        self.progress.show(part);
        if let OutputLine::Measurement(measurement) = line {
            self.cells.add(measurement);
        }
        ControlFlow::Continue(())
    }
}

fn race(options: &BenchOptions) -> Result<Race, Failure> {
    let series = series(&options.series, &options.bytes)?;
    if options.short_lived.is_some() {
        series.iter().try_for_each(|series| series.operation.check_short_lived()).map_err(Failure::Usage)?;
    }
    Race::new(options.ranks, ranks_per_host(options), series, options.contestants.clone())
        .map_err(Failure::Usage)
}

fn ranks_per_host(options: &BenchOptions) -> usize {
    options.ranks_per_host.unwrap_or(options.ranks)
}

/// Reads collectives as users name them. A collective without bytes of its own gets `bytes`.
pub fn series(names: &[String], bytes: &[usize]) -> Result<Vec<Series>, Failure> {
    let read = |text: &String| match text.contains(':') {
        true => text.parse(),
        false => text.parse().or_else(|_: String| {
            let bytes: Vec<String> = bytes.iter().map(usize::to_string).collect();
            format!("{text}:{}", bytes.join(",")).parse()
        }),
    };
    names.iter().map(read).collect::<Result<_, String>>().map_err(Failure::Usage)
}

/// Returns each item once, ascending.
pub fn distinct<Item: Ord + Clone>(items: &[Item]) -> Vec<Item> {
    items.iter().cloned().collect::<BTreeSet<_>>().into_iter().collect()
}

/// Fails if an item is there twice.
pub fn check_once<Item: PartialEq + Display>(what: &str, items: &[Item]) -> Result<(), String> {
    match items.iter().enumerate().find(|(place, item)| items[..*place].contains(item)) {
        Some((_, item)) => Err(format!("the {what} {item} is named twice")),
        None => Ok(()),
    }
}

impl Race {
    /// Fails if there are too few ranks, if they do not fill the hosts, or if a contestant is named twice.
    pub fn new(
        ranks: usize,
        ranks_per_host: usize,
        series: Vec<Series>,
        contestants: Vec<Contestant>,
    ) -> Result<Race, String> {
        if ranks < 2 {
            return Err(format!(
                "{} cannot call a collective: at least 2 are needed",
                counted(ranks, "rank")
            ));
        }
        series.iter().try_for_each(|series| series.operation.check_ranks(ranks))?;
        if !ranks.is_multiple_of(ranks_per_host) {
            return Err(format!("{ranks} ranks do not fill hosts of {ranks_per_host} each"));
        }
        check_once("contestant", &contestants)?;
        let heats = series.into_iter().map(|series| Heat { series, contestants: Vec::new() }).collect();
        Ok(Race { ranks, ranks_per_host, heats, contestants })
    }

    /// Returns the collectives that the job calls.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.heats.iter().map(|heat| &heat.series)
    }

    /// Returns the contestants of a heat.
    pub fn contestants_of<'race>(&'race self, heat: &'race Heat) -> &'race [Contestant] {
        if heat.contestants.is_empty() { &self.contestants } else { &heat.contestants }
    }

    /// Returns the contestants of all heats. A contestant in several heats comes several times.
    pub fn all_contestants(&self) -> impl Iterator<Item = &Contestant> {
        self.heats.iter().flat_map(|heat| self.contestants_of(heat))
    }

    /// Returns the number of cells.
    pub fn cells(&self) -> usize {
        self.series().map(|series| series.bytes.len()).sum()
    }

    /// Returns the number of results to expect: one of each contestant in each cell.
    pub fn results(&self) -> usize {
        self.heats.iter().map(|heat| heat.series.bytes.len() * self.contestants_of(heat).len()).sum()
    }

    /// Returns the race with only the wanted cells; `None` if there are none.
    pub fn only(&self, is_wanted: impl Fn(&Heat, usize) -> bool) -> Option<Race> {
        let mut race = self.clone();
        for (heat, whole) in race.heats.iter_mut().zip(&self.heats) {
            heat.series.bytes.retain(|&bytes| is_wanted(whole, bytes));
        }
        race.heats.retain(|heat| !heat.series.bytes.is_empty());
        (!race.heats.is_empty()).then_some(race)
    }

    /// Returns a bar that shows the job's progress.
    pub fn progress(&self) -> Progress {
        Progress::new(&format!("{} ranks", self.ranks))
    }
}
