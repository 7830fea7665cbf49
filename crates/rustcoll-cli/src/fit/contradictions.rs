//! Measured times of the same call that contradict each other: no machine predicts both.

use crate::measured::{Row, Time};
use std::collections::BTreeMap;

/// Times of a call contradict each other if they differ by more than this factor.
const CONTRADICTING: f64 = 1.5;

/// So many calls are named.
const MOST_NAMED: usize = 5;

/// Returns a line for each of the first calls whose times contradict each other, and the number of the others.
pub fn lines(rows: &[Row]) -> String {
    let mut calls: BTreeMap<_, Vec<&Row>> = BTreeMap::new();
    for row in rows {
        let call = (row.cell(), row.candidate.to_string(), row.time == Time::Mean);
        calls.entry(call).or_default().push(row);
    }
    let found: Vec<String> = calls.values().filter_map(|rows| contradiction(rows)).collect();
    let mut lines: String = found.iter().take(MOST_NAMED).map(String::as_str).collect();
    if found.len() > MOST_NAMED {
        lines += &format!("so do times of {} other calls\n", found.len() - MOST_NAMED);
    }
    lines
}

/// Returns the line about rows of one call, if its times contradict each other.
fn contradiction(rows: &[&Row]) -> Option<String> {
    let of_time = |one: &&&Row, other: &&&Row| one.seconds.total_cmp(&other.seconds);
    let (least, most) = (rows.iter().min_by(of_time)?, rows.iter().max_by(of_time)?);
    let [collective, algorithm, ranks, bytes] = least.described();
    (most.seconds > CONTRADICTING * least.seconds).then(|| {
        format!(
            "lines {} and {} contradict each other: {:.1} and {:.1} us for {collective} {algorithm} on {ranks} ranks, {bytes} bytes\n",
            least.line,
            most.line,
            1e6 * least.seconds,
            1e6 * most.seconds
        )
    })
}
