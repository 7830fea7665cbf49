//! Node-aware allreduce for short vectors: reduce on every node, allreduce between the nodes, broadcast on every node.
//!
//! With m nodes of up to q ranks: 2 ceil(log_k q) rounds on the nodes, and those of recursive multiplying among m
//! ranks (one round of m − 1 messages if k ≥ m). Only one rank of each node uses the network.
//! The values of a node's ranks are combined first, so the operator must commute.

use super::{contribution, recursive_multiplying};
use crate::algorithms::building_blocks::knomial_tree::{children, nearest_first, parent};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer::Send, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "node_aware",
    aliases: &[],
    source: "MPICH (smp); between the nodes as in `recursive_multiplying`, on them along k-nomial trees",
    idea: "Each node reduces to one of its ranks, these combine their results, and each broadcasts the outcome \
            on its node.",
    avoid_when: "vectors are long, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    through_leaders(problem, rank, &recursive_multiplying::ALGORITHM)
}

/// Returns an allreduce in which each node's leader acts for the node. The leaders run `between`.
pub fn through_leaders(problem: &Problem, rank: usize, between: &Algorithm) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let (radix, population) = (problem.radix, placement.population(node));
    let is_alone = population == 1;
    let among_leaders = between.schedule(&among_nodes(problem, &placement, is_alone), node);
    if is_alone {
        return placement.between(among_leaders);
    }
    let blocks = among_leaders.blocks;
    let within = |program: Schedule| placement.within(node, program.refine(blocks, |vector| vector * blocks));
    let first_ready = nearest_first(local, population, radix);
    let up =
        within(tree_reduce(local, population, 1, contribution(problem), parent(local, radix), first_ready));
    let down = within(tree_broadcast(
        local,
        population,
        1,
        parent(local, radix),
        children(local, population, radix),
    ));
    match local {
        0 => up.then(placement.between(among_leaders)).then(down),
        _ => up.then(down),
    }
}

/// Returns the allreduce of one contribution from each node: the rank's own contribution, if it is alone there.
pub fn among_nodes(problem: &Problem, placement: &Placement, is_alone: bool) -> Problem {
    let nodes = placement.nodes();
    let in_place = !is_alone || contribution(problem) != Send;
    Problem { in_place, radix: legal_radix(problem.radix, nodes), ..Problem::new(nodes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send_to_other_nodes() {
        let problem = Problem { radix: 4, nodes: (0..16).map(|rank| rank % 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let leaves = |peer: u32| peer % 4 != rank as u32 % 4;
            let schedule = schedule(&problem, rank);
            let sent = schedule
                .steps
                .iter()
                .filter(|step| matches!(step, crate::schedule::Step::Send { peer, .. } if leaves(*peer)));
            assert_eq!(sent.count(), if rank < 4 { 3 } else { 0 });
        }
    }

    #[test]
    fn is_recursive_multiplying_where_nobody_shares_a_node() {
        let problem = Problem { radix: 3, nodes: (0..10).collect(), ..Problem::new(10) };
        for rank in 0..10 {
            let expected = recursive_multiplying::ALGORITHM.schedule(&problem, rank);
            assert_eq!(schedule(&problem, rank), expected);
        }
    }
}
