//! The table of all times: a row for each.

use super::entry::{Entry, Event};
use measurements::{Line, Measurement};

/// The columns. A launch is a job, by its number.
pub const HEAD: &str = "collective,ranks,bytes,contestant,stage,launch,ran,repetition,seconds";

/// The rows of an entry; none unless something was measured.
pub fn rows(entry: &Entry) -> String {
    let Event::Said(Line::Measurement(measurement)) = &entry.event else { return String::new() };
    let Measurement { collective, ranks, bytes, contestant, ran, nanoseconds, .. } = measurement;
    let (stage, launch) = (entry.step.stage.name(), entry.job);
    let row = |(repetition, time): (usize, &u64)| {
        let seconds = *time as f64 * 1e-9;
        format!(
            "{collective},{ranks},{bytes},{contestant},{stage},{launch},{ran},{repetition},{seconds:.9}\n"
        )
    };
    nanoseconds.iter().enumerate().map(row).collect()
}
