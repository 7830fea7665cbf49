//! The table of all times, with a row for each time.

use super::entry::{Entry, Event};
use measurements::{Measurement, OutputLine};

/// The columns. `launch` is the job's number.
pub const HEAD: &str = "collective,ranks,bytes,contestant,stage,launch,ran,repetition,seconds";

/// Returns the rows of an entry; none unless the entry has a measurement.
pub fn rows(entry: &Entry) -> String {
    let Event::Said(OutputLine::Measurement(measurement)) = &entry.event else { return String::new() };
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
