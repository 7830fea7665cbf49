//! Files of measured times.

use super::cells::Cells;
use crate::failure::Failure;
use crate::files;
use measurements::{Line, Measurement};
use std::fmt::Write;
use std::io;
use std::path::Path;

/// Writes all times into the files that are named.
pub fn write(csv: Option<&Path>, json: Option<&Path>, cells: &Cells) -> Result<(), Failure> {
    let all = || cells.0.iter().flat_map(|cell| &cell.measurements);
    if let Some(path) = csv {
        let mut text = format!("{}\n", HEAD.join(","));
        all().for_each(|measurement| text += &row("bench", measurement));
        files::write(Some(path), text.as_bytes(), &mut io::sink())?;
    }
    if let Some(path) = json {
        let mut text = String::new();
        for measurement in all() {
            writeln!(text, "{}", Line::Measurement(measurement.clone()).to_json()).expect("it is a text");
        }
        files::write(Some(path), text.as_bytes(), &mut io::sink())?;
    }
    Ok(())
}

/// The columns. All times of a contestant in a cell stand in one of them.
pub const HEAD: [&str; 8] =
    ["experiment", "collective", "ranks", "bytes", "contestant", "ran", "late", "nanoseconds"];

/// One contestant in one cell.
pub fn row(experiment: &str, measurement: &Measurement) -> String {
    let times: Vec<String> = measurement.nanoseconds.iter().map(u64::to_string).collect();
    let Measurement { collective, ranks, bytes, contestant, ran, late, .. } = measurement;
    format!("{experiment},{collective},{ranks},{bytes},{contestant},{ran},{late},{}\n", times.join(" "))
}
