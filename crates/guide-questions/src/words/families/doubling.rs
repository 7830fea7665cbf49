//! Halving and doubling among a power of two of ranks. The other ranks fold onto these.

use super::super::numbers::count;
use super::super::pattern::with_others;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::*;
use rustcoll::algorithms::arrangements::Fold;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let fold = Fold::new(scene.size());
    let [own, other] = [travel.source, travel.target].map(|rank| fold.participant(rank));
    if own == other {
        return Some(within_pair(scene, travel, &fold));
    }
    let is_finished = scene.collective().reduces() && scene.contributors(travel) == Some(scene.size());
    if is_finished && matches!(scene.collective(), ReduceScatter | ReduceScatterBlock) {
        let text = "Finished blocks go to the ranks that they belong to.";
        return Some(Phase::new("Delivery", Sentence::plain(text)));
    }
    let distance = own ^ other;
    distance.is_power_of_two().then(|| among_participants(scene, is_finished, distance, &fold))
}

/// Before a pair's keeper communicates with others, its partner hands over its part. Later it gets the result.
fn within_pair(scene: &Scene, travel: &Travel, fold: &Fold) -> Phase {
    let pair = [travel.source, travel.target];
    let leaves_pair = |travel: &Travel| pair.contains(&travel.source) != pair.contains(&travel.target);
    if scene.earlier().flatten().any(leaves_pair) {
        let text = "The ranks that stood aside get what is theirs from the ranks that stood for them.";
        return Phase::new("Unfold", Sentence::plain(text));
    }
    let pairs = match fold.pairs {
        1 => "Of the first pair of neighbours".to_string(),
        pairs => format!("Of each of the first {pairs} pairs of neighbours"),
    };
    let text = format!("{} is no power of two. {pairs} one rank goes on for both.", scene.size());
    let formula = format!("p − 2^⌊log₂ p⌋ = {} − {} = {}", scene.size(), fold.participants, fold.pairs);
    Phase::new("Fold", Sentence::with(text, formula))
}

fn among_participants(scene: &Scene, is_finished: bool, distance: usize, fold: &Fold) -> Phase {
    let name = scene.subjects.algorithm.map_or("", |algorithm| algorithm.name);
    let reach = 2 * distance;
    let who = if fold.pairs == 0 { "ranks" } else { "participants" };
    let (title, text) = match (scene.collective(), name) {
        (Reduce, _) if is_finished => {
            ("Gather", "Finished blocks go to the partner that is on the root's side.".to_string())
        }
        _ if is_finished => (
            "Doubling",
            "Partners exchange the finished blocks that they have, and then have twice as many.".to_string(),
        ),
        (Allgather | Allgatherv, _) => (
            "Doubling",
            format!("Partners exchange all blocks that they have, and then have those of {reach} {who}."),
        ),
        (Barrier, _) => (
            "Doubling",
            format!("Partners tell each other, and then know of {reach} {who} that they have come."),
        ),
        (Allreduce, "recursive_doubling") => (
            "Doubling",
            format!(
                "Partners exchange all that they have combined; the results then stand for {reach} {who}."
            ),
        ),
        (_, "recursive_doubling") => {
            ("Doubling", "Partners exchange the partial sums that the other side still needs.".to_string())
        }
        _ => (
            "Halving",
            "Partners divide what they have between them: each sends the part that the other goes on with."
                .to_string(),
        ),
    };
    let formula = match fold.pairs {
        0 => format!("partner = i XOR {distance}"),
        pairs => format!(
            "partner = j XOR {distance}, where j = ⌊i / 2⌋ for ranks i < {} and j = i − {pairs} for the others",
            2 * pairs
        ),
    };
    Phase::new(format!("{title}, distance {distance}"), Sentence::with(text, formula))
}

