//! What it costs to choose by prediction among the algorithms that were measured.

use super::Compared;
use crate::table;
use rustcoll::algorithms::Collective;
use rustcoll::atlas::Candidate;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Calls of which several algorithms were measured.
struct Cell<'rows> {
    collective: Collective,
    /// The one that is predicted to be the fastest, and the one that was.
    chosen: &'rows Compared,
    best: &'rows Compared,
}

impl<'rows> Cell<'rows> {
    fn of(algorithms: BTreeMap<String, &'rows Compared>) -> Option<Cell<'rows>> {
        let least = |time: fn(&Compared) -> f64| {
            algorithms.values().copied().min_by(|one, other| time(one).total_cmp(&time(other)))
        };
        let (chosen, best) = (least(|compared| compared.predicted)?, least(|compared| compared.row.seconds)?);
        let Candidate { collective, .. } = best.row.candidate;
        Some(Cell { collective, chosen, best })
    }

    /// By how much longer the chosen one takes.
    fn ratio(&self) -> f64 {
        self.chosen.row.seconds / self.best.row.seconds
    }
}

/// Writes, for each collective and for all, how much longer calls take than with the fastest algorithm; nothing if no calls were measured with
/// several.
pub fn write(compared: &[Compared], output: &mut impl Write) -> io::Result<()> {
    let cells = cells(compared);
    if cells.is_empty() {
        return Ok(());
    }
    let of = |collective| cells.iter().filter(move |cell: &&Cell| cell.collective == collective);
    let known = Collective::ALL.into_iter().filter(|&collective| of(collective).next().is_some());
    let rows = known.map(|collective| line(collective.name(), of(collective)));
    let rows: Vec<_> = rows.chain([line("all", cells.iter())]).collect();
    let title =
        "How many times as long calls take if prediction chooses among the algorithms that were measured:";
    writeln!(output, "\n{title}\n")?;
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

fn cells(compared: &[Compared]) -> Vec<Cell<'_>> {
    let mut measured: BTreeMap<_, BTreeMap<String, &Compared>> = BTreeMap::new();
    for row in compared {
        let name = row.row.candidate.to_string();
        let known = measured.entry(row.row.cell()).or_default().entry(name).or_insert(row);
        // One that was measured twice is as fast as the faster of the two.
        if row.row.seconds < known.row.seconds {
            *known = row;
        }
    }
    measured.into_values().filter(|algorithms| algorithms.len() > 1).filter_map(Cell::of).collect()
}
