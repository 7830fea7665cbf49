//! The table of measured times.

use super::cells::{Cell, Cells};
use crate::words::counted;
use rustcoll::selection::quantity;
use rustcoll::text::{Alignment, columns};
use std::io::{self, Write};
use tuning::statistics::geometric_mean;

const HEADINGS: [(&str, Alignment); 11] = [
    ("collective", Alignment::Left),
    ("ranks", Alignment::Right),
    ("bytes", Alignment::Right),
    ("contestant", Alignment::Left),
    ("ran", Alignment::Left),
    ("times", Alignment::Right),
    ("median/us", Alignment::Right),
    ("spread/us", Alignment::Right),
    ("overlap/%", Alignment::Right),
    ("to the first", Alignment::Right),
    ("to the best other", Alignment::Right),
];

/// Writes a row for each contestant in each cell, and geometric means.
pub fn write(cells: &Cells, output: &mut impl Write) -> io::Result<()> {
    if cells.0.is_empty() {
        return Ok(());
    }
    write_table(cells, output)?;
    for contestant in contestants(cells) {
        let compared = cells.0.iter().filter(|cell| !cell.overlaps());
        let ratios: Vec<f64> = compared.filter_map(|cell| cell.ratio(contestant)).collect();
        let count = counted(ratios.len(), "cell");
        if let Some(mean) = geometric_mean(ratios) {
            writeln!(
                output,
                "{contestant}: {mean:.3} of the best other's time, the geometric mean of {count}"
            )?;
        }
    }
    Ok(())
}

/// Writes a row for each contestant in each cell, and an empty line.
pub fn write_table(cells: &Cells, output: &mut impl Write) -> io::Result<()> {
    let rows: Vec<_> = cells.0.iter().flat_map(rows).collect();
    output.write_all(columns(HEADINGS, &rows).as_bytes())?;
    writeln!(output)
}

fn rows(cell: &Cell) -> Vec<[String; 11]> {
    let first = cell.measurements.first().and_then(|first| cell.summary(&first.contestant));
    let row = |(place, measurement): (usize, &measurements::Measurement)| {
        let summary = cell.summary(&measurement.contestant)?;
        // Values that are the same as in the row above are left out.
        let once = |text: String| if place == 0 { text } else { String::new() };
        let ratio = |ratio: Option<f64>| match ratio {
            Some(ratio) if !cell.overlaps() => format!("{ratio:.3}"),
            _ => String::new(),
        };
        Some([
            once(cell.collective.clone()),
            once(cell.ranks.to_string()),
            once(quantity::in_units(cell.bytes)),
            measurement.contestant.clone(),
            measurement.ran.clone(),
            times(measurement),
            format!("{:.1}", summary.median * 1e6),
            format!("{:.1}", summary.spread * 1e6),
            cell.overlap(&measurement.contestant).map_or(String::new(), |part| format!("{part:.0}")),
            ratio(first.map(|first| summary.median / first.median)),
            ratio(cell.ratio(&measurement.contestant)),
        ])
    };
    cell.measurements.iter().enumerate().filter_map(row).collect()
}

/// Returns the number of times, and of those that were dropped as late.
fn times(measurement: &measurements::Measurement) -> String {
    let count = measurement.nanoseconds.len();
    if measurement.late == 0 { count.to_string() } else { format!("{count} ({} late)", measurement.late) }
}

fn contestants(cells: &Cells) -> Vec<&str> {
    let mut contestants: Vec<&str> = Vec::new();
    for measurement in cells.0.iter().flat_map(|cell| &cell.measurements) {
        if !contestants.contains(&&measurement.contestant[..]) {
            contestants.push(&measurement.contestant);
        }
    }
    contestants
}
