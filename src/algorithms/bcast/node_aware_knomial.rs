//! Node-aware broadcast along a k-nomial tree of nodes, with another k-nomial tree on each node.
//!
//! With m nodes of up to q ranks the root sends w(k−1) − floor((k^w − m)/k^(w−1)) messages to other nodes, where
//! w = ceil(log_k m). The same formula with q for m counts the messages that it sends on its node. Each message has the
//! whole vector. If k ≥ m, there is one round between the nodes.

use crate::algorithms::building_blocks::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "node_aware_knomial",
    aliases: &[],
    source: "MPICH (smp); the k-nomial trees of MPICH and Open MPI",
    idea: "The vector goes down a k-nomial tree of nodes, and on each node down another one.",
    avoid_when: "vectors are long, for the root sends them several times.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let (parent, children) = neighbors(&placement, Leaders::Knomial(problem.radix), problem.radix, rank);
    tree_broadcast(rank, problem.size, 1, parent, children)
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
