//! `rustcoll bench --for-fit`: measures the times for `rustcoll fit`, in one job for each placement of ranks.

pub mod calls;

use super::cells::Cells;
use super::job::{self, Hearer};
use super::launcher::Launcher;
use super::placement::Placement;
use super::{Adding, Race, machine, ranks_per_host, results, tell};
use crate::command_line::{BenchOptions, LaunchOptions};
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::interruption;
use crate::measured::{Row, to_csv};
use crate::words::counted;
use calls::{Calls, jobs};
use measurements::{Heat, Operation, OutputLine, Series};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;
use tuning::contestant;

/// A launcher that places ranks has one of these words.
const PLACING: [&str; 2] = ["{ranks_per_host}", "{hosts}"];

/// Measures, prints the results, and writes the file after each job.
pub fn run(options: &BenchOptions, file: &Path, output: &mut impl Write) -> Result<Outcome, Failure> {
    let Race { ranks, ranks_per_host, .. } =
        Race::new(options.ranks, ranks_per_host(options), Vec::new(), Vec::new()).map_err(Failure::Usage)?;
    let jobs = jobs(Placement { ranks, ranks_per_host });
    check_launcher(&options.launch, &jobs)?;
    let launcher = Launcher::new(&options.launch, options.repetitions.words())?;
    let mut rows = Vec::new();
    let mut outcome = Outcome::Right;
    for (placement, calls) in jobs {
        let (cells, library, is_right) = measure(&launcher, placement, &calls)?;
        if !is_right {
            outcome = Outcome::Wrong;
        }
        if !cells.0.is_empty() {
            rows.extend(calls.iter().flat_map(|calls| rows_of(calls, placement, &cells)));
            let text = format!("{}{}", head(options, &library), to_csv(&rows));
            files::write(Some(file), text.as_bytes(), &mut io::sink())?;
            let of_host = placement.ranks_per_host;
            writeln!(output, "{}, {of_host} on a host:", counted(placement.ranks, "rank"))?;
            results::write_table(&cells, output)?;
        }
        interruption::check(|| match rows.is_empty() {
            true => "nothing was measured".into(),
            false => format!("{} has only a part of the times", file.display()),
        })?;
    }
    if rows.is_empty() {
        return Err(Failure::Input(format!("nothing was measured, so {} is not written", file.display())));
    }
    writeln!(output, "{} for `rustcoll fit {}`", counted(rows.len(), "time"), file.display())?;
    Ok(outcome)
}

/// Fails if jobs need different numbers of ranks on a host, but the launcher starts all of them in the same way.
fn check_launcher(options: &LaunchOptions, jobs: &BTreeMap<Placement, Vec<Calls>>) -> Result<(), Failure> {
    let launcher = &options.launcher;
    let is_placing = PLACING.iter().any(|word| launcher.contains(word));
    if is_placing || jobs.keys().all(|placement| placement.hosts() == 1) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "--launcher `{launcher}`: --for-fit starts jobs on different numbers of hosts, so {{ranks_per_host}} or {{hosts}} must be in \
         it, as in `mpirun -n {{ranks}} --map-by ppr:{{ranks_per_host}}:node`"
    )))
}

/// Runs one job. Returns its measurements, the name of its MPI library, and whether nothing is missing. Fails
/// if the job does not start, or if its ranks are not where `placement` wants them.
fn measure(
    launcher: &Launcher,
    placement: Placement,
    calls: &[Calls],
) -> Result<(Cells, String, bool), Failure> {
    let race = race(placement, calls);
    let mut cells = Cells::default();
    let adding = Adding { cells: &mut cells, progress: race.progress() };
    let mut placed = Placed { adding, placement, fault: None };
    let ended = job::run(launcher, &race, &mut placed);
    if let Some(fault) = placed.fault {
        return Err(Failure::Input(fault));
    }
    if ended.is_hopeless {
        return Err(Failure::Input(ended.complaints(race.ranks).join("\n")));
    }
    let is_right = tell(&race, &cells, &ended);
    Ok((cells, ended.library.unwrap_or_default(), is_right))
}

fn race(Placement { ranks, ranks_per_host }: Placement, calls: &[Calls]) -> Race {
    let heat = |calls: &Calls| Heat {
        series: Series { operation: Operation::blocking(calls.collective), bytes: calls.bytes.to_vec() },
        contestants: vec![contestant(&calls.candidate())],
    };
    Race { ranks, ranks_per_host, heats: calls.iter().map(heat).collect(), contestants: Vec::new() }
}

/// Adds measurements, if the job's ranks are where `placement` wants them.
struct Placed<'cells> {
    adding: Adding<'cells>,
    placement: Placement,
    fault: Option<String>,
}

impl Hearer for Placed<'_> {
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()> {
        if let OutputLine::Job(job) = &line
            && let Err(fault) = self.placement.check(job)
        {
            self.fault = Some(fault);
            return ControlFlow::Break(());
        }
        self.adding.hear(line, part)
    }
}

/// Returns a row with the median of each cell that was measured.
fn rows_of(calls: &Calls, placement: Placement, cells: &Cells) -> Vec<Row> {
    let candidate = calls.candidate();
    let name = contestant(&candidate).to_string();
    let row = |&bytes: &usize| {
        let cell = cells.find(calls.collective.name(), placement.ranks, bytes)?;
        Some(Row::of(candidate, placement, bytes, cell.summary(&name)?.median))
    };
    calls.bytes.iter().filter_map(row).collect()
}

/// Returns a comment that says how the times were measured.
fn head(options: &BenchOptions, library: &str) -> String {
    let parameters = options.launch.mca.iter().map(|(name, value)| format!(" --mca {name}={value}"));
    let launched = [options.launch.launcher.clone()].into_iter().chain(parameters).collect::<String>();
    let start = if options.repetitions.hot { "a barrier" } else { "a common start" };
    format!(
        "# Made by `rustcoll bench --for-fit` of rustcoll {}, on {}, {} on a host. A time is the median of repetitions, from {start} to\n\
         # the end of the last rank. Launcher: {}\n# Machine: {}\n",
        env!("CARGO_PKG_VERSION"),
        counted(options.ranks, "rank"),
        ranks_per_host(options),
        launched.escape_debug(),
        machine::described(None, library),
    )
}
