//! Dissemination: what a rank knows reaches twice as far in every round.

use super::super::pattern::distance;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    let distance = distance(size, travel);
    if !distance.is_power_of_two() || distance != 1 << scene.round() {
        return None;
    }
    let known = (2 * distance).min(size);
    Some(Phase::new(
        format!("Communication step k = {}", distance.ilog2()),
        Sentence::with(
            format!(
                "Every rank tells the rank 2^k further on. Then it knows of {known} ranks that they have come: itself and the {} before it.",
                known - 1
            ),
            format!("2^{} = {distance}", distance.ilog2()),
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::super::testing::step;
    use rustcoll::algorithms::Collective::Barrier;
    use rustcoll::algorithms::Problem;

    #[test]
    fn what_is_known_doubles() {
        assert_eq!(
            step(Barrier, "dissemination", &Problem::new(6), 2),
            [
                "Communication step k = 2",
                "Every rank tells the rank 2^k further on. Then it knows of 6 ranks that they have come: itself and the 5 before it. | 2^2 = 4",
                "Every rank i sends to rank (i − 2) mod 6. | (i − 2) mod 6; rank 3: (3 − 2) mod 6 = 1",
                "A message is a token: only that it comes matters.",
            ]
        );
    }
}
