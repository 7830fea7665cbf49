//! Decides what to measure next, from the results so far.
//!
//! A tuning has three stages for each number of ranks. The *survey* is one job. In each cell, it measures the
//! default and every algorithm that can serve the call, with the parameters that predictions call the fastest.
//! It leaves out candidates with a predicted time of several times the shortest one ([`fields`](crate::fields)).
//! The *search* takes a few jobs. It varies parameters by steps around the candidates near the best ([`steps`]),
//! as long as the steps gain something. In the *final*, several jobs compare the default with the few best
//! candidates ([`finalists`]). Only the final decides ([`decide`](fn@crate::decide)).

use crate::Decision;
use crate::candidates::{candidate, contestant, neighbours, registered_place};
use measurements::Contestant;
use rustcoll::algorithms::Collective;
use rustcoll::atlas::Candidate;

/// The search varies the parameters of candidates within this factor of the best time.
const SEARCHED: f64 = 1.5;

/// The most algorithms in each cell whose parameters the search varies.
const MOST_SEARCHED: usize = 3;

/// The search of an algorithm goes on as long as a step saves this part of its time.
const WORTH_A_STEP: f64 = 0.03;

/// The most jobs of the search.
pub const MOST_STEPS: usize = 3;

/// A finalist must be within this factor of the best time.
const NEAR_THE_BEST: f64 = 1.15;

/// The most candidates in the final, besides the default.
const MOST_FINALISTS: usize = 3;

/// A finalist that takes more than this factor times the default's time in the first final jobs has lost.
const LOST: f64 = 1.25;

/// The number of final jobs that all finalists take part in.
pub const SURE_FINALS: usize = 2;

/// A candidate of a cell with its measured time.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    pub contestant: Contestant,
    /// Its time in the survey, or in the step that first measured it.
    pub seconds: f64,
    /// The step that first measured it; 0 is the survey.
    pub step: usize,
}

/// Identifies a cell: a collective with a number of ranks and of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CellKey {
    pub collective: Collective,
    pub ranks: usize,
    /// The bytes by the collective's measure.
    pub bytes: usize,
}

impl CellKey {
    pub fn of(cell: &Decision) -> CellKey {
        CellKey { collective: cell.collective, ranks: cell.ranks, bytes: cell.bytes }
    }

    fn registered(&self, contestant: &Contestant) -> usize {
        registered_place(self.collective, contestant)
    }

    /// Whether the same problem was measured, possibly under another name: a parameter may have its default value.
    fn is_known(&self, wanted: &Candidate, standings: &[Standing]) -> bool {
        let problem = |one: &Candidate| one.problem(self.ranks, self.bytes);
        let known = standings.iter().filter_map(|standing| candidate(self.collective, &standing.contestant));
        let mut same = known.filter(|known| std::ptr::eq(known.algorithm, wanted.algorithm));
        same.any(|known| problem(&known) == problem(wanted))
    }
}

/// Returns the contestants of a step of the search. They are the best candidate of each algorithm that is
/// near the best and has gained enough, and its neighbours. Empty if there is nothing to search.
pub fn steps(place: CellKey, standings: &[Standing], step: usize) -> Vec<Contestant> {
    let by_algorithm = best_of_each(standings);
    let Some(least) = by_algorithm.first().map(|best| best.seconds) else { return Vec::new() };
    let near = by_algorithm.into_iter().take_while(|best| best.seconds <= least * SEARCHED);
    let searchable = near.filter_map(|best| {
        let known = candidate(place.collective, &best.contestant)?;
        let beside = neighbours(&known, place.ranks, place.bytes);
        (!beside.is_empty()).then_some((best, beside))
    });
    let gaining =
        searchable.take(MOST_SEARCHED).filter(|(best, _)| step == 1 || has_gained(best, standings, step - 1));
    let mut all = Vec::new();
    for (base, beside) in gaining {
        let new: Vec<Contestant> =
            beside.iter().filter(|one| !place.is_known(one, standings)).map(contestant).collect();
        // One job measures a step together with its starting point.
        all.extend((!new.is_empty()).then(|| base.contestant.clone()));
        all.extend(new);
    }
    all.sort_by_key(|one| (place.registered(one), one.parameters.clone()));
    all
}

/// Returns the best candidate of each algorithm, the fastest first.
fn best_of_each(standings: &[Standing]) -> Vec<&Standing> {
    let mut sorted: Vec<&Standing> = standings.iter().collect();
    sorted.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let mut seen: Vec<&Option<String>> = Vec::new();
    sorted.retain(|standing| {
        let is_new = !seen.contains(&&standing.contestant.algorithm);
        seen.push(&standing.contestant.algorithm);
        is_new
    });
    sorted
}

/// Whether an algorithm's best candidate came in the last step, and is enough faster than the best one before.
fn has_gained(best: &Standing, standings: &[Standing], last: usize) -> bool {
    let before = standings
        .iter()
        .filter(|other| other.contestant.algorithm == best.contestant.algorithm && other.step < last)
        .map(|other| other.seconds)
        .reduce(f64::min);
    best.step == last && before.is_none_or(|before| best.seconds <= before * (1.0 - WORTH_A_STEP))
}

