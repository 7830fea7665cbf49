//! k-nomial tree for MPI_Bcast: the binomial tree generalised to radix k.
//!
//! w = ceil(log_k p) rounds. In each the root sends up to k − 1 vectors, w(k−1) − floor((k^w − p)/k^(w−1)) in all; no
//! rank is later than the root. A larger k makes the tree flatter, but the root sends more messages.

use crate::algorithms::building_blocks::knomial_tree::{children, parent};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "knomial",
    aliases: &[],
    source: "the k-nomial trees of MPICH and Open MPI",
    idea: "A tree in which every rank has up to k − 1 children in a round: fewer rounds than with a binomial \
            tree, but more messages for the root.",
    avoid_when: "vectors are long.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, radix, .. } = *problem;
    let rank = problem.relative(rank);
    tree_broadcast(rank, size, 1, parent(rank, radix), children(rank, size, radix)).relabel(root)
}
