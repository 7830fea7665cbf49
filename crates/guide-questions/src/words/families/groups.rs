//! The two groups of an inter-communicator, each with a leader.

use super::super::numbers::named;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::*;
use rustcoll::trace::Travel;
use std::ops::Range;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let problem = scene.problem();
    let own = problem.group(travel.source);
    if !own.contains(&travel.target) {
        let text = match scene.collective() {
            Allgatherv => "Every rank sends its block to the leader of the other group.",
            collective if collective.is_rooted() => {
                "Data go between the root and the leader of the other group."
            }
            _ => "The leaders exchange what their groups have.",
        };
        return Some(Phase::new("Between the groups", Sentence::plain(text)));
    }
    let has_come = |travel: &Travel| own.contains(&travel.target) && !own.contains(&travel.source);
    let is_after = scene.earlier().flatten().any(has_come);
    let text = match (is_after, scene.collective()) {
        (true, Barrier) => "In each group the leader tells its tree that all have come.",
        (false, Barrier) => "In each group tokens go up a tree to the leader.",
        (true, ReduceScatter | ReduceScatterBlock | Scatter) => {
            "In each group the leader scatters along a binomial tree."
        }
        (true, _) => "In each group the leader broadcasts what has come from the other group.",
        (false, collective) if collective.reduces() => {
            "In each group vectors are combined up a binomial tree to the leader."
        }
        (false, _) => "In each group blocks are gathered up a binomial tree at the leader.",
    };
    Some(Phase::new("In the groups", Sentence::plain(text)))
}

fn facts(scene: &Scene) -> Vec<String> {
    let (first, size) = (scene.problem().local(), scene.size());
    let ranks = |ranks: Range<usize>| named("rank", &ranks.collect::<Vec<_>>());
    vec![format!(
        "The groups are {} and {}; their leaders are 0 and {first}.",
        ranks(0..first),
        ranks(first..size)
    )]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::Allreduce;
    use rustcoll::algorithms::Problem;

    #[test]
    fn groups_combine_and_their_leaders_exchange() {
        let problem = Problem::between(3, 2);
        assert_eq!(
            of_run(Allreduce, "inter_leaders", &problem),
            ["The groups are ranks 0–2 and ranks 3, 4; their leaders are 0 and 3."]
        );
        assert_eq!(
            of_run(Allreduce, "inter_leaders", &Problem::between(1, 1)),
            ["The groups are rank 0 and rank 1; their leaders are 0 and 1."]
        );
        let titles = titles(Allreduce, "inter_leaders", &problem);
        let of_messages: Vec<&str> =
            titles.iter().map(String::as_str).filter(|title| *title != "Reduction").collect();
        assert_eq!(
            of_messages,
            ["In the groups", "In the groups", "Between the groups", "In the groups", "In the groups"]
        );
        assert_eq!(
            step(Allreduce, "inter_leaders", &problem, 0)[1],
            "In each group vectors are combined up a binomial tree to the leader."
        );
        assert_eq!(
            step(Allreduce, "inter_leaders", &problem, 5)[1],
            "In each group the leader broadcasts what has come from the other group."
        );
    }
}
