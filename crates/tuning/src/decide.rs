//! Decides which candidate replaces the default choice.

use crate::candidates::registered_place;
use crate::chance::chance;
use crate::{Chosen, Decision, Tried};
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
/// Times are medians of the jobs' medians. Two tests, of all calls and of the jobs, tell gains from chance. Only candidates that took
/// part in as many jobs as the default count. Among equally good candidates, the choice for the next smaller
/// size wins, then the first in the registry, so that neighbouring sizes share a rule.
pub fn decide(cells: &mut [Decision], demands: Demands) {
    let mut before: Option<Contestant> = None;
    for cell in cells {
        cell.chosen = choose(cell, demands, before.as_ref());
        before = cell.chosen.as_ref().map(|chosen| cell.candidates[chosen.candidate].contestant.clone());
    }
}

fn choose(cell: &Decision, demands: Demands, before: Option<&Contestant>) -> Option<Chosen> {
    let default = cell.default.median()?;
    let rivals = cell.candidates.iter().enumerate().filter(|(_, one)| is_measured_alike(one, &cell.default));
    let rivals: Vec<(usize, f64)> =
        rivals.filter_map(|(number, one)| Some((number, one.median()?))).collect();
    let least = rivals.iter().map(|(_, seconds)| *seconds).reduce(f64::min)?;
    let good = rivals.into_iter().filter(|(_, seconds)| *seconds <= least * AS_GOOD);
    let chosen = good.filter_map(|(candidate, seconds)| {
        let gain = 1.0 - seconds / default;
        let probability = chance(&cell.default.launches, &cell.candidates[candidate].launches);
        let is_enough = gain >= demands.gain && probability < demands.significance;
        is_enough.then_some(Chosen { candidate, gain, probability })
    });
    chosen.min_by_key(|chosen| {
        let contestant = &cell.candidates[chosen.candidate].contestant;
        (Some(contestant) != before, registered_place(cell.collective, contestant), chosen.candidate)
    })
}

fn is_measured_alike(one: &Tried, default: &Tried) -> bool {
    one.launches.len() == default.launches.len()
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn who_took_part_in_fewer_jobs_does_not_count() {
        let mut cell = cell(8, &[("rustcoll:bruck", 0.5)]);
        cell.candidates[0].launches.pop();
        assert_eq!(chosen(vec![cell]), [None]);
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
