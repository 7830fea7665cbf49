//! Separates waiting from moving: what a collective costs, and what is only time until the last rank comes.
//!
//! All ranks note when the same few calls began and how long they took. If all ranks of a call wait for each other, the
//! last one to come does not wait: its time is the cost of the call, and the extra time of the others is waiting. That
//! needs no common clock. The ranks of one node read the same clock, so there the times at which ranks came are known,
//! too. They also serve calls in which ranks wait for the root, or the root waits for them.

use crate::algorithms::{Collective, Cut};
use std::collections::BTreeMap;

/// A rank in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The rank in the job.
    pub rank: u32,
    /// Whether it is the call's root.
    pub is_root: bool,
    /// When the call began, in nanoseconds on the clock of the rank's node.
    pub came: u64,
    /// How long the call took, in nanoseconds.
    pub took: u64,
}

/// A call, with the ranks of which it is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// How many ranks the call has.
    pub size: u32,
    pub collective: Collective,
    /// The hash of its row in the profile.
    pub row: u64,
    /// The node of all ranks, if they are on one.
    pub node: Option<u64>,
    pub visits: Vec<Visit>,
}

/// What identifies a call: its communicator, and its number there.
pub type CallId = (u64, u64);

/// Calls of which some ranks are not known yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Samples(BTreeMap<CallId, Sample>);

/// How much of a call's time was waiting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Nanoseconds of all ranks together.
    pub took: u64,
    /// Nanoseconds of all ranks together in which they waited for others to come.
    pub waiting: u64,
    /// The rank for which they waited.
    pub late: u32,
}

/// Who waits for whom.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wait {
    /// All ranks for all.
    AllForAll,
    /// All for the root.
    AllForRoot,
    /// The root for all.
    RootForAll,
    /// Some ranks for others, depending on their ranks or neighbours.
    Unknown,
}

fn wait(collective: Collective) -> Wait {
    match collective {
        Collective::Bcast | Collective::Scatter | Collective::Scatterv => Wait::AllForRoot,
        rooted if rooted.is_rooted() => Wait::RootForAll,
        Collective::Scan | Collective::Exscan => Wait::Unknown,
        neighbours if neighbours.cut() == Cut::Edges => Wait::Unknown,
        _ => Wait::AllForAll,
    }
}

/// Whether all ranks of a call wait for each other.
pub fn is_waited_for_by_all(collective: Collective) -> bool {
    wait(collective) == Wait::AllForAll
}

impl Sample {
    /// Judges the call's time; `None` if that cannot be done. All ranks must be known.
    pub fn judged(&self) -> Option<Judged> {
        let visits = &self.visits;
        let took = visits.iter().map(|visit| visit.took).sum();
        let late = match (wait(self.collective), self.node) {
            (Wait::AllForAll, None) => {
                let last = visits.iter().min_by_key(|visit| visit.took)?;
                let waiting = visits.iter().map(|visit| visit.took - last.took).sum();
                return Some(Judged { took, waiting, late: last.rank });
            }
            (Wait::AllForRoot, Some(_)) => visits.iter().find(|visit| visit.is_root)?,
            (Wait::AllForAll | Wait::RootForAll, Some(_)) => visits.iter().max_by_key(|visit| visit.came)?,
            (Wait::Unknown, _) | (_, None) => return None,
        };
        let waits = |visit: &&Visit| wait(self.collective) != Wait::RootForAll || visit.is_root;
        let waited = |visit: &Visit| visit.took.min(late.came.saturating_sub(visit.came));
        let waiting = visits.iter().filter(waits).map(waited).sum();
        Some(Judged { took, waiting, late: late.rank })
    }

    /// Adds ranks of the same call. Returns whether their descriptions of the call agree.
    fn join(&mut self, other: Sample) -> bool {
        let is_same = self.size == other.size && self.collective == other.collective;
        self.node = self.node.filter(|_| self.node == other.node);
        self.visits.extend(other.visits);
        is_same && self.visits.len() <= self.size as usize
    }
}

/// Number of words for what all ranks of a sample have in common: call, size, collective, row, node, number of visits.
const HEAD: usize = 8;

/// Number of words of a visit.
const VISIT: usize = 3;

/// The bit of a visit's first word that marks the root.
const ROOT: u64 = 1 << 32;

impl Samples {
    /// Adds a call, or ranks of it. Leaves out a call that its ranks describe differently.
    pub fn add(&mut self, id: CallId, sample: Sample) {
        if let Some(known) = self.0.get_mut(&id) {
            if !known.join(sample) {
                self.0.remove(&id);
            }
        } else {
            self.0.insert(id, sample);
        }
    }

    pub fn merge(&mut self, others: Samples) {
        others.0.into_iter().for_each(|(id, sample)| self.add(id, sample));
    }

    /// Removes and returns the calls of which all ranks are known.
    pub fn complete(&mut self) -> Vec<Sample> {
        let (complete, rest) = std::mem::take(&mut self.0)
            .into_iter()
            .partition(|(_, sample)| sample.visits.len() == sample.size as usize);
        self.0 = rest;
        complete.into_values().collect()
    }

