//! Node-aware broadcast: first on the root's node, then between the nodes, then on the other nodes.
//!
//! The root leads its node, and the lowest rank leads any other node. On a node the whole vector travels along a
//! binomial tree. Between m leaders it travels by a scatter and an opened ring, so it enters and leaves a node about
//! once: 2n(m−1)/m bytes. All leaders finish at the same time. So there are the rounds on the root's node, m − 1 +
//! ceil(log2 m) rounds between the nodes, and the rounds on the largest other node.

use crate::algorithms::building_blocks::binomial_tree::{children, parent, scatter, subtree};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::ring_allgather::ring_allgather;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "node_aware",
    aliases: &[],
    source: "MPICH (smp), for medium vectors; between the nodes as in `scatter_ring_allgather_opt`",
    idea: "The vector is spread over the node of the root, between the nodes, and over the other nodes, so that \
            it enters each node about once.",
    avoid_when: "vectors are short, or each rank has a node of its own, or all share one.",
    parameters: &[],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let (nodes, population) = (placement.nodes(), placement.population(node));
    let within = tree_broadcast(local, population, 1, parent(local), children(local, population))
        .refine(nodes, |vector| vector * nodes);
    let within = placement.within(node, within);
    if local > 0 {
        return within;
    }
    let between = scatter(node, nodes).then(ring_allgather(node, nodes, |node| subtree(node, nodes).len()));
    let between = placement.between(between);
    if node == 0 { within.then(between) } else { between.then(within) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    /// Three nodes of 3, 2 and 3 ranks; rank 6 is the root.
    fn problem() -> Problem {
        Problem { root: 6, nodes: [4, 7, 4, 4, 7, 9, 9, 9].into(), ..Problem::new(8) }
    }

    #[test]
    fn the_vector_enters_each_node_once() {
        let problem = problem();
        let node = |rank: usize| problem.nodes.of(rank);
        for receiver in [0, 1] {
            let outside = |peer: u32| node(peer as usize) != node(receiver);
            let steps = schedule(&problem, receiver).steps;
            let blocks = steps.iter().filter_map(|step| match step {
                Step::Receive { peer, message, .. } if outside(*peer) => Some(message.blocks()),
                _ => None,
            });
            assert_eq!(blocks.sum::<usize>(), 3);
        }
        for other in [2, 3, 4, 5, 7] {
            let steps = schedule(&problem, other).steps;
            assert!(steps.iter().all(|step| match step {
                Step::Send { peer, .. } | Step::Receive { peer, .. } => node(*peer as usize) == node(other),
                _ => true,
            }));
        }
    }

    #[test]
    fn is_binomial_on_one_node_and_the_opened_ring_without_any() {
        use super::super::{binomial, scatter_ring_allgather_opt};
        let (one, each) = (Problem::new(10), Problem { nodes: (0..10).collect(), ..Problem::new(10) });
        for rank in 0..10 {
            assert_eq!(schedule(&one, rank), binomial::ALGORITHM.schedule(&one, rank));
            let opened = scatter_ring_allgather_opt::ALGORITHM.schedule(&each, rank);
            assert_eq!(schedule(&each, rank), opened);
        }
    }
}
