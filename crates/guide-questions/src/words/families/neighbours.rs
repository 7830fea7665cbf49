//! Neighbour exchange: pairs of blocks go round in both directions.

use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    let is_neighbour =
        (travel.source + 1) % size == travel.target || (travel.target + 1) % size == travel.source;
    let text = match travel.from.blocks() {
        1 => "Every rank exchanges its own block with one of its neighbours.",
        2 => {
            "Every rank exchanges with its neighbours in turn, and passes on the pair of blocks that it got last."
        }
        _ => return None,
    };
    is_neighbour.then(|| Phase { sentences: vec![Sentence::plain(text)], ..Phase::default() })
}

#[cfg(test)]
mod tests {
    use super::super::testing::step;
    use rustcoll::algorithms::Collective::Allgather;
    use rustcoll::algorithms::Problem;

    #[test]
    fn pairs_of_blocks_are_passed_on() {
        assert_eq!(
            step(Allgather, "neighbor_exchange", &Problem::new(6), 2),
            [
                "Communication step 1",
                "Every rank exchanges with its neighbours in turn, and passes on the pair of blocks that it got last.",
                "Ranks communicate in pairs: 0 ↔ 5, 1 ↔ 2, 3 ↔ 4.",
                "Each message has 2 blocks; rank 3 sends blocks 2, 3 of its receive buffer. | block 2 of rank 2, block 3 of rank 3",
            ]
        );
    }
}