/// Returns the candidates for the final. They are near the best, and save at least half of the required `gain`. If
/// there are too many, the best one has precedence, then the leaders at the neighbouring sizes (`beside`), then the
/// best of other algorithms. The result has the registry's order. It is empty if no candidate can beat the default.
pub fn finalists(
    place: CellKey,
    default: f64,
    standings: &[Standing],
    beside: &[Contestant],
    gain: f64,
) -> Vec<Contestant> {
    let mut sorted: Vec<&Standing> = standings.iter().collect();
    sorted.sort_by(|one, other| one.seconds.total_cmp(&other.seconds));
    let Some(best) = sorted.first().copied() else { return Vec::new() };
    let most = (best.seconds * NEAR_THE_BEST).min(default * (1.0 - gain / 2.0));
    sorted.retain(|one| one.seconds <= most);
    let wins_beside = |one: &&Standing| beside.contains(&one.contestant);
    let is_first = |one: &&Standing| best_of_each(standings).iter().any(|first| first == one);
    // The sort is stable, so equal keys stay in the order of their times.
    sorted.sort_by_key(|one| (*one != best, !wins_beside(one), !is_first(one)));
    let mut chosen: Vec<Contestant> =
        sorted.into_iter().take(MOST_FINALISTS).map(|one| one.contestant.clone()).collect();
    chosen.sort_by_key(|one| (place.registered(one), one.parameters.clone()));
    chosen
}

/// Returns the best candidate of a cell before the final.
pub fn leader(standings: &[Standing]) -> Option<&Contestant> {
    best_of_each(standings).first().map(|best| &best.contestant)
}

/// Whether a candidate without parameters is the default under its own name: the same algorithm ran, and the times
/// differ by less than `gain`. A rule may set parameters for the default, so the algorithm's name is not
/// enough.
pub fn is_default(one: &Standing, ran: &str, default: f64, gain: f64) -> bool {
    let is_named = one.contestant.is_own() && one.contestant.algorithm.as_deref() == Some(ran);
    is_named && one.contestant.parameters.is_empty() && (one.seconds / default - 1.0).abs() < gain
}

/// Whether a finalist can still win after the first final jobs.
pub fn can_win(seconds: f64, default: f64) -> bool {
    seconds <= default * LOST
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: CellKey = CellKey { collective: Collective::Alltoall, ranks: 13, bytes: 64 };

    fn standings(all: &[(&str, f64, usize)]) -> Vec<Standing> {
        let standing = |&(name, seconds, step): &(&str, f64, usize)| Standing {
            contestant: format!("rustcoll:{name}").parse().unwrap(),
            seconds,
            step,
        };
        all.iter().map(standing).collect()
    }

    fn names(contestants: &[Contestant]) -> Vec<String> {
        contestants.iter().map(|one| one.to_string().replace("rustcoll:", "")).collect()
    }

    #[test]
    fn steps_go_around_what_is_near_the_best() {
        let survey = standings(&[("bruck", 2.0, 0), ("postal", 3.1, 0), ("pairwise", 2.1, 0)]);
        let first = steps(PLACE, &survey, 1);
        assert_eq!(names(&first), ["bruck", "bruck:radix=3", "bruck:radix=5"]);
    }

    #[test]
    fn algorithms_without_parameters_take_no_place_in_the_search() {
        let fixed = [("pairwise", 1.0, 0), ("circulant", 1.0, 0), ("spread_out", 1.0, 0)];
        let all = [&fixed[..], &[("bruck", 1.1, 0)]].concat();
        assert_eq!(names(&steps(PLACE, &standings(&all), 1)), ["bruck", "bruck:radix=3", "bruck:radix=5"]);
    }

    #[test]
    fn the_default_under_its_own_name_is_known() {
        let is_default = |name, seconds| is_default(&standings(&[(name, seconds, 0)])[0], "bruck", 1.0, 0.1);
        assert!(is_default("bruck", 0.92) && is_default("bruck", 1.05));
        assert!(!is_default("bruck", 0.85) && !is_default("bruck:radix=3", 1.0));
        assert!(!is_default("pairwise", 1.0));
    }

    #[test]
    fn steps_go_on_while_they_gain() {
        let after = |seconds| {
            let all = [("bruck", 2.0, 0), ("bruck:radix=3", seconds, 1), ("bruck:radix=5", 3.0, 1)];
            names(&steps(PLACE, &standings(&all), 2))
        };
        assert_eq!(after(1.9), ["bruck:radix=2", "bruck:radix=3"]);
        assert!(after(1.99).is_empty());
        assert!(after(2.5).is_empty());
        assert!(steps(PLACE, &[], 1).is_empty());
    }

    #[test]
    fn finalists_are_few_near_the_best_and_faster_than_the_default() {
        let all = standings(&[
            ("pairwise", 1.10, 0),
            ("bruck:radix=3", 1.00, 0),
            ("bruck:radix=5", 1.01, 0),
            ("circulant", 1.12, 0),
            ("linear_window", 1.16, 0),
        ]);
        let found = |default, beside: &[&str]| {
            let beside: Vec<Contestant> =
                beside.iter().map(|name| format!("rustcoll:{name}").parse().unwrap()).collect();
            names(&finalists(PLACE, default, &all, &beside, 0.1))
        };
        // Other algorithms have precedence over other parameters.
        assert_eq!(found(2.0, &[]), ["bruck:radix=3", "pairwise", "circulant"]);
        // The leader of a neighbouring size has precedence, unless it is far from the best.
        assert_eq!(
            found(2.0, &["bruck:radix=5", "linear_window"]),
            ["bruck:radix=3", "bruck:radix=5", "pairwise"]
        );
        // A gain of 5 % is enough to take part.
        assert_eq!(found(1.06, &[]), ["bruck:radix=3"]);
        assert!(found(1.0, &[]).is_empty());
    }
}
