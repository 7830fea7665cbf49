//! K-nomial tree for MPI_Reduce.
//!
//! The tree of radix 2 is the binomial tree. There are w = ceil(log_k p) levels of up to k − 1 children; each
//! child sends the whole vector. The root receives and reduces w(k−1) − floor((k^w − p)/k^(w−1)) vectors, one
//! after the other. Ranks are counted from the root, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::knomial_tree::{nearest_first, parent};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "knomial",
    aliases: &[],
    source: "Open MPI (knomial); MPICH",
    idea: "Vectors are combined up a tree in which every rank has up to k − 1 children in a round.",
    avoid_when: "vectors are long.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, root, .. } = *problem;
    let relative = problem.relative(rank);
    let children = nearest_first(relative, size, radix);
    let parent = parent(relative, radix);
    let program = tree_reduce(relative, size, 1, contribution(problem, rank), parent, children);
    at_root(problem, program.relabel(root))
}
