//! Node-aware broadcast along a chain of nodes, with a binomial tree on each, whole or in segments.
//!
//! Source: MPICH (smp); Open MPI's chain.
//! With m nodes of up to q ranks and s segments s(1 + ceil(log2 q)) + m − 2 rounds of one segment; the vector enters and
//! leaves a node once.
//! Loses when: vectors are short or nodes are many, for the last node waits for all others.

use crate::algorithms::phases::node_aware_tree::{Leaders, neighbors};
use crate::algorithms::phases::placement::Placement;
use crate::algorithms::phases::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "node_aware_chain",
    aliases: &[],
    source: "MPICH",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Nodes],
    body: Body::Messages { schedule, cost },
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::new(problem);
    let (parent, children) = neighbors(&placement, Leaders::Chain, 2, rank);
    tree_broadcast(rank, problem.size, problem.segments, parent, children)
}

fn cost(problem: &Problem) -> Cost {
    let placement = Placement::new(problem);
    let (nodes, height) = (placement.nodes(), placement.height());
    let messages = problem.segments * (height + usize::from(nodes > 1));
    Cost { rounds: messages + nodes.saturating_sub(2), ..Cost::of_rounds(messages, messages, 0) }
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
