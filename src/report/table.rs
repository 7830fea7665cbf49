//! The table of a rank's calls.

use super::{CallKind, Sum};
use crate::algorithms::Collective;
use crate::text::{Alignment, columns};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;

/// What the calls of one line have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LineKey {
    size: usize,
    remote: usize,
    collective: Collective,
    served: String,
    decided: String,
}

/// The sums over all calls of a rank, displayed as a table with a line of headings.
#[derive(Clone, Debug, Default)]
pub struct Report(HashMap<LineKey, Sum>);

impl Report {
    pub fn add(&mut self, kind: &CallKind, sum: Sum) {
        let &CallKind { size, remote, collective, .. } = kind;
        let (served, decided) = (kind.served.clone(), kind.decided.clone());
        self.0.entry(LineKey { size, remote, collective, served, decided }).or_default().add(sum);
    }

    /// Whether there were no calls.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the lines by communicator size and collective, those that took longest first.
    fn lines(&self) -> Vec<(&LineKey, Sum)> {
        let mut lines: Vec<_> = self.0.iter().map(|(line, &sum)| (line, sum)).collect();
        lines.sort_by_key(|&(line, Sum { time, calls, .. })| {
            let LineKey { size, remote, collective, served, decided } = line;
            (size + remote, *remote, *size, *collective, Reverse((time, calls)), served, decided)
        });
        lines
    }
}

const HEADINGS: [(&str, Alignment); 7] = [
    ("ranks", Alignment::Right),
    ("collective", Alignment::Left),
    ("algorithm", Alignment::Left),
    ("decided by", Alignment::Left),
    ("calls", Alignment::Right),
    ("bytes", Alignment::Right),
    ("time/ms", Alignment::Right),
];

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let rows: Vec<_> = self.lines().into_iter().map(cells).collect();
        formatter.write_str(&columns(HEADINGS, &rows))
    }
}

fn cells((line, sum): (&LineKey, Sum)) -> [String; HEADINGS.len()] {
    let LineKey { size, remote, collective, served, decided } = line;
    let ranks = if *remote == 0 { size.to_string() } else { format!("{size}+{remote}") };
    let time = sum.time.map_or("unknown".into(), |time| format!("{:.3}", time.as_secs_f64() * 1e3));
    let (calls, bytes) = (sum.calls.to_string(), sum.bytes.to_string());
    [ranks, collective.name().into(), served.clone(), decided.clone(), calls, bytes, time]
}

#[cfg(test)]
mod tests {
    use super::super::{Form, bytes_from};
    use super::*;
    use std::time::Duration;

    #[test]
    fn there_is_a_line_for_each_algorithm_and_decision_in_order() {
        let mut report = Report::default();
        let mut add =
            |(size, remote), collective, served: &str, decided: &str, bytes, milliseconds: Option<u64>| {
                let kind = CallKind {
                    communicator: "MPI_COMM_WORLD".into(),
                    size,
                    remote,
                    collective,
                    form: Form::Blocking,
                    bytes_from: bytes_from(bytes),
                    datatype: "MPI_BYTE".into(),
                    operator: String::new(),
                    served: served.into(),
                    decided: decided.into(),
                };
                let time = milliseconds.map(Duration::from_millis);
                report.add(&kind, Sum { calls: 1, bytes: bytes as u64, time });
            };
        add((4, 0), Collective::Alltoall, "bruck, radix 4", "forced", 10, Some(1));
        add((4, 0), Collective::Alltoall, "below", "my.toml:7", 1 << 20, Some(2500));
        add((4, 0), Collective::Alltoall, "bruck, radix 4", "forced", 32, Some(2));
        add((16, 0), Collective::Allreduce, "ring", "default:31", 8, Some(0));
        add((3, 2), Collective::Bcast, "below", "no rule", 0, None);
        let expected = "\
ranks  collective  algorithm       decided by  calls    bytes   time/ms
    4  alltoall    below           my.toml:7       1  1048576  2500.000
    4  alltoall    bruck, radix 4  forced          2       42     3.000
  3+2  bcast       below           no rule         1        0   unknown
   16  allreduce   ring            default:31      1        8     0.000
";
        assert_eq!(report.to_string(), expected);
    }

    #[test]
    fn without_calls_there_is_no_line() {
        assert!(Report::default().is_empty());
    }
}
