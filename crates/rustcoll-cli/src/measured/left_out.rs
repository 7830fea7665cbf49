//! Measured times that a command does not look at.

use super::Row;
use crate::failure::Failure;
use crate::files;
use crate::words::counted;
use std::collections::BTreeMap;
use std::path::Path;

/// A row that a command does not look at.
pub struct LeftOut {
    pub row: Row,
    /// The reason, as a clause.
    pub why: String,
}

/// Returns the reason for a row that cannot be simulated, from the simulation's error.
pub fn without_price(error: &str) -> String {
    format!("the algorithm has no price here ({error})")
}

/// Returns a line for each reason, with the calls of its rows and their first line in the file.
pub fn lines(left_out: &[LeftOut]) -> String {
    let mut reasons: BTreeMap<&str, BTreeMap<String, Vec<usize>>> = BTreeMap::new();
    for LeftOut { row, why } in left_out {
        let [collective, algorithm, ranks, _] = row.described();
        let calls = format!("{collective} {algorithm} on {ranks} ranks");
        reasons.entry(why).or_default().entry(calls).or_default().push(row.line);
    }
    let of_reason = |(why, calls): (&str, BTreeMap<String, Vec<usize>>)| {
        let rows = |(calls, lines): (&String, &Vec<usize>)| {
            let from = if lines.len() > 1 { "from line" } else { "line" };
            format!("{} of {calls} ({from} {})", counted(lines.len(), "row"), lines[0])
        };
        let rows: Vec<String> = calls.iter().map(rows).collect();
        format!("not looked at, because {why}: {}\n", rows.join(", "))
    };
    reasons.into_iter().map(of_reason).collect()
}

/// Returns the failure of a command that is left without rows.
pub fn nothing_left(path: &Path, done: &str, left_out: &[LeftOut]) -> Failure {
    let name = files::name(path);
    Failure::Input(format!("{name}: no row can be {done}\n{}", lines(left_out).trim_end()))
}
