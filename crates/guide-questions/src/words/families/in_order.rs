//! Trees whose subtrees are ranges of ranks.

use super::super::numbers::listed;
use super::super::pattern::sample;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    contributors(scene, travel)?;
    let sample = sample(scene.travels());
    let formula = format!("rank {}: of ranks {}", sample.source, listed(&contributors(scene, sample)?));
    let text = "Ranks send what the ranges of ranks below them in the tree have combined to their parents.";
    Some(Phase::new("Reduce up the tree", Sentence::with(text, formula)))
}

/// Returns the ranks that contributed to a message's first value, in order, if they are a range of ranks.
fn contributors(scene: &Scene, travel: &Travel) -> Option<Vec<usize>> {
    let contributors = scene.trace.values.contributors(*scene.brought(travel).first()?);
    contributors.windows(2).all(|ranks| ranks[0] + 1 == ranks[1]).then(|| contributors.to_vec())
}

#[cfg(test)]
mod tests {
    use super::super::testing::step;
    use rustcoll::algorithms::Collective::Reduce;
    use rustcoll::algorithms::Problem;

    #[test]
    fn ranges_are_combined() {
        for (name, number, formula) in [
            ("binomial_in_order", 4, "rank 4: of ranks 4, 5"),
            ("binary_in_order", 6, "rank 3: of ranks 1–5"),
        ] {
            let said = step(Reduce, name, &Problem::new(6), number);
            assert_eq!(
                said[..2],
                [
                    "Reduce up the tree".to_string(),
                    format!(
                        "Ranks send what the ranges of ranks below them in the tree have combined to their parents. | {formula}"
                    )
                ]
            );
        }
    }
}
