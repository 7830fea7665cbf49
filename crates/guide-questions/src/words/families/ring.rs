//! Rings: every rank passes on to the next rank what it got from the rank before.

use super::super::numbers::count;
use super::super::pattern::{distance, sample_rank};
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective;
use rustcoll::trace::{Travel, Value};

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    if distance(size, travel) != 1 {
        return None;
    }
    let contributors = scene.contributors(travel)?;
    if !scene.collective().reduces() {
        return passing_on(scene, travel);
    }
    if contributors == size {
        let text = "The finished blocks go round: every rank passes on to the next the one that it finished or got last.";
        return Some(Phase::new("Allgather", Sentence::plain(text)));
    }
    let text = match contributors {
        1 => "Every rank sends its part of a block to the next rank, which adds its own.".to_string(),
        _ => format!("Partial sums of {contributors} ranks go on to the next rank, which adds its own part."),
    };
    Some(Phase::new(format!("Reduce-scatter, step {contributors} of {}", size - 1), Sentence::plain(text)))
}

/// In step s of an allgather, rank i passes on the block of rank i − s.
fn passing_on(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    let [value] = scene.brought(travel)[..] else { return None };
    let Value::Input { rank: origin, .. } = scene.trace.values.all()[value.0] else { return None };
    let step = (travel.source + size - origin) % size;
    let sample = sample_rank(size);
    let sentence = match step {
        0 => Sentence::plain("Every rank sends its own block to the next rank."),
        _ => Sentence::with(
            format!(
                "Every rank i passes on to the next the block that it got last, that of rank i − {step}."
            ),
            format!(
                "(i − {step}) mod {size}; rank {sample}: block of rank {}",
                (sample + size - step) % size
            ),
        ),
    };
    Some(Phase::new(format!("Ring, step {} of {}", step + 1, size - 1), sentence))
}

fn facts(scene: &Scene) -> Vec<String> {
    let rounds = scene.size() - 1;
    match scene.collective() {
        Collective::Allreduce => vec![format!(
            "In p − 1 = {} blocks are combined, so that each rank has a finished one, and in as many these go round.",
            count(rounds, "step")
        )],
        _ => vec![format!(
            "Every rank sends p − 1 = {}, always to the same neighbour.",
            count(rounds, "message")
        )],
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::{Allgather, Allreduce, ReduceScatter};
    use rustcoll::algorithms::Problem;

    #[test]
    fn an_allgather_passes_on_what_came_last() {
        let steps = titles(Allgather, "ring", &Problem::new(5)).len();
        assert_eq!(
            step(Allgather, "ring", &Problem::new(5), steps - 4)[1],
            "Every rank sends its own block to the next rank."
        );
        assert_eq!(
            step(Allgather, "ring", &Problem::new(5), steps - 3)[..3],
            [
                "Ring, step 2 of 4",
                "Every rank i passes on to the next the block that it got last, that of rank i − 1. | (i − 1) mod 5; rank 3: block of rank 2",
                "Every rank i sends to rank (i + 1) mod 5. | (i + 1) mod 5; rank 3: (3 + 1) mod 5 = 4",
            ]
        );
    }

    #[test]
    fn an_allreduce_combines_first() {
        let problem = Problem::new(4);
        let titles = titles(Allreduce, "ring", &problem);
        assert_eq!(
            titles,
            [
                "Reduce-scatter, step 1 of 3",
                "Reduction",
                "Reduce-scatter, step 2 of 3",
                "Reduction",
                "Reduce-scatter, step 3 of 3",
                "Reduction",
                "Allgather",
                "Allgather",
                "Allgather"
            ]
        );
        assert_eq!(
            step(Allreduce, "ring", &problem, 2)[1],
            "Partial sums of 2 ranks go on to the next rank, which adds its own part."
        );
        assert_eq!(
            step(Allreduce, "ring", &problem, 3),
            [
                "Reduction",
                "Every rank reduces 1 block.",
                "Rank 0 combines what rank 3 sent with what it has. | block 1 of 0 ⊕ (3 ⊕ 2)"
            ]
        );
        assert_eq!(of_run(Allreduce, "ring", &problem).len(), 1);
        assert_eq!(
            super::super::testing::titles(ReduceScatter, "ring", &problem)[0],
            "Reduce-scatter, step 1 of 3"
        );
    }
}
