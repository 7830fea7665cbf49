//! The calls to tune: those that the command line names, or those of an application.

use crate::bench::distinct;
use crate::command_line::TuneOptions;
use crate::failure::Failure;
use crate::profiles::{self, Named};
use measurements::{Operation, Series};
use rustcoll::algorithms::{Collective, Cut};
use rustcoll::report::profile::{Profile, Row};
use rustcoll::report::{CallKind, Form};
use rustcoll::selection::Measure;
use std::collections::BTreeMap;
use std::io::{self, Write};
use tuning::{CellKey, Tuning, words};

/// Measures an application's calls until they move data for this part of the time, but at most this many calls.
const MEASURED: f64 = 0.95;
const MOST: usize = 24;

/// The calls of one number of ranks.
pub struct Wanted {
    pub ranks: usize,
    /// Number of ranks on a host.
    pub ranks_per_host: usize,
    pub series: Vec<Series>,
}

/// Returns the calls to tune, and the application, if they are an application's.
pub fn wanted(options: &TuneOptions) -> Result<(Vec<Wanted>, Option<Application>), Failure> {
    match &options.profile {
        None => Ok((named(options)?, None)),
        Some(file) => {
            let Named { name, profile } = profiles::read(file)?;
            let application = Application::of(name, &profile)?;
            Ok((application.wanted(options, &profile)?, Some(application)))
        }
    }
}

fn named(options: &TuneOptions) -> Result<Vec<Wanted>, Failure> {
    let mut collectives = distinct(&options.collectives);
    if collectives.is_empty() {
        let all = Collective::ALL.into_iter();
        collectives = all.filter(|collective| collective.cut() != Cut::Edges).collect();
    }
    let bytes = sizes(options);
    let of = |&collective: &Collective| {
        Series::new(Operation::blocking(collective), bytes.clone()).map_err(Failure::Usage)
    };
    let series = collectives.iter().map(of).collect::<Result<Vec<_>, Failure>>()?;
    let wanted = |ranks: usize| Wanted {
        ranks,
        ranks_per_host: options.ranks_per_host.unwrap_or(ranks).min(ranks),
        series: series.clone(),
    };
    Ok(distinct(&options.ranks).into_iter().map(wanted).collect())
}

/// Returns both ends of all ranges, and what is between them step by step.
fn sizes(options: &TuneOptions) -> Vec<usize> {
    let step = options.step as usize;
    let between = |range: &std::ops::RangeInclusive<usize>| {
        let last = *range.end();
        let steps = std::iter::successors(Some(*range.start()), move |size| {
            size.checked_mul(step).filter(|size| *size > 0)
        });
        steps.take_while(move |size| *size < last).chain([last]).collect::<Vec<_>>()
    };
    let all: Vec<usize> = options.bytes.iter().flat_map(between).collect();
    distinct(&all)
}

/// An application's calls that are worth measuring.
pub struct Application {
    name: String,
    /// Seconds of all ranks in which data moved, by call.
    moving: BTreeMap<CellKey, f64>,
    ranks: usize,
    /// Seconds of the mean rank from start to end.
    seconds: f64,
}

impl Application {
    fn of(name: String, profile: &Profile) -> Result<Application, Failure> {
        let mut moving: BTreeMap<CellKey, f64> = BTreeMap::new();
        for (kind, row) in profile.rows.iter().filter(|(kind, _)| can_be_measured(kind)) {
            *moving.entry(cell_of(kind, row)).or_default() += row.moving();
        }
        let mut all: Vec<(CellKey, f64)> = moving.into_iter().collect();
        all.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        let sum: f64 = all.iter().map(|(_, seconds)| seconds).sum();
        let mut before = 0.0;
        let matters = |&(_, seconds): &(CellKey, f64)| {
            let is_needed = before < MEASURED * sum;
            before += seconds;
            is_needed
        };
        let moving: BTreeMap<CellKey, f64> = all.into_iter().take_while(matters).take(MOST).collect();
        if moving.is_empty() {
            return Err(Failure::Input(format!(
                "{name}: no call of this profile can be measured: blocking collectives of 2 or more ranks of one group can"
            )));
        }
        Ok(Application { name, moving, ranks: profile.ranks(), seconds: profile.mean_seconds() })
    }