    /// Returns the samples as at most `most` words. Leaves out samples for which there is no room.
    pub fn to_words(&self, most: usize) -> Vec<u64> {
        let mut words = Vec::new();
        for (&(communicator, number), sample) in &self.0 {
            let Sample { size, collective, row, node, visits } = sample;
            if words.len() + HEAD + VISIT * visits.len() > most {
                break;
            }
            let collective = *collective as u64;
            let node = [u64::from(node.is_some()), node.unwrap_or_default()];
            words.extend([communicator, number, u64::from(*size), collective, *row]);
            words.extend(node);
            words.push(visits.len() as u64);
            for &Visit { rank, is_root, came, took } in visits {
                words.extend([u64::from(rank) | if is_root { ROOT } else { 0 }, came, took]);
            }
        }
        words
    }

    /// Decodes words of [`Samples::to_words`]; `None` if they are malformed.
    pub fn of_words(mut words: &[u64]) -> Option<Samples> {
        let mut samples = Samples::default();
        while !words.is_empty() {
            let (&[communicator, number, size, collective, row, has_node, node, visits], rest) =
                words.split_first_chunk::<HEAD>()?;
            let (visits, rest) = rest.split_at_checked(usize::try_from(visits).ok()?.checked_mul(VISIT)?)?;
            let visits = visits.chunks_exact(VISIT).map(|visit| Visit {
                rank: visit[0] as u32,
                is_root: visit[0] & ROOT != 0,
                came: visit[1],
                took: visit[2],
            });
            let sample = Sample {
                size: u32::try_from(size).ok()?,
                collective: *Collective::ALL.get(usize::try_from(collective).ok()?)?,
                row,
                node: (has_node != 0).then_some(node),
                visits: visits.collect(),
            };
            samples.add((communicator, number), sample);
            words = rest;
        }
        Some(samples)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(collective: Collective, node: Option<u64>, root: u32, visits: &[(u64, u64)]) -> Sample {
        let visit = |(&(came, took), rank)| Visit { rank, is_root: rank == root, came, took };
        let visits: Vec<_> = visits.iter().zip(0..).map(visit).collect();
        Sample { size: visits.len() as u32, collective, row: 7, node, visits }
    }

    fn judged(collective: Collective, node: Option<u64>, visits: &[(u64, u64)]) -> Option<(u64, u64, u32)> {
        let judged = sample(collective, node, 1, visits).judged()?;
        Some((judged.took, judged.waiting, judged.late))
    }

    #[test]
    fn the_last_rank_to_come_does_not_wait() {
        // Clocks of nodes differ; times do not.
        let visits = [(900, 110), (20, 10), (0, 60)];
        assert_eq!(judged(Collective::Allreduce, None, &visits), Some((180, 150, 1)));
        assert_eq!(judged(Collective::Bcast, None, &visits), None);
    }

    #[test]
    fn on_one_node_clocks_tell_who_came_last() {
        let visits = [(0, 110), (100, 12), (50, 61)];
        assert_eq!(judged(Collective::Barrier, Some(5), &visits), Some((183, 150, 1)));
        assert_eq!(judged(Collective::Scan, Some(5), &visits), None);
    }

    #[test]
    fn a_root_that_comes_late_has_the_others_wait_for_it_and_not_for_each_other() {
        let visits = [(0, 110), (100, 12), (170, 5)];
        assert_eq!(judged(Collective::Bcast, Some(5), &visits), Some((127, 100, 1)));
        assert_eq!(judged(Collective::Reduce, Some(5), &visits), Some((127, 12, 2)));
    }

    #[test]
    fn ranks_tell_of_a_call_one_by_one() {
        let whole = sample(Collective::Allreduce, Some(5), 1, &[(0, 110), (100, 12), (50, 61)]);
        let mut samples = Samples::default();
        for visit in &whole.visits {
            assert_eq!(samples.complete(), []);
            let part = Sample { visits: vec![*visit], ..whole.clone() };
            let mut told = Samples::default();
            told.add((3, 17), part);
            samples.merge(Samples::of_words(&told.to_words(usize::MAX)).unwrap());
        }
        assert_eq!(samples.complete(), [whole]);
        assert_eq!(samples, Samples::default());
    }

    #[test]
    fn ranks_on_several_nodes_have_no_common_clock() {
        let mut samples = Samples::default();
        for node in [1, 2, 2] {
            let part = sample(Collective::Barrier, Some(node), 0, &[(0, 1)]);
            samples.add((0, 0), Sample { size: 3, ..part });
        }
        assert_eq!(samples.complete()[0].node, None);
    }

    #[test]
    fn a_call_of_which_ranks_say_different_things_is_left_out() {
        let mut samples = Samples::default();
        for collective in [Collective::Barrier, Collective::Bcast] {
            samples.add((0, 0), Sample { size: 2, ..sample(collective, None, 0, &[(0, 1)]) });
        }
        assert_eq!(samples.complete(), []);
    }

    #[test]
    fn what_has_no_room_is_left_out_and_nonsense_is_refused() {
        let mut samples = Samples::default();
        samples.add((0, 0), sample(Collective::Barrier, None, 0, &[(0, 1), (0, 2)]));
        samples.add((0, 1), sample(Collective::Barrier, None, 0, &[(0, 1), (0, 2)]));
        let words = samples.to_words(20);
        assert_eq!(words.len(), 14);
        assert_eq!(Samples::of_words(&words[..13]), None);
        assert_eq!(Samples::of_words(&[0, 0, 1, 99, 0, 0, 0, 0]), None);
        assert_eq!(Samples::of_words(&[0, 0, 1, 0, 0, 0, 0, u64::MAX]), None);
    }
}
