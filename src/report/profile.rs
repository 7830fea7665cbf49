//! The profile of a job: the calls of all its ranks, and how much of their time was waiting for ranks that came late.

use super::lateness::{Judged, Sample};
use super::{CallKind, Sum};
use crate::hash::hash;
use std::collections::{BTreeMap, HashMap};

/// How many late ranks a row keeps when it drops some: those for which the others waited longest.
const MOST_LATE: usize = 32;

/// What all ranks of a job did, or some of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The ranks of each node, in ascending order, by a number that identifies the node.
    pub nodes: BTreeMap<u64, Vec<u32>>,
    /// Seconds from the start of MPI to its end.
    pub seconds: OverRanks,
    pub rows: BTreeMap<CallKind, Row>,
}

/// Calls of one kind on all ranks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// How many ranks made such calls.
    pub ranks: u64,
    /// Calls of all these ranks together.
    pub calls: u64,
    /// Bytes of all these calls together.
    pub bytes: u64,
    /// Seconds of a rank in all its calls; `None` if that is not known.
    pub seconds: Option<OverRanks>,
    pub lateness: Lateness,
}

/// A quantity that each rank has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct OverRanks {
    pub sum: f64,
    pub least: f64,
    pub most: f64,
}

/// How much time of some calls of a row was waiting.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lateness {
    /// How many calls were judged.
    pub calls: u64,
    /// Seconds of all ranks in these calls.
    pub seconds: f64,
    /// Seconds of all ranks in which they waited for others to come.
    pub waiting: f64,
    /// The ranks for which they waited.
    pub late: BTreeMap<u32, Late>,
}

/// A rank for which others waited.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Late {
    /// In how many of the calls the others waited for it.
    pub calls: u64,
    /// Seconds that the others waited together.
    pub waiting: f64,
    /// Seconds that they waited in the call in which they waited longest.
    pub longest: f64,
}

impl Late {
    /// Seconds that the others waited without the longest call: one interruption of a rank says nothing of it.
    pub fn usual(&self) -> f64 {
        self.waiting - self.longest
    }
}

/// A number that identifies a row.
pub fn row_hash(kind: &CallKind) -> u64 {
    hash(format!("{kind:?}").as_bytes())
}

impl Profile {
    /// Returns the profile of one rank, which is on `node` and ran for so many seconds.
    pub fn of_rank(
        (rank, node): (u32, u64),
        seconds: f64,
        rows: impl IntoIterator<Item = (CallKind, Sum)>,
    ) -> Profile {
        let row = |Sum { calls, bytes, time }: Sum| {
            let seconds = time.map(|time| OverRanks::of(time.as_secs_f64()));
            Row { ranks: 1, calls, bytes, seconds, lateness: Lateness::default() }
        };
        let rows = rows.into_iter().map(|(kind, sum)| (kind, row(sum))).collect();
        Profile { nodes: BTreeMap::from([(node, vec![rank])]), seconds: OverRanks::of(seconds), rows }
    }

    /// Number of ranks whose calls it has.
    pub fn ranks(&self) -> usize {
        self.nodes.values().map(Vec::len).sum()
    }

    /// Mean seconds of a rank.
    pub fn mean_seconds(&self) -> f64 {
        self.seconds.sum / self.ranks().max(1) as f64
    }

    /// The most ranks on a node.
    pub fn most_on_a_node(&self) -> usize {
        self.nodes.values().map(Vec::len).max().unwrap_or(1)
    }

    /// Adds other ranks.
    pub fn merge(&mut self, other: Profile) {
        self.seconds = match self.nodes.is_empty() {
            true => other.seconds,
            false => self.seconds.with(other.seconds),
        };
        for (node, ranks) in other.nodes {
            let known = self.nodes.entry(node).or_default();
            known.extend(ranks);
            known.sort_unstable();
        }
        for (kind, row) in other.rows {
            self.rows.entry(kind).or_default().merge(row);
        }
    }

    /// Adds the waiting of calls of which all ranks are known.
    pub fn judge(&mut self, samples: &[Sample]) {
        let mut rows: HashMap<u64, &mut Row> =
            self.rows.iter_mut().map(|(kind, row)| (row_hash(kind), row)).collect();
        for sample in samples {
            if let (Some(row), Some(judged)) = (rows.get_mut(&sample.row), sample.judged()) {
                row.lateness.add(judged);
            }
        }
    }
}

impl Row {
    fn merge(&mut self, other: Row) {
        self.ranks += other.ranks;
        self.calls += other.calls;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.seconds = match (self.seconds, other.seconds) {
            (Some(own), Some(others)) => Some(own.with(others)),
            (own, others) => own.or(others),
        };
        self.lateness.merge(other.lateness);
    }

    /// Mean bytes of a call, by the collective's measure.
    pub fn bytes_of_a_call(&self) -> usize {
        (self.bytes / self.calls.max(1)) as usize
    }

    /// Seconds of all ranks; 0 if they are not known.
    pub fn all_seconds(&self) -> f64 {
        self.seconds.map_or(0.0, |seconds| seconds.sum)
    }

