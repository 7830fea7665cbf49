//! Finds the ranks for which the others wait.

use rustcoll::report::profile::{Lateness, Profile};
use std::collections::BTreeMap;
use tuning::words::percent;

/// Advice blames a rank or a node only if the others wait for it for at least this part of all waiting.
const MOST_OF_IT: f64 = 0.5;

/// The ranks for which others waited.
pub struct Blame<'a> {
    profile: &'a Profile,
    /// Seconds that all ranks waited, by the rank they waited for, without the longest wait in each kind of calls.
    waiting: BTreeMap<u32, f64>,
    sum: f64,
}

impl Blame<'_> {
    /// Sums the waiting of all calls.
    pub fn of(profile: &Profile) -> Blame<'_> {
        let mut waiting = BTreeMap::new();
        for row in profile.rows.values() {
            // Lateness is known for some of the calls. Scale it to all of them.
            let Lateness { seconds, late, .. } = &row.lateness;
            let scale = row.all_seconds() / seconds.max(f64::MIN_POSITIVE);
            for (&rank, late) in late {
                *waiting.entry(rank).or_default() += late.usual() * scale;
            }
        }
        let sum = waiting.values().sum();
        Blame { profile, waiting, sum }
    }

    /// Returns the part of all waiting that was for these ranks.
    fn part(&self, ranks: &[u32]) -> f64 {
        let waiting: f64 = ranks.iter().filter_map(|rank| self.waiting.get(rank)).sum();
        waiting / self.sum.max(f64::MIN_POSITIVE)
    }

    /// Returns the part of all waiting that was for each rank, the largest first.
    pub fn by_rank(&self) -> Vec<(u32, f64)> {
        let mut parts: Vec<(u32, f64)> =
            self.waiting.keys().map(|&rank| (rank, self.part(&[rank]))).collect();
        parts.sort_by(|(_, one), (_, other)| other.total_cmp(one));
        parts
    }

    /// Returns the part of all waiting that was for each node. Its ranks are the node's name.
    pub fn by_node(&self) -> Vec<(String, f64)> {
        let nodes = self.profile.nodes.values();
        nodes.map(|ranks| (rustcoll::report::ranges(ranks), self.part(ranks))).collect()
    }

    /// Returns the rank for which the others waited longest.
    fn worst(&self) -> Option<u32> {
        let longest = self.waiting.iter().max_by(|(_, one), (_, other)| one.total_cmp(other));
        longest.map(|(&rank, _)| rank)
    }

    /// Returns the ranks of the node for which the others waited longest.
    fn worst_node(&self) -> Option<&[u32]> {
        let nodes = self.profile.nodes.values().map(Vec::as_slice);
        nodes.max_by(|one, other| self.part(one).total_cmp(&self.part(other)))
    }

    /// Returns what to do if waiting takes `part_of_job` of the time.
    pub fn advice(&self, part_of_job: String) -> String {
        let head =
            format!("Ranks wait for others for {part_of_job} of the time, which no algorithm changes.");
        if let Some(rank) = self.worst()
            && self.part(&[rank]) >= MOST_OF_IT
        {
            let part = percent(self.part(&[rank]));
            return format!(
                "{head} They wait for rank {rank}: {part} of the waiting. Look at what rank {rank} does before its collectives. If the next \
                 job waits for another rank, the system delays ranks: give each a processor of its own, and bind it (mpirun --bind-to core)."
            );
        }
        if let Some(ranks) = self.worst_node().filter(|_| self.profile.nodes.len() > 1)
            && self.part(ranks) >= MOST_OF_IT.max(2.0 / self.profile.nodes.len() as f64)
        {
            let (part, ranks) = (percent(self.part(ranks)), rustcoll::report::ranges(ranks));
            return format!(
                "{head} They wait for the node of ranks {ranks}: {part} of the waiting. Look at that node."
            );
        }
        format!("{head} Now one rank is late, now another. Look at how evenly the work is spread.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustcoll::algorithms::Collective;
    use rustcoll::report::profile::{Late, OverRanks, Row};
    use rustcoll::report::{CallKind, Form};

    fn profile(waiting: &[f64]) -> Profile {
        let kind = CallKind {
            communicator: "MPI_COMM_WORLD".into(),
            size: waiting.len(),
            remote: 0,
            collective: Collective::Barrier,
            form: Form::Blocking,
            bytes_from: 0,
            datatype: "MPI_BYTE".into(),
            operator: String::new(),
            served: "dissemination".into(),
            decided: "default:1".into(),
        };
        let late = (0..)
            .zip(waiting)
            .map(|(rank, &waiting)| (rank, Late { calls: 5, waiting, longest: 0.0 }))
            .collect();
        let lateness = Lateness { calls: 4, seconds: 1.0, waiting: 1.0, late };
        let row = Row { ranks: 4, calls: 4, bytes: 0, seconds: Some(OverRanks::of(2.0)), lateness };
        Profile {
            nodes: BTreeMap::from([(1, vec![0, 1]), (2, vec![2, 3])]),
            seconds: OverRanks::of(4.0),
            rows: BTreeMap::from([(kind, row)]),
        }
    }

    fn advice(waiting: &[f64]) -> String {
        Blame::of(&profile(waiting)).advice("9 %".into())
    }

    #[test]
    fn a_rank_that_was_late_once_is_not_named() {
        let mut profile = profile(&[0.1, 0.1, 0.1, 0.7]);
        for row in profile.rows.values_mut() {
            row.lateness.late.get_mut(&3).unwrap().longest = 0.65;
        }
        let advice = Blame::of(&profile).advice("9 %".into());
        assert!(advice.contains("how evenly"), "{advice}");
    }

    #[test]
    fn a_rank_a_node_or_nobody_is_named() {
        assert!(advice(&[0.1, 0.1, 0.1, 0.7]).contains("They wait for rank 3: 70 % of the waiting"));
        assert!(advice(&[0.49, 0.51, 0.0, 0.0]).contains("rank 1: 51 %"));
        assert!(advice(&[0.4, 0.6, 0.0, 0.0]).contains("rank 1"));
        assert!(advice(&[0.3, 0.3, 0.2, 0.2]).contains("how evenly"));
        let even_on_one_node = advice(&[0.49, 0.49, 0.01, 0.01]);
        assert!(even_on_one_node.contains("how evenly"), "two nodes only: {even_on_one_node}");
    }
}
