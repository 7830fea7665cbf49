//! Node-aware allgather: gather on every node, allgather between the nodes' leaders, broadcast on every node.
//!
//! With m nodes of up to q ranks: 2 ceil(log_k q) rounds on the nodes, and between them those of Bruck's algorithm
//! among m ranks (one round of m − 1 messages if k ≥ m). Every block enters each other node once: if all nodes have
//! q ranks, a node sends (m − 1)q blocks. On its node each rank receives the whole vector.

use super::{bruck, with_own_block};
use crate::algorithms::building_blocks::knomial_tree::{children, gather, parent};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "node_aware",
    aliases: &[],
    source: "MPICH (smp); between the nodes as in `bruck`, on them along k-nomial trees",
    idea: "One rank of each node gathers its node's blocks, these ranks exchange them, and each broadcasts all \
            of them on its node.",
    avoid_when: "each rank has a node of its own, or all share one, or blocks are so long that broadcasting on the \
            nodes takes longer than the network.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

/// The algorithm between the leaders of the nodes.
const BETWEEN: Algorithm = bruck::ALGORITHM;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let up = placement.within(node, placement.with_blocks_of_members(node, gather(local, population, radix)));
    let vector =
        tree_broadcast(local, population, 1, parent(local, radix), children(local, population, radix));
    let down = placement.within(node, vector.refine(size, |block| block * size));
    let program = match local {
        0 => {
            let among_leaders = BETWEEN.schedule(&among_nodes(problem, &placement), node);
            up.then(placement.between(placement.with_blocks_of_nodes(among_leaders))).then(down)
        }
        _ => up.then(down),
    };
    with_own_block(problem, program)
}

fn among_nodes(problem: &Problem, placement: &Placement) -> Problem {
    let nodes = placement.nodes();
    Problem { in_place: true, radix: legal_radix(problem.radix, nodes), ..Problem::new(nodes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn each_block_enters_a_node_once() {
        // Three nodes of 4, 3 and 3 ranks: rank r is on node r mod 3.
        let problem = Problem { nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
        for rank in 0..10 {
            let outside = |peer: u32| peer as usize % 3 != rank % 3;
            let steps = schedule(&problem, rank).steps;
            let entering = steps.iter().filter_map(|step| match step {
                Step::Receive { peer, message, .. } if outside(*peer) => Some(message.blocks()),
                _ => None,
            });
            assert_eq!(entering.sum::<usize>(), [6, 7, 7].get(rank).copied().unwrap_or(0));
        }
    }
}
