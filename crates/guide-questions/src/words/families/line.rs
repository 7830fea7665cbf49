//! Messages that go from rank to rank, one after the other.

use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::{Barrier, Exscan, Scan};
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    if (travel.source + 1) % scene.size() != travel.target {
        return None;
    }
    match scene.collective() {
        Barrier => {
            let is_first_time = scene.round() < scene.size();
            let (title, text) = match is_first_time {
                true => ("First time round", "The token goes on from rank to rank as they come."),
                false => ("Second time round", "The token goes on to tell that all have come."),
            };
            Some(Phase::new(title, Sentence::plain(text)))
        }
        Scan | Exscan if scene.contributors(travel)? == travel.target => {
            let text =
                "Every rank adds its vector to what has come and sends the sum of all up to itself on.";
            Some(Phase { sentences: vec![Sentence::plain(text)], ..Phase::default() })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::step;
    use rustcoll::algorithms::Collective::{Barrier, Scan};
    use rustcoll::algorithms::Problem;

    #[test]
    fn sums_and_tokens_go_from_rank_to_rank() {
        assert_eq!(
            step(Scan, "linear", &Problem::new(4), 3),
            [
                "Communication step 1",
                "Every rank adds its vector to what has come and sends the sum of all up to itself on.",
                "Rank 1 sends to rank 2.",
                "The message has 1 block; rank 1 sends block 0 of its receive buffer. | block 0 of 0 ⊕ 1",
            ]
        );
        let titles = [3, 4].map(|number| step(Barrier, "ring", &Problem::new(4), number)[0].clone());
        assert_eq!(titles, ["First time round", "Second time round"]);
    }
}
