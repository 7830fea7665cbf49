//! Complete binary tree for MPI_Bcast: every rank passes segment after segment on to two others.
//!
//! With k segments a rank sends each segment twice. The first segment reaches the last rank in
//! max(2(l − 1), l + floor(log2(p + 1 − 2^l))) rounds with l = floor(log2 p). Then there are 2(k − 1) rounds of one segment.

use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "binary",
    aliases: &["binary_tree"],
    source: "Open MPI's binary tree",
    idea: "Every rank passes segment after segment on to its two children in a binary tree.",
    avoid_when: "vectors are short, or so long that sending everything twice counts.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let rank = problem.relative(rank);
    let parent = rank.checked_sub(1).map(|before| before / 2);
    let children = [2 * rank + 1, 2 * rank + 2].into_iter().filter(|&child| child < size);
    tree_broadcast(rank, size, segments, parent, children).relabel(root)
}
