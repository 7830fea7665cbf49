//! Node-aware broadcast along a k-nomial tree of nodes, with another on each.
//!
//! Source: MPICH (smp); the k-nomial trees of MPICH and Open MPI.
//! With m nodes of up to q ranks w(k−1) − floor((k^w − m)/k^(w−1)) messages between the nodes, where w = ceil(log_k m), and
//! likewise on them, each of the whole vector: one round between the nodes, if m is the radix.
//! Loses when: vectors are long, for the root sends the vector to several nodes; each rank has a node of
//! its own, or all share one.

use crate::algorithms::digits::with_one_nonzero_digit;
use crate::algorithms::phases::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::phases::placement::Placement;
use crate::algorithms::phases::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "node_aware_knomial",
    aliases: &[],
    source: "MPICH",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes],
    body: Body::Messages { schedule, cost },
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::new(problem);
    let (parent, children) = neighbors(&placement, Leaders::Knomial(problem.radix), problem.radix, rank);
    tree_broadcast(rank, problem.size, 1, parent, children)
}

fn cost(problem: &Problem) -> Cost {
    let placement = Placement::new(problem);
    let sent = |ranks| with_one_nonzero_digit(ranks, problem.radix);
    let messages = sent(placement.nodes()) + sent(placement.most_members());
    Cost::of_rounds(messages, messages, 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn the_vector_enters_each_other_node_once() {
        let problem = Problem { root: 7, nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
        let crossing = |rank: usize| {
            let is_outside = |peer: u32| peer as usize % 3 != rank % 3;
            let steps = schedule(&problem, rank).steps.into_iter();
            steps.filter(|step| matches!(step, Step::Receive { peer, .. } if is_outside(*peer))).count()
        };
        // The root is on node 1; ranks 0 and 2 lead the others.
        assert_eq!((0..10).map(crossing).collect::<Vec<_>>(), [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
