//! Node-aware reduce along a chain of nodes, with a binomial tree on each, whole or in segments.
//!
//! With m nodes of up to q ranks and s segments: s(1 + ceil(log2 q)) + m − 2 rounds of one segment. The
//! vector enters and leaves a node once.
//! Ranks of a node are combined first, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "node_aware_chain",
    aliases: &[],
    source: "MPICH (smp); Open MPI's chain",
    idea: "Segments are combined up a binomial tree on each node and then from node to node along a chain.",
    avoid_when: "vectors are short or nodes many, for the root waits for all others.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    // Children on the own node are ready first, and among them those with small subtrees.
    let (parent, children) = neighbors(&placement, Leaders::Chain, 2, rank);
    let (contribution, children) = (contribution(problem, rank), children.into_iter().rev());
    at_root(problem, tree_reduce(rank, problem.size, problem.segments, contribution, parent, children))
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