fn facts(scene: &Scene) -> Vec<String> {
    let Fold { participants, pairs, .. } = Fold::new(scene.size());
    let pair = |pair: usize| format!("({}, {})", 2 * pair, 2 * pair + 1);
    let fold = || {
        let all = with_others((0..pairs).map(pair).collect());
        format!(
            "{} = {participants} + {pairs}: {participants} ranks take part, {pairs} of them for a pair: {all}.",
            scene.size()
        )
    };
    let distances: Vec<String> = (0..participants.ilog2()).map(|round| (1 << round).to_string()).collect();
    let partners = format!(
        "Partners among {participants} ranks are at log₂ {participants} = {}: {}.",
        count(distances.len(), "distance"),
        distances.join(", ")
    );
    let fold = (pairs > 0).then(fold);
    fold.into_iter().chain([partners]).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::*;
    use rustcoll::algorithms::Problem;

    #[test]
    fn rabenseifner_halves_and_doubles() {
        let problem = Problem::new(8);
        let titles = titles(Allreduce, "rabenseifner", &problem);
        let of_messages: Vec<&str> =
            titles.iter().map(String::as_str).filter(|title| title.contains("distance")).collect();
        assert_eq!(
            of_messages,
            [
                "Halving, distance 1",
                "Halving, distance 2",
                "Halving, distance 4",
                "Doubling, distance 4",
                "Doubling, distance 2",
                "Doubling, distance 1"
            ]
        );
        assert_eq!(
            step(Allreduce, "rabenseifner", &problem, 0),
            [
                "Halving, distance 1",
                "Partners divide what they have between them: each sends the part that the other goes on with. | partner = i XOR 1",
                "Every rank i exchanges with rank i XOR 1. | i XOR 1; rank 3: 011 XOR 001 = 010 = 2",
                "Each message has 4 blocks; rank 3 sends blocks 0–3 of its send buffer. | blocks 0–3 of rank 3",
            ]
        );
    }

    #[test]
    fn ranks_beyond_a_power_of_two_are_folded() {
        let problem = Problem::new(6);
        assert_eq!(
            step(Allreduce, "rabenseifner", &problem, 0)[..3],
            [
                "Fold; Halving, distance 1",
                "1 → 0, 0 → 1, 3 → 2, 2 → 3: 6 is no power of two. Of each of the first 2 pairs of neighbours one rank goes on for both. | p − 2^⌊log₂ p⌋ = 6 − 4 = 2",
                "5 → 4, 4 → 5: Partners divide what they have between them: each sends the part that the other goes on with. | partner = j XOR 1, where j = ⌊i / 2⌋ for ranks i < 4 and j = i − 2 for the others",
            ]
        );
        assert_eq!(titles(Allreduce, "rabenseifner", &problem).last().unwrap(), "Unfold");
        assert_eq!(
            of_run(Allreduce, "rabenseifner", &problem)[0],
            "6 = 4 + 2: 4 ranks take part, 2 of them for a pair: (0, 1), (2, 3)."
        );
    }

    #[test]
    fn whole_vectors_are_exchanged_by_recursive_doubling() {
        assert_eq!(
            step(Allreduce, "recursive_doubling", &Problem::new(8), 2)[..2],
            [
                "Doubling, distance 2",
                "Partners exchange all that they have combined; the results then stand for 4 ranks. | partner = i XOR 2"
            ]
        );
        assert_eq!(
            step(Allgather, "recursive_doubling", &Problem::new(8), 2)[..2],
            [
                "Doubling, distance 2",
                "Partners exchange all blocks that they have, and then have those of 4 ranks. | partner = i XOR 2"
            ]
        );
        assert_eq!(
            step(Barrier, "recursive_doubling", &Problem::new(3), 1)[1],
            "Partners tell each other, and then know of 2 participants that they have come. | partner = j XOR 1, where j = ⌊i / 2⌋ for ranks i < 2 and j = i − 1 for the others"
        );
        assert_eq!(
            step(Barrier, "recursive_doubling", &Problem::new(4), 1)[1],
            "Partners tell each other, and then know of 4 ranks that they have come. | partner = i XOR 2"
        );
    }

    #[test]
    fn other_ends_of_halving() {
        let last = |collective, name, size| {
            titles(collective, name, &Problem::new(size))
                .into_iter()
                .rev()
                .find(|title| !title.starts_with("Cop") && !title.starts_with("Reduc"))
                .unwrap()
        };
        assert_eq!(last(Reduce, "rabenseifner", 8), "Gather, distance 1");
        assert_eq!(last(ReduceScatter, "recursive_halving", 8), "Halving, distance 1");
        assert_eq!(last(ReduceScatter, "recursive_halving", 5), "Unfold");
        assert_eq!(last(ReduceScatter, "butterfly", 8), "Delivery");
    }
}