    /// Seconds of all ranks in which data moved, as far as it is known.
    pub fn moving(&self) -> f64 {
        self.all_seconds() - self.waiting().unwrap_or(0.0)
    }

    /// Seconds of all ranks in which they waited for late ranks, extrapolated from the calls that were
    /// judged; `None` if none was.
    pub fn waiting(&self) -> Option<f64> {
        let Lateness { seconds, waiting, .. } = self.lateness;
        (seconds > 0.0).then(|| self.all_seconds() * waiting / seconds)
    }
}

impl OverRanks {
    /// Returns the spread of one rank's value.
    pub fn of(value: f64) -> OverRanks {
        OverRanks { sum: value, least: value, most: value }
    }

    fn with(self, other: OverRanks) -> OverRanks {
        OverRanks {
            sum: self.sum + other.sum,
            least: self.least.min(other.least),
            most: self.most.max(other.most),
        }
    }
}

impl Lateness {
    fn add(&mut self, Judged { took, waiting, late }: Judged) {
        let waiting = waiting as f64 * 1e-9;
        self.merge(Lateness {
            calls: 1,
            seconds: took as f64 * 1e-9,
            waiting,
            late: BTreeMap::from([(late, Late { calls: 1, waiting, longest: waiting })]),
        });
    }

    fn merge(&mut self, other: Lateness) {
        self.calls += other.calls;
        self.seconds += other.seconds;
        self.waiting += other.waiting;
        for (rank, Late { calls, waiting, longest }) in other.late {
            let late = self.late.entry(rank).or_default();
            late.calls += calls;
            late.waiting += waiting;
            late.longest = late.longest.max(longest);
        }
        if self.late.len() > 2 * MOST_LATE {
            let kept = self.latest(MOST_LATE);
            self.late = kept.into_iter().collect();
        }
    }

    /// Returns the ranks for which others waited longest, at most so many.
    pub fn latest(&self, most: usize) -> Vec<(u32, Late)> {
        let mut late: Vec<_> = self.late.iter().map(|(&rank, &late)| (rank, late)).collect();
        late.sort_by(|(_, one), (_, other)| other.waiting.total_cmp(&one.waiting));
        late.truncate(most);
        late
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Form, bytes_from};
    use super::*;
    use crate::algorithms::Collective;
    use crate::report::lateness::Visit;
    use std::time::Duration;

    /// A kind of calls.
    pub fn kind(collective: Collective, bytes: usize) -> CallKind {
        CallKind {
            communicator: "MPI_COMM_WORLD".into(),
            size: 4,
            remote: 0,
            collective,
            form: Form::Blocking,
            bytes_from: bytes_from(bytes),
            datatype: "MPI_INT".into(),
            operator: "MPI_SUM".into(),
            served: "ring".into(),
            decided: "forced".into(),
        }
    }

    fn of_rank(place: (u32, u64), milliseconds: u64) -> Profile {
        let time = Some(Duration::from_millis(milliseconds));
        Profile::of_rank(place, 1.0, [(kind(Collective::Allreduce, 8), Sum { calls: 10, bytes: 80, time })])
    }

    #[test]
    fn ranks_are_added() {
        let mut profile = Profile::default();
        for (place, milliseconds) in [((2, 5), 10), ((0, 5), 30), ((1, 9), 20)] {
            profile.merge(of_rank(place, milliseconds));
        }
        assert_eq!(profile.nodes, BTreeMap::from([(5, vec![0, 2]), (9, vec![1])]));
        assert_eq!((profile.ranks(), profile.seconds.sum), (3, 3.0));
        let row = &profile.rows[&kind(Collective::Allreduce, 8)];
        assert_eq!((row.ranks, row.calls, row.bytes), (3, 30, 240));
        let OverRanks { sum, least, most } = row.seconds.unwrap();
        assert_eq!([sum, least, most].map(|seconds| (seconds * 1e3).round()), [60.0, 10.0, 30.0]);
    }

    #[test]
    fn waiting_is_extrapolated_from_the_calls_that_were_looked_at() {
        let mut profile = of_rank((0, 5), 10);
        let kind = kind(Collective::Allreduce, 8);
        let visit = |rank, took| Visit { rank, is_root: false, came: 0, took };
        let sample = Sample {
            size: 2,
            collective: Collective::Allreduce,
            row: row_hash(&kind),
            node: None,
            visits: vec![visit(0, 3_000_000), visit(1, 1_000_000)],
        };
        profile.judge(&[sample.clone(), Sample { row: 0, ..sample }]);
        let row = &profile.rows[&kind];
        assert_eq!(row.lateness.calls, 1);
        assert!((row.waiting().unwrap() - 0.005).abs() < 1e-9);
        let latest = row.lateness.latest(1);
        assert_eq!((latest[0].0, latest[0].1.calls), (1, 1));
    }

    #[test]
    fn the_ranks_with_the_longest_waiting_are_kept() {
        let mut lateness = Lateness::default();
        for rank in 0..100 {
            lateness.add(Judged { took: 1000, waiting: u64::from(rank), late: rank });
        }
        assert!(lateness.late.len() <= 2 * MOST_LATE);
        assert_eq!(lateness.latest(1)[0].0, 99);
    }
}
