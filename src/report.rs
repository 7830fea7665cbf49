//! What ran: sums over the calls of a rank, and their table.

#![forbid(unsafe_code)]

use crate::algorithms::Collective;
use crate::text::{Side, columns};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// What calls of one row of the table have in common.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Kind {
    /// Number of ranks in the own group.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, else 0.
    pub remote: usize,
    /// The collective.
    pub collective: Collective,
    /// The algorithm with its parameters, or whoever else served them.
    pub served: String,
    /// Who decided it.
    pub decided: String,
}

/// The sums over calls of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    /// How many there were.
    pub calls: u64,
    /// Bytes of data.
    pub bytes: u64,
    /// How long they took; `None` if that is known of none of them.
    pub time: Option<Duration>,
}

/// The sums over all calls of a rank.
#[derive(Clone, Debug, Default)]
pub struct Report(HashMap<Arc<Kind>, Sum>);

impl Report {
    /// Adds a call.
    pub fn add(&mut self, kind: &Arc<Kind>, bytes: usize, time: Option<Duration>) {
        let sum = match self.0.get_mut(kind) {
            Some(sum) => sum,
            None => self.0.entry(Arc::clone(kind)).or_default(),
        };
        sum.calls += 1;
        sum.bytes = sum.bytes.saturating_add(bytes as u64);
        sum.time = sum.time.map_or(time, |so_far| Some(so_far + time.unwrap_or_default()));
    }

    /// Whether there were no calls.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The rows, by communicator size and collective; those that took longest first.
    pub fn rows(&self) -> Vec<(&Kind, Sum)> {
        let mut rows: Vec<_> = self.0.iter().map(|(kind, &sum)| (&**kind, sum)).collect();
        rows.sort_by_key(|&(kind, Sum { time, calls, .. })| {
            let Kind { size, remote, collective, served, decided } = kind;
            (size + remote, *remote, *size, *collective, Reverse((time, calls)), served, decided)
        });
        rows
    }
}

const HEADINGS: [(&str, Side); 7] = [
    ("ranks", Side::Right),
    ("collective", Side::Left),
    ("algorithm", Side::Left),
    ("decided by", Side::Left),
    ("calls", Side::Right),
    ("bytes", Side::Right),
    ("time/ms", Side::Right),
];

/// The table, with a line of headings.
impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let rows: Vec<_> = self.rows().into_iter().map(cells).collect();
        formatter.write_str(&columns(HEADINGS, &rows))
    }
}

fn cells((kind, sum): (&Kind, Sum)) -> [String; HEADINGS.len()] {
    let Kind { size, remote, collective, served, decided } = kind;
    let ranks = if *remote == 0 { size.to_string() } else { format!("{size}+{remote}") };
    let time = sum.time.map_or("unknown".into(), |time| format!("{:.3}", time.as_secs_f64() * 1e3));
    let (calls, bytes) = (sum.calls.to_string(), sum.bytes.to_string());
    [ranks, collective.name().into(), served.clone(), decided.clone(), calls, bytes, time]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(size: usize, remote: usize, collective: Collective, served: &str, decided: &str) -> Arc<Kind> {
        let (served, decided) = (served.into(), decided.into());
        Arc::new(Kind { size, remote, collective, served, decided })
    }

    #[test]
    fn the_table_has_a_row_for_each_kind_in_order() {
        let mut report = Report::default();
        let milliseconds = |number| Some(Duration::from_millis(number));
        let ring = kind(16, 0, Collective::Allreduce, "ring", "default:31");
        let bruck = kind(4, 0, Collective::Alltoall, "bruck, radix 4", "forced");
        let below = kind(4, 0, Collective::Alltoall, "below", "my.toml:7");
        let between = kind(3, 2, Collective::Bcast, "below", "no rule");
        report.add(&bruck, 10, milliseconds(1));
        report.add(&below, 1 << 20, milliseconds(2500));
        report.add(&kind(4, 0, Collective::Alltoall, "bruck, radix 4", "forced"), 32, milliseconds(2));
        report.add(&ring, 8, milliseconds(0));
        report.add(&between, 0, None);
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
    fn a_time_that_is_unknown_adds_nothing() {
        let mut report = Report::default();
        let below = kind(2, 0, Collective::Scan, "below", "forced");
        for time in [None, Some(Duration::from_secs(1)), None] {
            report.add(&below, 1, time);
        }
        let [(_, sum)] = report.rows()[..] else { panic!("one row") };
        assert_eq!(sum, Sum { calls: 3, bytes: 3, time: Some(Duration::from_secs(1)) });
    }

    #[test]
    fn sums_of_bytes_do_not_overflow() {
        let mut report = Report::default();
        let kind = kind(2, 0, Collective::Bcast, "linear", "forced");
        report.add(&kind, usize::MAX, None);
        report.add(&kind, usize::MAX, None);
        assert_eq!(report.rows()[0].1.bytes, u64::MAX);
    }

    #[test]
    fn no_calls_make_no_rows() {
        assert_eq!(Report::default().to_string().lines().count(), 1);
    }
}
