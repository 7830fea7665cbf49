//! Node-aware reduce along a k-nomial tree of nodes, with another on each.
//!
//! With m nodes of up to q ranks the root receives w(k−1) − floor((k^w − m)/k^(w−1)) messages from other nodes,
//! where w = ceil(log_k m). The same formula with q for m counts the messages that it receives on its node. Each
//! message has the whole vector. If k ≥ m, there is one round between the nodes.
//! Ranks of a node are combined first, so the operator must commute.

use super::{at_root, contribution};

use crate::algorithms::building_blocks::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "node_aware_knomial",
    aliases: &[],
    source: "MPICH (smp); the k-nomial trees of MPICH and Open MPI",
    idea: "Vectors are combined up a k-nomial tree on each node, and then up another one of nodes.",
    avoid_when: "vectors are long, for the root receives them several times.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    // Children on the own node are ready first, and among them those with small subtrees.
    let (parent, children) = neighbors(&placement, Leaders::Knomial(problem.radix), problem.radix, rank);
    let (contribution, children) = (contribution(problem, rank), children.into_iter().rev());
    at_root(problem, tree_reduce(rank, problem.size, 1, contribution, parent, children))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::building_blocks::node_aware_tree::crossing;

    #[test]
    fn one_partial_result_leaves_each_other_node() {
        let (_, senders) = crossing(schedule);
        assert_eq!(senders, [0, 2]);
    }
}
