//! Circulant graphs: partners are at fixed distances, the skips.

use super::super::numbers::count;
use super::super::pattern::distance;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::{Alltoall, Alltoallv, Alltoallw};
use rustcoll::algorithms::arrangements::{circulant_skips, postal_skips};
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn is_exchange(scene: &Scene) -> bool {
    matches!(scene.collective(), Alltoall | Alltoallv | Alltoallw)
}

fn radix(scene: &Scene) -> usize {
    if is_exchange(scene) { 2 } else { scene.problem().radix }
}

/// Returns the skips, in the order in which texts list them.
fn skips(scene: &Scene) -> Vec<usize> {
    match scene.subjects.algorithm.is_some_and(|algorithm| algorithm.name == "postal") {
        true => postal_skips(scene.problem()),
        false => circulant_skips(scene.size(), radix(scene)).collect(),
    }
}

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let (size, skips) = (scene.size(), skips(scene));
    let up = distance(size, travel);
    if is_exchange(scene) {
        let skip = size - up;
        let text = format!(
            "The distance of each block is written as a sum of skips ({}). Those with {skip} in it now go {} down.",
            listed_in_order(&skips),
            count(skip, "rank")
        );
        return skips.contains(&skip).then(|| Phase::new(format!("Skip {skip}"), Sentence::plain(text)));
    }
    let is_partial = scene.collective().reduces()
        && scene.subjects.algorithm.is_none_or(|algorithm| algorithm.name != "allgather_reduce")
        && scene.contributors(travel)? < size;
    let (distance, title) = if is_partial { (up, "Reduce-scatter") } else { (size - up, "Allgather") };
    let (skip, times) = multiple(&skips, size, radix(scene), distance)?;
    let text = match is_partial {
        true => {
            let blocks = count(travel.from.blocks(), "block");
            format!("Every rank i sends its partial sums of {blocks}, those from rank i + {distance} on.")
        }
        false => format!("Every rank gets blocks that the rank {distance} further on has collected."),
    };
    let formula = match times {
        1 => format!("skips: {}", listed_in_order(&skips)),
        _ => format!("skips: {}; {times} · {skip} = {distance}", listed_in_order(&skips)),
    };
    Some(Phase::new(format!("{title}, distance {distance}"), Sentence::with(text, formula)))
}

/// Returns the skip of which a distance is a multiple, and the factor. The distance is below the skip before.
fn multiple(skips: &[usize], size: usize, radix: usize, distance: usize) -> Option<(usize, usize)> {
    let mut reached = size;
    for &skip in skips {
        if (skip..reached).contains(&distance) {
            let times = distance / skip;
            return (times * skip == distance && times < radix).then_some((skip, times));
        }
        reached = skip;
    }
    None
}

fn listed_in_order(numbers: &[usize]) -> String {
    numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
}

fn facts(scene: &Scene) -> Vec<String> {
    vec![match &skips(scene)[..] {
        [skip] => format!("The only skip is {skip}."),
        skips => format!("Skips are {}.", listed_in_order(skips)),
    }]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::*;
    use rustcoll::algorithms::Problem;

    fn problem(size: usize) -> Problem {
        Problem { radix: 2, window: 1, ..Problem::new(size) }
    }

    #[test]
    fn an_allreduce_goes_there_and_back() {
        let titles = titles(Allreduce, "circulant", &problem(5));
        let of_messages: Vec<&str> =
            titles.iter().map(String::as_str).filter(|title| *title != "Reduction").collect();
        assert_eq!(
            of_messages,
            [
                "Reduce-scatter, distance 3",
                "Reduce-scatter, distance 2",
                "Reduce-scatter, distance 1",
                "Allgather, distance 1",
                "Allgather, distance 2",
                "Allgather, distance 3"
            ]
        );
    }

    #[test]
    fn blocks_of_an_alltoall_take_the_skips_of_their_distance() {
        assert_eq!(of_run(Alltoall, "circulant", &problem(6)), ["Skips are 3, 2, 1."]);
        assert_eq!(of_run(Alltoall, "circulant", &problem(2)), ["The only skip is 1."]);
        assert_eq!(
            step(Alltoall, "circulant", &problem(6), 1)[..2],
            [
                "Skip 3",
                "The distance of each block is written as a sum of skips (3, 2, 1). Those with 3 in it now go 3 ranks down."
            ]
        );
        assert_eq!(
            of_run(Alltoall, "postal", &Problem { window: 2, ..problem(9) }),
            ["Skips are 1, 2, 3, 5, 8."]
        );
    }

    #[test]
    fn larger_radices_have_multiples_of_skips() {
        let problem = Problem { radix: 3, ..Problem::new(9) };
        assert_eq!(
            step(ReduceScatter, "circulant", &problem, 0)[..2],
            [
                "Reduce-scatter, distance 3",
                "Every rank i sends its partial sums of 3 blocks, those from rank i + 3 on. | skips: 3, 1"
            ]
        );
    }
}
