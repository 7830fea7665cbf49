//! Broadcasts of two phases: the root scatters the vector, then the ranks collect its blocks.

use super::super::numbers::{count, in_base, listed, named};
use super::super::pattern::distance;
use super::super::scene::{Scene, blocks};
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::arrangements::{parent, subtree};
use rustcoll::trace::Travel;
use std::collections::BTreeMap;
use std::ops::Range;

pub const FAMILY: Family = Family { phase, whole, facts, ..Family::NONE };

const DOUBLING: &str = "scatter_recursive_doubling_allgather";
const OPENED: &str = "scatter_ring_allgather_opt";

fn is_named(scene: &Scene, name: &str) -> bool {
    scene.subjects.algorithm.is_some_and(|algorithm| algorithm.name == name)
}

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    if is_of_scatter(scene, travel) {
        return Some(scatter(scene));
    }
    if is_named(scene, DOUBLING) {
        return doubling(scene, travel);
    }
    ring(scene, travel)
}

/// Whether a message is of the scatter: the first that its target gets, from the target's parent.
fn is_of_scatter(scene: &Scene, travel: &Travel) -> bool {
    let (source, target) = (scene.relative(travel.source), scene.relative(travel.target));
    let is_first = !scene.earlier().flatten().any(|earlier| earlier.target == travel.target);
    is_first && target < scattered_to(scene) && parent(target, 2) == Some(source)
}

/// Returns how many ranks, counted from the root, take part in the scatter.
fn scattered_to(scene: &Scene) -> usize {
    if is_named(scene, DOUBLING) { 1 << scene.size().ilog2() } else { scene.size() }
}

fn scatter(scene: &Scene) -> Phase {
    let children = scene.travels().iter().filter(|travel| is_of_scatter(scene, travel));
    let sample = children.map(|travel| scene.relative(travel.target)).max().unwrap_or(1);
    let of = subtree(sample, scattered_to(scene), 2);
    let counted = match scene.root() {
        0 => String::new(),
        root => format!("counted from the root, r = (i − {root}) mod {}; ", scene.size()),
    };
    let own: Vec<usize> = of.clone().collect();
    Phase::new(
        "Scatter",
        Sentence::with(
            "Parents of a binomial tree send each child the blocks of its subtree.",
            format!("{counted}r = {sample} = {}: its subtree is {}", in_base(sample, 2), listed(&own)),
        ),
    )
}

fn doubling(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let (source, target) = (scene.relative(travel.source), scene.relative(travel.target));
    let participants = scattered_to(scene);
    if target >= participants {
        let text = format!(
            "{} is no power of two: the ranks beyond {participants} get the whole vector from one of the others.",
            scene.size()
        );
        return Some(Phase::new("Whole vectors", Sentence::plain(text)));
    }
    let distance = source ^ target;
    distance.is_power_of_two().then(|| {
        let text = format!(
            "Partners exchange all blocks that they have collected, and then have those of {} ranks.",
            2 * distance
        );
        Phase::new(
            format!("Doubling, distance {distance}"),
            Sentence::with(text, format!("partner = r XOR {distance}")),
        )
    })
}

/// In step s of the ring, rank r sends block r − s.
fn ring(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let size = scene.size();
    if distance(size, travel) != 1 {
        return None;
    }
    let step = ring_step(scene, travel)?;
    let sample = of_ring(scene)
        .filter(|travel| ring_step(scene, travel) == Some(step))
        .map(|travel| scene.relative(travel.source))
        .max()?;
    let block = (sample + size - step) % size;
    let sentence = match step {
        0 => Sentence::with(
            "Ranks send the block of their own number to the next rank.",
            format!("block r; r = {sample}: block {block}"),
        ),
        _ => Sentence::with(
            "Ranks pass on to the next rank the block that follows in the ring.",
            format!("block (r − {step}) mod {size}; r = {sample}: block {block}"),
        ),
    };
    Some(Phase::new(format!("Ring, step {} of {}", step + 1, size - 1), sentence))
}

