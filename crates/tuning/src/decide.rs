//! Decides which candidate replaces the default choice.

use crate::candidates::registered_place;
use crate::chance::chance;
use crate::{Chosen, Decision};
use measurements::Contestant;

/// A candidate within this factor of the best time counts as equally good.
const AS_GOOD: f64 = 1.02;

/// What a candidate must achieve to replace the default.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Demands {
    /// The part of the default's time that the candidate must save, from 0 to 1.
    pub gain: f64,
    /// An upper bound for the probability that the times differ by chance.
    pub significance: f64,
}

/// Chooses a candidate in each cell. The cells are of one collective on the same ranks, by ascending bytes.
/// Times are medians of the jobs' medians. Two tests, of all calls and of the jobs, tell gains from chance. A candidate is
/// compared with the default in the jobs that measured both, if these are most jobs. Among equally good candidates, the choice for
/// the next smaller size wins, then the first in the registry, so that neighbouring sizes share a rule.
pub fn decide(cells: &mut [Decision], demands: Demands) {
    let mut before: Option<Contestant> = None;
    for cell in cells {
        cell.chosen = choose(cell, demands, before.as_ref());
        before = cell.chosen.as_ref().map(|chosen| cell.candidates[chosen.candidate].contestant.clone());
    }
}

fn choose(cell: &Decision, demands: Demands, before: Option<&Contestant>) -> Option<Chosen> {
    let rivals = cell.candidates.iter().enumerate().filter_map(|(candidate, one)| {
        let [default, rival] = cell.with_default(one)?;
        Some((candidate, rival.median()? / default.median()?, default, rival))
    });
    let rivals: Vec<_> = rivals.collect();
    let least = rivals.iter().map(|(_, ratio, ..)| *ratio).reduce(f64::min)?;
    let good = rivals.into_iter().filter(|(_, ratio, ..)| *ratio <= least * AS_GOOD);
    let chosen = good.filter_map(|(candidate, ratio, default, rival)| {
        let gain = 1.0 - ratio;
        let probability = chance(&default.launches, &rival.launches);
        let is_enough = gain >= demands.gain && probability < demands.significance;
        is_enough.then_some(Chosen { candidate, gain, probability })
    });
    chosen.min_by_key(|chosen| {
        let contestant = &cell.candidates[chosen.candidate].contestant;
        (Some(contestant) != before, registered_place(cell.collective, contestant), chosen.candidate)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Tried;
    use rustcoll::algorithms::Collective;

    const DEMANDS: Demands = Demands { gain: 0.1, significance: 0.05 };

    /// Times near one value, three from each of five jobs.
    fn tried(contestant: &str, seconds: f64) -> Tried {
        let launch =
            |number| [0.99, 1.0, 1.01].map(|factor| seconds * factor + number as f64 * 1e-6).to_vec();
        Tried {
            contestant: contestant.parse().unwrap(),
            ran: String::new(),
            launches: (0..5).map(launch).collect(),
        }
    }

    fn cell(bytes: usize, candidates: &[(&str, f64)]) -> Decision {
        Decision {
            collective: Collective::Alltoall,
            ranks: 13,
            nodes: 13,
            ranks_per_node: 1,
            bytes,
            default: tried("rustcoll", 1.0),
            candidates: candidates.iter().map(|&(name, seconds)| tried(name, seconds)).collect(),
            skipped: Vec::new(),
            chosen: None,
            verified: None,
        }
    }

    fn chosen(mut cells: Vec<Decision>) -> Vec<Option<String>> {
        decide(&mut cells, DEMANDS);
        let name = |cell: &Decision| {
            let chosen = cell.chosen.as_ref()?;
            Some(cell.candidates[chosen.candidate].contestant.to_string().replace("rustcoll:", ""))
        };
        cells.iter().map(name).collect()
    }

    fn one(candidates: &[(&str, f64)]) -> Option<String> {
        chosen(vec![cell(8, candidates)]).remove(0)
    }

    #[test]
    fn the_default_is_replaced_by_what_is_faster_by_enough() {
        let found = one(&[("rustcoll:pairwise", 0.8), ("rustcoll:bruck", 0.7)]);
        assert_eq!(found.as_deref(), Some("bruck"));
        assert_eq!(one(&[("rustcoll:pairwise", 0.92)]), None);
        assert_eq!(one(&[]), None);
    }

    #[test]
    fn what_may_be_chance_replaces_nothing() {
        let mut uncertain = cell(8, &[]);
        let launches = vec![vec![0.5, 0.6], vec![2.0, 0.5]];
        uncertain.default.launches = vec![vec![1.0, 0.4], vec![1.0, 3.0]];
        uncertain.candidates = vec![Tried { launches, ..tried("rustcoll:bruck", 0.5) }];
        assert_eq!(chosen(vec![uncertain]), [None]);
    }

    #[test]
    fn the_jobs_that_measured_both_count_if_they_are_most_jobs() {
        // The third job is slow, and the default misses it. The candidate misses the first one.
        let mut both = cell(8, &[("rustcoll:bruck", 0.5), ("rustcoll:pairwise", 1.0)]);
        both.default.launches[2].clear();
        both.candidates[0].launches[0].clear();
        both.candidates[0].launches[2] = vec![50.0; 3];
        assert_eq!(chosen(vec![both.clone()]), [Some("bruck".to_owned())]);
        both.candidates[0].launches[4].clear();
        assert_eq!(chosen(vec![both]), [None]);
    }

    #[test]
    fn a_job_that_did_not_measure_the_default_does_not_make_a_candidate_faster() {
        let mut faster = cell(8, &[("rustcoll:bruck", 1.0)]);
        for (job, times) in faster.candidates[0].launches.iter_mut().enumerate() {
            let seconds = if job < 3 { 0.5 } else { 1.0 };
            *times = vec![seconds; 3];
        }
        faster.default.launches[0].clear();
        faster.default.launches[1].clear();
        assert_eq!(chosen(vec![faster]), [None]);
    }

    #[test]
    fn of_equals_the_one_of_the_size_before_is_preferred() {
        let both = [("rustcoll:pairwise", 0.5), ("rustcoll:circulant", 0.505)];
        let found = |name: &str| chosen(vec![cell(8, &[(name, 0.5)]), cell(32, &both)]).remove(1);
        assert_eq!(found("rustcoll:circulant").as_deref(), Some("circulant"));
        assert_eq!(found("rustcoll:bruck").as_deref(), Some("pairwise"));
        let turned = [both[1], both[0]];
        assert_eq!(one(&turned).as_deref(), Some("pairwise"));
    }
}
