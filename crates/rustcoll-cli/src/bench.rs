//! `rustcoll bench`

mod bound;
mod cells;
mod job;
mod lab;
pub mod launcher;
mod limits;
mod machine;
mod other_mpis;
pub mod performance;
mod plan;
mod plots;
mod report;
mod results;
mod store;

use crate::command_line::BenchOptions;
use crate::failure::{Failure, Outcome};
use crate::words::counted;
use cells::Cells;
use launcher::Launcher;
use measurements::{Contestant, Series};
use std::io::Write;

/// One job: who calls what, on how many ranks.
#[derive(Clone, Debug)]
pub struct Race {
    pub ranks: usize,
    pub ranks_per_host: usize,
    pub series: Vec<Series>,
    pub contestants: Vec<Contestant>,
}

/// Measures, and prints what came of it.
pub fn run(options: &BenchOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let race = race(options)?;
    let launcher = Launcher::new(&options.launch, &options.repetitions)?;
    let mut cells = Cells::default();
    let ended = job::run(&launcher, &race, &mut |measurement| cells.add(measurement));
    // Nothing that was measured is lost, whatever happened later.
    store::write(options.csv.as_deref(), options.json.as_deref(), &cells)?;
    results::write(&cells, output)?;
    for complaint in &ended.complaints {
        eprintln!("rustcoll: {complaint}");
    }
    let missing = cells.left(&race, 0).map_or(0, |left| left.cells());
    if missing > 0 {
        eprintln!("rustcoll: {} of {} could not be measured by all", missing, counted(race.cells(), "cell"));
    }
    Ok(if ended.complaints.is_empty() && missing == 0 { Outcome::Right } else { Outcome::Wrong })
}

fn race(options: &BenchOptions) -> Result<Race, Failure> {
    let series = |text: &String| match text.contains(':') {
        true => text.parse(),
        false => text.parse().or_else(|_: String| {
            let bytes: Vec<String> = options.bytes.iter().map(usize::to_string).collect();
            format!("{text}:{}", bytes.join(",")).parse()
        }),
    };
    let series = options.series.iter().map(series).collect::<Result<_, String>>().map_err(Failure::Usage)?;
    let ranks_per_host = options.ranks_per_host.unwrap_or(options.ranks);
    Race::new(options.ranks, ranks_per_host, series, options.contestants.clone()).map_err(Failure::Usage)
}

impl Race {
    /// Fails if there is nobody to race, or the ranks do not fill the hosts.
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
        if !ranks.is_multiple_of(ranks_per_host) {
            return Err(format!("{ranks} ranks do not fill hosts of {ranks_per_host} each"));
        }
        let twice = |(place, contestant)| contestants[..place].contains(contestant);
        if let Some((_, contestant)) = contestants.iter().enumerate().find(|&numbered| twice(numbered)) {
            return Err(format!("the contestant {contestant} is named twice"));
        }
        Ok(Race { ranks, ranks_per_host, series, contestants })
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.series.iter().map(|series| series.bytes.len()).sum()
    }
}