    fn wanted(&self, options: &TuneOptions, profile: &Profile) -> Result<Vec<Wanted>, Failure> {
        // A job of one host is measured on this host, however many ranks this host has.
        let default = if profile.nodes.len() > 1 { profile.most_on_a_node() } else { usize::MAX };
        let per_host = options.ranks_per_host.unwrap_or(default);
        let mut by_ranks: BTreeMap<usize, BTreeMap<Collective, Vec<usize>>> = BTreeMap::new();
        for &CellKey { collective, ranks, bytes } in self.moving.keys() {
            by_ranks.entry(ranks).or_default().entry(collective).or_default().push(bytes);
        }
        let series =
            |(collective, bytes)| Series::new(Operation::blocking(collective), bytes).map_err(Failure::Input);
        let wanted = |(ranks, calls): (usize, BTreeMap<Collective, Vec<usize>>)| {
            let series = calls.into_iter().map(series).collect::<Result<Vec<_>, Failure>>()?;
            Ok(Wanted { ranks, ranks_per_host: per_host.min(ranks), series })
        };
        by_ranks.into_iter().map(wanted).collect()
    }

    /// Prints what the application gains by a tuning.
    pub fn print_gain(&self, tuning: &Tuning, output: &mut impl Write) -> io::Result<()> {
        let (mut measured, mut saved) = (0.0, 0.0);
        for (cell, ratio) in tuning.expected_gains().cells {
            let seconds = self.moving.get(&CellKey::of(cell)).copied().unwrap_or(0.0) / self.ranks as f64;
            measured += seconds;
            saved += seconds * (1.0 - ratio);
        }
        writeln!(
            output,
            "\n{}: the mean rank takes {:.3} s, and moves data in these calls for {measured:.3} s of that. The rules save {saved:.3} s, {} of the \
             job, if it runs by default otherwise.",
            self.name,
            self.seconds,
            words::percent(saved / self.seconds.max(f64::MIN_POSITIVE)),
        )
    }
}

/// Whether the measuring program can make such calls.
fn can_be_measured(kind: &CallKind) -> bool {
    let is_plain = kind.form == Form::Blocking && kind.remote == 0 && kind.size > 1;
    is_plain
        && kind.collective.cut() != Cut::Edges
        && (kind.bytes_from > 0 || kind.collective == Collective::Barrier)
}

/// Returns the cell that stands for the calls of a row.
pub fn cell_of(kind: &CallKind, row: &Row) -> CellKey {
    let CallKind { collective, size, .. } = *kind;
    let bytes = row.bytes_of_a_call();
    // A rank sends a block to each rank, and a cell has the bytes of one block.
    let bytes = if Measure::of(collective) == Measure::Nothing { bytes / size } else { bytes };
    let bytes = match collective {
        Collective::Barrier => 0,
        _ => bytes.next_multiple_of(Series::ELEMENT).max(Series::ELEMENT),
    };
    CellKey { collective, ranks: size, bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuning::samples::{self, decision};

    #[test]
    fn what_no_rule_expresses_saves_no_time() {
        let cell = |bytes| decision(Collective::Alltoallv, 4, bytes);
        let faster = |bytes| cell(bytes).with("rustcoll:pairwise", 0.5).choosing_it();
        let said = |cells: Vec<_>| {
            let moving = cells.iter().map(|cell| (CellKey::of(cell), 16.0)).collect();
            let application = Application { name: "a".into(), moving, ranks: 4, seconds: 10.0 };
            let mut text = Vec::new();
            application.print_gain(&samples::tuning(cells), &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let agreeing = said(vec![faster(8), faster(64)]);
        assert!(agreeing.contains("The rules save 4.000 s, 40 % of the job"), "{agreeing}");
        let disagreeing = said(vec![faster(8), cell(64)]);
        assert!(disagreeing.contains("The rules save 0.000 s, 0 % of the job"), "{disagreeing}");
    }
}
