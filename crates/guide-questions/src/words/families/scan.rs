//! Scans in which the reach of a rank doubles.

use super::super::numbers::counts;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let distance = travel.target.checked_sub(travel.source)?;
    if !distance.is_power_of_two() {
        return None;
    }
    let is_last = |travel: &Travel| {
        let brought = scene.brought(travel);
        brought.iter().all(|&value| scene.trace.values.contributors(value).last() == Some(&travel.source))
    };
    if !is_last(travel) {
        return None;
    }
    let combined: Option<Vec<usize>> =
        scene.travels().iter().map(|travel| scene.contributors(travel)).collect();
    let ranks = counts(&combined?, "rank");
    let text =
        format!("Ranks send what is combined of {ranks} up to themselves to the rank {distance} further on.");
    Some(Phase::new(format!("Distance {distance}"), Sentence::plain(text)))
}

#[cfg(test)]
mod tests {
    use super::super::testing::step;
    use rustcoll::algorithms::Collective::Scan;
    use rustcoll::algorithms::Problem;

    #[test]
    fn the_reach_doubles() {
        assert_eq!(
            step(Scan, "recursive_doubling", &Problem::new(5), 3),
            [
                "Distance 2",
                "Ranks send what is combined of 1 to 2 ranks up to themselves to the rank 2 further on.",
                "Ranks i = 0–2 send to rank i + 2. | i + 2; rank 2: 2 + 2 = 4",
                "Each message has 1 block; rank 2 sends block 0 of its receive buffer. | block 0 of 1 ⊕ 2",
            ]
        );
    }
}
