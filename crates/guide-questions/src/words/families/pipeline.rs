//! Pipelines: segments follow one behind the other.

use super::super::numbers::count;
use super::super::pattern::with_others;
use super::super::scene::{Scene, blocks};
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::{Bcast, Exscan, Reduce, Scan};
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let segment = segment(scene, travel)?;
    let is_chain = scene.subjects.algorithm?.name == "chain";
    let text = match (is_chain, scene.collective()) {
        (true, Bcast) if is_on_time(scene, travel, segment) => {
            "Every rank passes on to the next the segment that it has just got; the root sends the next one."
        }
        (true, Reduce) if is_on_time(scene, travel, segment) => {
            "Every rank adds its part to a segment that has just come and passes it on towards the root."
        }
        (true, Scan | Exscan) if is_on_time(scene, travel, segment) => {
            "Every rank adds its part to a segment that has just come and passes the sum of all up to itself on."
        }
        (false, Bcast) => {
            "Ranks send a segment that they have and the receiver has not, along a skip of the graph."
        }
        (false, Reduce) => {
            "Ranks send on a segment, with what has been added to it, along a skip of the graph."
        }
        _ => return None,
    };
    let carries =
        |travel: &Travel| Some(format!("rank {} segment {}", travel.source, self::segment(scene, travel)?));
    let mut travels: Vec<&Travel> = scene.travels().iter().collect();
    travels.sort_by_key(|travel| travel.source);
    let carried: Option<Vec<String>> = travels.into_iter().map(carries).collect();
    Some(Phase {
        title: None,
        sentences: vec![
            Sentence::plain(text),
            Sentence::plain(format!("Now send: {}.", with_others(carried?))),
        ],
        blocks: None,
    })
}

/// Returns the segment that a message carries; none if it carries several blocks.
fn segment(scene: &Scene, travel: &Travel) -> Option<usize> {
    let mut numbers = blocks(&travel.from).map(|(_, block)| block % scene.blocks());
    match (numbers.next(), numbers.next()) {
        (Some(segment), None) => Some(segment),
        _ => None,
    }
}

/// Whether a segment is where a chain has it in this round: one rank further in every round.
fn is_on_time(scene: &Scene, travel: &Travel, segment: usize) -> bool {
    let source = scene.relative(travel.source);
    let hops = if scene.collective() == Reduce { scene.size() - 1 - source } else { source };
    hops + segment == scene.round()
}

fn facts(scene: &Scene) -> Vec<String> {
    let (size, segments) = (scene.size(), scene.problem().segments);
    let is_chain = scene.subjects.algorithm.is_some_and(|algorithm| algorithm.name == "chain");
    let chain = || {
        format!(
            "The last of k = {} is there after k + p − 2 = {segments} + {size} − 2 = {}.",
            count(segments, "segment"),
            count(segments + size - 2, "round")
        )
    };
    if is_chain && size > 1 { vec![chain()] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step};
    use rustcoll::algorithms::Collective::{Bcast, Reduce, Scan};
    use rustcoll::algorithms::Problem;

    #[test]
    fn segments_follow_each_other_down_a_chain() {
        let problem = Problem { segments: 3, ..Problem::new(4) };
        assert_eq!(
            step(Bcast, "chain", &problem, 2),
            [
                "Communication step 2",
                "Every rank passes on to the next the segment that it has just got; the root sends the next one.",
                "Now send: rank 0 segment 2, rank 1 segment 1, rank 2 segment 0.",
                "Ranks i = 0–2 send to rank i + 1. | i + 1; rank 2: 2 + 1 = 3",
                "Each message has 1 block; rank 2 sends block 0 of its receive buffer. | block 0 of rank 0",
            ]
        );
        assert_eq!(
            of_run(Bcast, "chain", &problem),
            ["The last of k = 3 segments is there after k + p − 2 = 3 + 4 − 2 = 5 rounds."]
        );
        assert_eq!(
            step(Reduce, "chain", &problem, 2)[1..3],
            [
                "Every rank adds its part to a segment that has just come and passes it on towards the root.",
                "Now send: rank 2 segment 0, rank 3 segment 1."
            ]
        );
        assert_eq!(
            step(Scan, "chain", &problem, 3)[1..3],
            [
                "Every rank adds its part to a segment that has just come and passes the sum of all up to itself on.",
                "Now send: rank 0 segment 1, rank 1 segment 0."
            ]
        );
    }

    #[test]
    fn the_circulant_graph_has_several_skips() {
        let problem = Problem { segments: 3, ..Problem::new(6) };
        assert_eq!(
            step(Bcast, "circulant_pipelined", &problem, 1)[1..3],
            [
                "Ranks send a segment that they have and the receiver has not, along a skip of the graph.",
                "Now send: rank 0 segment 1, rank 2 segment 0."
            ]
        );
    }
}
