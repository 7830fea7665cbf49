//! Writes measured times in the format that [`super::read`] reads.

use super::{Row, Time};
use rustcoll::atlas::Candidate;
use std::fmt::Write;

const HEAD: &str = "collective,algorithm,ranks,bytes,microseconds,radix,ranks_per_node,run,time\n";

/// Returns the text of a file: a head line, and a line for each row.
pub fn to_csv(rows: &[Row]) -> String {
    let mut text = HEAD.to_owned();
    for Row { candidate, ranks, bytes, ranks_per_node, run, time, seconds, .. } in rows {
        let Candidate { collective, algorithm, .. } = candidate;
        let (collective, algorithm, time) = (collective.name(), algorithm.name, name(*time));
        let [radix, ranks_per_node] = [candidate.radix(), *ranks_per_node].map(number);
        let microseconds = 1e6 * seconds;
        writeln!(
            text,
            "{collective},{algorithm},{ranks},{bytes},{microseconds:.3},{radix},{ranks_per_node},{run},{time}"
        )
        .expect("a text takes everything");
    }
    text
}

fn number(number: Option<usize>) -> String {
    number.map_or(String::new(), |number| number.to_string())
}

fn name(time: Time) -> &'static str {
    match time {
        Time::Slowest => "slowest",
        Time::Mean => "mean",
    }
}