fn whole(scene: &Scene) -> Vec<Sentence> {
    let mut steps: Vec<usize> = of_ring(scene).filter_map(|travel| ring_step(scene, travel)).collect();
    if steps.is_empty() || !is_named(scene, OPENED) {
        return Vec::new();
    }
    steps.sort_unstable();
    steps.dedup();
    spared(scene, &steps).into_iter().chain([so_far(scene)]).collect()
}

fn ring_step(scene: &Scene, travel: &Travel) -> Option<usize> {
    let size = scene.size();
    let mut numbers = blocks(&travel.from).map(|(_, block)| block);
    match (numbers.next(), numbers.next()) {
        (Some(block), None) if block < size => Some((scene.relative(travel.source) + size - block) % size),
        _ => None,
    }
}

/// Says which ranks get nothing, because they have the block of this step of the ring since the scatter.
fn spared(scene: &Scene, steps: &[usize]) -> Option<Sentence> {
    let size = scene.size();
    let whose = |rank: usize| (rank + scene.root()) % size;
    let gets_nothing =
        |rank: &usize| scene.travels().iter().all(|travel| scene.relative(travel.target) != *rank);
    let of_step = |&step: &usize| {
        spared_ranks(size, step).into_iter().filter(gets_nothing).map(move |rank| (rank, step))
    };
    let spared: BTreeMap<usize, usize> = steps.iter().flat_map(of_step).collect();
    let Some((&sample, &step)) = spared.iter().find(|(rank, _)| **rank > 0) else {
        let root = format!("Nothing is sent to rank {}, the root, which has all blocks.", whose(0));
        return spared.contains_key(&0).then(|| Sentence::plain(root));
    };
    let ranks: Vec<usize> = spared.keys().copied().map(whose).collect();
    let own: Vec<usize> = subtree(sample, size, 2).collect();
    Some(Sentence::with(
        format!(
            "Nothing is sent to {}: they have had these blocks since the scatter.",
            named("rank", &ranks)
        ),
        format!(
            "r = {sample} has {} and would get block {}",
            named("block", &own),
            coming(sample, size, step)
        ),
    ))
}

/// Returns the block that a rank would get in a step of a closed ring.
fn coming(rank: usize, size: usize, step: usize) -> usize {
    (rank + 2 * size - 1 - step) % size
}

/// Returns the ranks, counted from the root, that have the block of this step since the scatter.
fn spared_ranks(size: usize, step: usize) -> Vec<usize> {
    (0..size).filter(|&rank| subtree(rank, size, 2).contains(&coming(rank, size, step))).collect()
}

/// Returns the messages of the ring, without those of the scatter.
fn of_ring<'a>(scene: &'a Scene) -> impl Iterator<Item = &'a Travel> {
    scene.travels().iter().filter(|travel| !is_of_scatter(scene, travel))
}

/// Returns how many messages the ring has in these steps.
fn ring_messages(scene: &Scene, steps: Range<usize>) -> usize {
    steps.map(|step| of_ring(&Scene { step, ..*scene }).count()).sum()
}

fn so_far(scene: &Scene) -> Sentence {
    let (size, sent) = (scene.size(), ring_messages(scene, 0..scene.step + 1));
    let all = ring_messages(scene, 0..scene.trace.steps.len());
    Sentence::plain(format!(
        "So far the ring has sent {sent} of its {}; a closed ring has p(p − 1) = {}.",
        count(all, "message"),
        size * (size - 1)
    ))
}

