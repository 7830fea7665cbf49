//! The cost of choosing by prediction, or by rules, among the algorithms that were measured.

use super::Compared;
use crate::measured::Row;
use crate::predict::call_on;
use crate::table;
use crate::words::counted;
use rustcoll::algorithms::Collective;
use rustcoll::atlas::Candidate;
use rustcoll::cost::Machine;
use rustcoll::selection::{Choice, Rules};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::ptr;

/// What chooses.
pub enum Chooser {
    /// Chooses the algorithm with the shortest prediction.
    Prediction,
    /// Chooses by the rules of a file of this name.
    Rules(String, Rules),
}

impl Chooser {
    /// Returns the choice for a call, if it was measured.
    fn choose<'rows>(&self, measured: &[&'rows Compared], machine: &Machine) -> Option<&'rows Compared> {
        let rules = match self {
            Chooser::Prediction => return least(measured, |compared| compared.predicted),
            Chooser::Rules(_, rules) => rules,
        };
        let Row { candidate: Candidate { collective, .. }, ranks, bytes, .. } = measured.first()?.row;
        let call = call_on(&measured[0].row.place(machine), collective, ranks, bytes);
        let Choice::Use { algorithm, parameters } = rules.choose(&call) else { return None };
        let wanted = Candidate { collective, algorithm, parameters };
        let is_chosen = |candidate: &Candidate| {
            ptr::eq(candidate.algorithm, algorithm)
                && candidate.problem(ranks, bytes) == wanted.problem(ranks, bytes)
                && candidate.stripe() == wanted.stripe()
        };
        measured.iter().find(|compared| is_chosen(&compared.row.candidate)).copied()
    }

    /// Returns the title of the table. Of `all` calls, the choice was measured for `known`.
    fn title(&self, known: usize, all: usize) -> String {
        match self {
            Chooser::Prediction => "How many times as long calls take if prediction chooses among the algorithms that were measured:".into(),
            Chooser::Rules(name, _) => format!(
                "How many times as long calls take if {name} chooses. What it chooses was measured for {} of {all}:",
                counted(known, "call")
            ),
        }
    }
}

/// A call for which several algorithms were measured.
struct Cell<'rows> {
    collective: Collective,
    chosen: &'rows Compared,
    best: &'rows Compared,
}

impl<'rows> Cell<'rows> {
    fn of(measured: &[&'rows Compared], chooser: &Chooser, machine: &Machine) -> Option<Self> {
        let chosen = chooser.choose(measured, machine)?;
        let best = least(measured, |compared| compared.row.seconds)?;
        Some(Cell { collective: best.row.candidate.collective, chosen, best })
    }

    /// Returns how many times as long as the best the chosen algorithm takes.
    fn ratio(&self) -> f64 {
        self.chosen.row.seconds / self.best.row.seconds
    }
}

fn least<'rows>(measured: &[&'rows Compared], time: fn(&Compared) -> f64) -> Option<&'rows Compared> {
    measured.iter().copied().min_by(|one, other| time(one).total_cmp(&time(other)))
}

/// Writes, for each collective and for all, how much longer calls take than with the fastest algorithm.
/// Writes nothing if no call was measured with several algorithms.
pub fn write(
    compared: &[Compared],
    chooser: &Chooser,
    machine: &Machine,
    output: &mut impl Write,
) -> io::Result<()> {
    let calls = calls(compared);
    let cells: Vec<Cell> = calls.iter().filter_map(|measured| Cell::of(measured, chooser, machine)).collect();
    if calls.is_empty() {
        return Ok(());
    }
    writeln!(output, "\n{}", chooser.title(cells.len(), calls.len()))?;
    if cells.is_empty() {
        return Ok(());
    }
    let of = |collective| cells.iter().filter(move |cell: &&Cell| cell.collective == collective);
    let known = Collective::ALL.into_iter().filter(|&collective| of(collective).next().is_some());
    let rows = known.map(|collective| line(collective.name(), of(collective)));
    let rows: Vec<_> = rows.chain([line("all", cells.iter())]).collect();
    writeln!(output)?;
    table::write(["collective", "calls", "mean", "worst", "which is"], &rows, output)
}

fn line<'cells>(name: &str, cells: impl Iterator<Item = &'cells Cell<'cells>> + Clone) -> [String; 5] {
    let logarithms: Vec<f64> = cells.clone().map(|cell| cell.ratio().ln()).collect();
    let mean = (logarithms.iter().sum::<f64>() / logarithms.len() as f64).exp();
    let worst = cells.max_by(|one, other| one.ratio().total_cmp(&other.ratio())).expect("there is a cell");
    let [collective, _, ranks, bytes] = worst.chosen.row.described();
    let [chosen, best] = [worst.chosen, worst.best].map(|compared| compared.row.candidate.to_string());
    [
        name.to_owned(),
        logarithms.len().to_string(),
        format!("{mean:.3}"),
        format!("{:.2}", worst.ratio()),
        format!("{collective} of {bytes} bytes on {ranks} ranks: {chosen} for {best}"),
    ]
}

/// Returns the measured algorithms of each call that was measured with several.
fn calls(compared: &[Compared]) -> Vec<Vec<&Compared>> {
    let mut measured: BTreeMap<_, BTreeMap<String, &Compared>> = BTreeMap::new();
    for row in compared {
        let name = row.row.candidate.to_string();
        let known = measured.entry(row.row.cell()).or_default().entry(name).or_insert(row);
        // The faster of two measurements of an algorithm counts.
        if row.row.seconds < known.row.seconds {
            *known = row;
        }
    }
    let several = measured.into_values().filter(|algorithms| algorithms.len() > 1);
    several.map(|algorithms| algorithms.into_values().collect()).collect()
}
