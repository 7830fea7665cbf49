//! Node-aware reduce along a k-nomial tree of nodes, with another on each.
//!
//! Source: MPICH (smp); the k-nomial trees of MPICH and Open MPI.
//! With m nodes of up to q ranks w(k−1) − floor((k^w − m)/k^(w−1)) messages between the nodes, where w = ceil(log_k m), and
//! likewise on them, each of the whole vector: one round between the nodes, if m is the radix.
//! Ranks of a node come before others, so the operator must commute. Loses when: vectors are long, for the root receives
//! the vector from several nodes; each rank has a node of its own, or all share one.

use super::{at_root, contribution};
use crate::algorithms::digits::with_one_nonzero_digit;
use crate::algorithms::phases::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::phases::placement::Placement;
use crate::algorithms::phases::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    name: "node_aware_knomial",
    aliases: &[],
    source: "MPICH",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages { schedule, cost },
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::new(problem);
    // Those of its own node are ready first, and the ones with small subtrees.
    let (parent, children) = neighbors(&placement, Leaders::Knomial(problem.radix), problem.radix, rank);
    let (contribution, children) = (contribution(problem, rank), children.into_iter().rev());
    at_root(problem, tree_reduce(rank, problem.size, 1, contribution, parent, children))
}

fn cost(problem: &Problem) -> Cost {
    let placement = Placement::new(problem);
    let sent = |ranks| with_one_nonzero_digit(ranks, problem.radix);
    let messages = sent(placement.nodes()) + sent(placement.most_members());
    Cost::of_rounds(messages, messages, messages)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn one_partial_result_leaves_each_other_node() {
        let problem = Problem { root: 7, nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
        let crossing = |rank: usize| {
            let is_outside = |peer: u32| peer as usize % 3 != rank % 3;
            let steps = schedule(&problem, rank).steps.into_iter();
            steps.filter(|step| matches!(step, Step::Send { peer, .. } if is_outside(*peer))).count()
        };
        // The root is on node 1; ranks 0 and 2 lead the others.
        assert_eq!((0..10).map(crossing).collect::<Vec<_>>(), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