fn facts(scene: &Scene) -> Vec<String> {
    let size = scene.size();
    let closed = size * (size - 1);
    if is_named(scene, DOUBLING) {
        return Vec::new();
    }
    let scattered = format!("The scatter has p − 1 = {}.", count(size - 1, "message"));
    let ring = match is_named(scene, OPENED) {
        false => format!("The closed ring has p(p − 1) = {closed} messages."),
        true => {
            let sent = ring_messages(scene, 0..scene.trace.steps.len());
            let remaining = if sent == 1 { "one remains".into() } else { format!("{sent} remain") };
            format!(
                "Of the p(p − 1) = {closed} messages of a closed ring {remaining}: {} would bring a rank blocks that it got in the scatter.",
                closed - sent
            )
        }
    };
    vec![scattered, ring]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step};
    use super::spared_ranks;
    use rustcoll::algorithms::Collective::Bcast;
    use rustcoll::algorithms::Problem;

    #[test]
    fn the_opened_ring_saves_messages() {
        let name = "scatter_ring_allgather_opt";
        assert_eq!(
            of_run(Bcast, name, &Problem::new(10)),
            [
                "The scatter has p − 1 = 9 messages.",
                "Of the p(p − 1) = 90 messages of a closed ring 75 remain: 15 would bring a rank blocks that it got in the scatter."
            ]
        );
        assert_eq!(
            of_run(Bcast, name, &Problem::new(8))[1],
            "Of the p(p − 1) = 56 messages of a closed ring 44 remain: 12 would bring a rank blocks that it got in the scatter."
        );
        assert_eq!(
            step(Bcast, name, &Problem::new(10), 10),
            [
                "Ring, step 7 of 9",
                "Ranks pass on to the next rank the block that follows in the ring. | block (r − 6) mod 10; r = 8: block 2",
                "Nothing is sent to ranks 0, 4: they have had these blocks since the scatter. | r = 4 has blocks 4–7 and would get block 7",
                "So far the ring has sent 62 of its 75 messages; a closed ring has p(p − 1) = 90.",
                "Ranks i = 0–2, 4–8 send to rank i + 1. | i + 1; rank 2: 2 + 1 = 3",
                "Each message has 1 block; rank 2 sends block 6 of its receive buffer. | block 6 of rank 0",
            ]
        );
    }

    #[test]
    fn what_is_told_to_be_spared_is() {
        for (size, remain) in [(8, 44), (10, 75)] {
            let spared: usize = (0..size - 1).map(|step| spared_ranks(size, step).len()).sum();
            assert_eq!(size * (size - 1) - spared, remain);
        }
    }

    #[test]
    fn of_two_steps_of_the_ring_at_once_the_total_is_said_once() {
        let problem = Problem { root: 1, ..Problem::new(12) };
        assert_eq!(
            step(Bcast, "scatter_ring_allgather_opt", &problem, 5)[..5],
            [
                "Ring, step 3 of 11; Ring, step 2 of 11",
                "11 → 0: Ranks pass on to the next rank the block that follows in the ring. | block (r − 2) mod 12; r = 10: block 8",
                "1 → 2, 2 → 3, 3 → 4, 4 → 5 and 5 others: Ranks pass on to the next rank the block that follows in the ring. | block (r − 1) mod 12; r = 8: block 7",
                "Nothing is sent to rank 1, the root, which has all blocks.",
                "So far the ring has sent 23 of its 112 messages; a closed ring has p(p − 1) = 132.",
            ]
        );
    }

    #[test]
    fn the_scatter_is_told_apart_from_the_ring() {
        assert_eq!(
            step(Bcast, "scatter_ring_allgather_opt", &Problem::new(10), 2)[..3],
            [
                "Scatter; Ring, step 1 of 9",
                "0 → 2, 4 → 6: Parents of a binomial tree send each child the blocks of its subtree. | r = 6 = 110₂: its subtree is 6, 7",
                "8 → 9: Ranks send the block of their own number to the next rank. | block r; r = 8: block 8",
            ]
        );
        let problem = Problem { root: 3, ..Problem::new(4) };
        assert_eq!(
            step(Bcast, "scatter_recursive_doubling_allgather", &problem, 0)[1],
            "Parents of a binomial tree send each child the blocks of its subtree. | counted from the root, r = (i − 3) mod 4; r = 2 = 10₂: its subtree is 2, 3"
        );
        assert_eq!(
            step(Bcast, "scatter_recursive_doubling_allgather", &Problem::new(6), 4)[0],
            "Whole vectors"
        );
    }
}
