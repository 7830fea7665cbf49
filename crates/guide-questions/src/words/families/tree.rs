//! Trees: messages go up to the root, or down from it.

use super::super::numbers::{in_base, named};
use super::super::scene::{Scene, blocks};
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::{self, *};
use rustcoll::algorithms::Parameter;
use rustcoll::algorithms::arrangements::parent;
use rustcoll::trace::Travel;

pub const FAMILY: Family = Family { phase, whole: segments, facts, ..Family::NONE };

/// The direction of a message in a tree.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    Up,
    Down,
}

/// The tree of an algorithm.
#[derive(Clone, Copy)]
enum Tree {
    /// The k-nomial tree.
    Digits(usize),
    /// The binary tree whose levels are filled in order.
    Complete,
}

impl Tree {
    fn of(scene: &Scene) -> Tree {
        let algorithm = scene.subjects.algorithm;
        let takes_radix = algorithm.is_some_and(|algorithm| algorithm.parameters.contains(&Parameter::Radix));
        match takes_radix {
            true => Tree::Digits(scene.problem().radix),
            false if algorithm.is_some_and(|algorithm| algorithm.name == "binary") => Tree::Complete,
            false => Tree::Digits(2),
        }
    }

    fn parent(self, rank: usize) -> Option<usize> {
        match self {
            Tree::Digits(radix) => parent(rank, radix),
            Tree::Complete => rank.checked_sub(1).map(|before| before / 2),
        }
    }

    /// Returns the calculation of a rank's parent.
    fn formula(self, rank: usize, parent: usize) -> String {
        match self {
            Tree::Digits(radix) => {
                format!("r = {rank} = {}: parent {} = {parent}", in_base(rank, radix), in_base(parent, radix))
            }
            Tree::Complete => format!("r = {rank}: parent ⌊({rank} − 1) / 2⌋ = {parent}"),
        }
    }

    fn rule(self) -> String {
        match self {
            Tree::Digits(2) => "A rank's parent lacks its last 1 in base 2.".into(),
            Tree::Digits(radix) => {
                format!("A rank's parent lacks its last digit that is not 0 in base {radix}.")
            }
            Tree::Complete => "Rank r has the children 2r + 1 and 2r + 2.".into(),
        }
    }
}

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let tree = Tree::of(scene);
    let way = way(scene, tree, travel)?;
    let (title, text) = meaning(scene, way);
    let child = |travel: &Travel| scene.relative(if way == Way::Up { travel.source } else { travel.target });
    let of_this_way = scene.travels().iter().filter(|travel| self::way(scene, tree, travel) == Some(way));
    let sample = of_this_way.map(child).max()?;
    let counted = match scene.root() {
        0 => String::new(),
        root => format!("counted from the root, r = (i − {root}) mod {}; ", scene.size()),
    };
    let formula = format!("{counted}{}", tree.formula(sample, tree.parent(sample)?));
    Some(Phase::new(title, Sentence::with(text, formula)))
}

fn way(scene: &Scene, tree: Tree, travel: &Travel) -> Option<Way> {
    let (source, target) = (scene.relative(travel.source), scene.relative(travel.target));
    if tree.parent(target) == Some(source) {
        return Some(Way::Down);
    }
    (tree.parent(source) == Some(target)).then_some(Way::Up)
}

fn meaning(scene: &Scene, way: Way) -> (&'static str, &'static str) {
    let collective: Collective = scene.collective();
    match (way, collective) {
        (Way::Up, Barrier) => ("Up the tree", "Ranks whose subtrees have come tell their parents."),
        (Way::Down, Barrier) => ("Down the tree", "Parents tell their children that all have come."),
        (Way::Up, Gather | Gatherv | Allgather | Allgatherv) => {
            ("Gather up the tree", "Ranks send the blocks of their subtrees to their parents.")
        }
        (Way::Up, _) => {
            ("Reduce up the tree", "Ranks send what their subtrees have combined to their parents.")
        }
        (Way::Down, Scatter | Scatterv | ReduceScatter | ReduceScatterBlock) => {
            ("Scatter down the tree", "Parents send their children the blocks of the child's subtree.")
        }
        (Way::Down, _) => ("Broadcast down the tree", "Parents send what they have got to their children."),
    }
}

/// Says which segments are in flight, if the vector has several.
fn segments(scene: &Scene) -> Vec<Sentence> {
    let count = scene.problem().segments;
    let cuts = scene.subjects.algorithm.is_some_and(|algorithm| algorithm.cuts_segments());
    if count < 2 || scene.blocks() != count || !cuts {
        return Vec::new();
    }
    let mut numbers: Vec<usize> = scene
        .travels()
        .iter()
        .flat_map(|travel| blocks(&travel.from))
        .map(|(_, block)| block % count)
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    vec![Sentence::plain(format!("Under way: {} of 0–{}.", named("segment", &numbers), count - 1))]
}

fn facts(scene: &Scene) -> Vec<String> {
    vec![Tree::of(scene).rule()]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step};
    use rustcoll::algorithms::Collective::*;
    use rustcoll::algorithms::Problem;

    #[test]
    fn a_broadcast_goes_down() {
        assert_eq!(
            step(Bcast, "binomial", &Problem::new(8), 2),
            [
                "Broadcast down the tree",
                "Parents send what they have got to their children. | r = 7 = 111₂: parent 110₂ = 6",
                "Ranks i = 0, 2, 4, 6 send to rank i + 1. | i + 1; rank 2: 2 + 1 = 3",
                "Each message has 1 block; rank 2 sends block 0 of its receive buffer. | block 0 of rank 0",
            ]
        );
        assert_eq!(
            of_run(Bcast, "binomial", &Problem::new(8)),
            ["A rank's parent lacks its last 1 in base 2."]
        );
    }

    #[test]
    fn ranks_are_counted_from_the_root() {
        let problem = Problem { root: 2, segments: 2, ..Problem::new(6) };
        assert_eq!(
            step(Bcast, "binomial", &problem, 2)[..4],
            [
                "Broadcast down the tree",
                "Parents send what they have got to their children. | counted from the root, r = (i − 2) mod 6; r = 3 = 11₂: parent 10₂ = 2",
                "Under way: segment 0 of 0–1.",
                "Counted from the root, ranks 0, 2 send to r + 1. | r = (i − 2) mod 6; rank 2: r = 0, sends to r = 1, which is rank 3",
            ]
        );
    }

    #[test]
    fn other_trees_and_collectives() {
        let knomial = Problem { radix: 3, ..Problem::new(9) };
        assert_eq!(
            step(Reduce, "knomial", &knomial, 0)[..2],
            [
                "Reduce up the tree",
                "Ranks send what their subtrees have combined to their parents. | r = 8 = 22₃: parent 20₃ = 6"
            ]
        );
        let first = |collective, name| step(collective, name, &Problem::new(6), 0);
        assert_eq!(
            first(Bcast, "binary")[1],
            "Parents send what they have got to their children. | r = 1: parent ⌊(1 − 1) / 2⌋ = 0"
        );
        assert_eq!(first(Barrier, "tree")[0], "Up the tree");
        assert_eq!(first(Allreduce, "reduce_bcast")[0], "Reduce up the tree");
        assert_eq!(first(Scatter, "binomial")[0], "Scatter down the tree");
    }
}
