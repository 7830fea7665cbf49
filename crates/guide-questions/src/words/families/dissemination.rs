//! Dissemination: in every round, what a rank knows reaches further by the factor radix.

use super::super::pattern::distance;
use super::super::scene::Scene;
use super::bruck::Digit;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::digits::least_radix;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    let radix = least_radix(size, scene.problem().radix);
    let digit = Digit::of_distance(distance(size, travel), radix)?;
    let known = (digit.distance + radix.pow(digit.position)).min(size);
    Some(Phase::new(
        digit.title(radix),
        Sentence::with(
            format!(
                "Every rank tells the rank z · r^k further on. After that it knows of {known} ranks that they have come: itself and the {} before it.",
                known - 1
            ),
            digit.formula(radix),
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
            step(Barrier, "dissemination", &Problem { radix: 2, ..Problem::new(6) }, 2),
            [
                "Communication step k = 2",
                "Every rank tells the rank z · r^k further on. After that it knows of 6 ranks that they have come: itself and the 5 before it. | z · r^k = 1 · 2^2 = 4",
                "Every rank i sends to rank (i − 2) mod 6. | (i − 2) mod 6; rank 3: (3 − 2) mod 6 = 1",
                "A message is a token: only that it comes matters.",
            ]
        );
    }

    #[test]
    fn several_are_told_in_a_round() {
        let problem = Problem { radix: 3, ..Problem::new(9) };
        let second = step(Barrier, "dissemination", &problem, 1);
        assert_eq!(second[0], "Communication step k = 0, z = 2");
        assert!(
            second[1]
                .starts_with("Every rank tells the rank z · r^k further on. After that it knows of 3 ranks")
        );
    }
}
