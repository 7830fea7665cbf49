//! Binary tree in the order of ranks for MPI_Reduce, whole or in segments: one child's subtree holds the ranks just
//! below a rank, the other child's those just above.
//!
//! The root of the reduction is the root of the tree; every other subtree is rooted in its middle. Up to 1 +
//! floor(log2(p − 1)) levels. A subtree of m ranks delivers its result to its parent in round floor(log2(m + 1)) +
//! floor(log2(2(m + 1)/3)). The reduction ends with the later side of the root, or one round later if both sides end
//! together. k segments add 2(k − 1) rounds: a rank reduces a segment while the next one arrives.
//! Keeps the order of operands for every root.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::in_order_tree::Vertex;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "binary_in_order",
    aliases: &["in-order_binary"],
    source: "after Open MPI (in-order_binary), whose tree is rooted at the last rank, so that another root gets \
            the result in a further hop",
    idea: "Vectors are combined up a binary tree: one child has the ranks just below its parent, the other \
            those just above, which keeps the order of operands.",
    avoid_when: "there are no segments, for every second rank combines two vectors one after the other.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let vertex = Vertex::new(rank, size, root);
    let children = vertex.children();
    at_root(problem, tree_reduce(rank, size, segments, contribution(problem, rank), vertex.parent, children))
}
