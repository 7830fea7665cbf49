//! Binary blocks: groups of ranks whose sizes are the powers of two that sum to the number of ranks.

use super::super::numbers::{count, named};
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::arrangements::{RankBlock, rank_blocks};
use rustcoll::trace::Travel;
use std::cmp::Ordering;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let blocks = rank_blocks(scene.size());
    let number = |rank: usize| blocks.iter().rposition(|block| block.start <= rank);
    let (source, target) = (number(travel.source)?, number(travel.target)?);
    let contributors = scene.contributors(travel)?;
    let is_finished = contributors == scene.size();
    let sizes = || {
        let [source, target] = [source, target].map(|number| count(blocks[number].size, "rank"));
        format!("from {source} to {target}")
    };
    Some(match (source.cmp(&target), is_finished) {
        (Ordering::Equal, false) => Phase::new(
            "Halving in each block",
            Sentence::plain(
                "In each block of ranks partners divide what they have: each sends the part that the other goes on with.",
            ),
        ),
        (Ordering::Equal, true) => Phase::new(
            "Doubling in each block",
            Sentence::plain(
                "In each block of ranks partners exchange the finished sections that they have, and then have twice as many.",
            ),
        ),
        (Ordering::Greater, false) => Phase::new(
            "Up to the larger block",
            Sentence::with(
                "What a block of ranks has combined goes to the next larger block, cut as finely as the sections are there.",
                sizes(),
            ),
        ),
        (Ordering::Less, true) => Phase::new(
            "Down to the smaller block",
            Sentence::with("Finished sections go back to the next smaller block of ranks.", sizes()),
        ),
        _ => return None,
    })
}

fn facts(scene: &Scene) -> Vec<String> {
    let blocks = rank_blocks(scene.size());
    let sizes: Vec<String> = blocks.iter().map(|block| block.size.to_string()).collect();
    let ranks =
        |block: &RankBlock| named("rank", &(block.start..block.start + block.size).collect::<Vec<usize>>());
    let ranks: Vec<String> = blocks.iter().map(ranks).collect();
    match &sizes[..] {
        [_] => vec!["All ranks are one block, for their number is a power of two.".into()],
        _ => vec![format!("{} = {}: the blocks are {}.", scene.size(), sizes.join(" + "), ranks.join("; "))],
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step};
    use rustcoll::algorithms::Collective::Allreduce;
    use rustcoll::algorithms::Problem;

    #[test]
    fn thirteen_ranks_are_eight_and_four_and_one() {
        let problem = Problem::new(13);
        assert_eq!(
            of_run(Allreduce, "binary_blocks", &problem),
            ["13 = 8 + 4 + 1: the blocks are ranks 0–7; ranks 8–11; rank 12."]
        );
        assert_eq!(
            of_run(Allreduce, "binary_blocks", &Problem::new(8)),
            ["All ranks are one block, for their number is a power of two."]
        );
        assert_eq!(
            step(Allreduce, "binary_blocks", &problem, 1)[..2],
            [
                "Halving in each block",
                "In each block of ranks partners divide what they have: each sends the part that the other goes on with.",
            ]
        );
        assert_eq!(
            step(Allreduce, "binary_blocks", &problem, 7)[..3],
            [
                "Up to the larger block",
                "8 → 0: What a block of ranks has combined goes to the next larger block, cut as finely as the sections are there. | from 4 ranks to 8 ranks",
                "12 → 9: What a block of ranks has combined goes to the next larger block, cut as finely as the sections are there. | from 1 rank to 4 ranks",
            ]
        );
        assert_eq!(
            step(Allreduce, "binary_blocks", &problem, 9)[0],
            "Up to the larger block; Down to the smaller block"
        );
        assert_eq!(step(Allreduce, "binary_blocks", &problem, 20)[0], "Doubling in each block");
    }
}
