//! Node-aware broadcast along a chain of nodes, with a binomial tree on each, whole or in segments.
//!
//! With m nodes of up to q ranks and s segments: s(1 + ceil(log2 q)) + m − 2 rounds of one segment. The vector enters
//! and leaves a node once.

use crate::algorithms::building_blocks::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "node_aware_chain",
    aliases: &[],
    source: "MPICH (smp); Open MPI's chain",
    idea: "Segments of the vector go from node to node along a chain, and down a binomial tree on each of them.",
    avoid_when: "vectors are short or nodes many, for the last node waits for all others.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let (parent, children) = neighbors(&placement, Leaders::Chain, 2, rank);
    tree_broadcast(rank, problem.size, problem.segments, parent, children)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::building_blocks::node_aware_tree::crossing;

    #[test]
    fn the_vector_enters_each_other_node_once() {
        let (receivers, _) = crossing(schedule);
        assert_eq!(receivers, [0, 2]);
    }
}
