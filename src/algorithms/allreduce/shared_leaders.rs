//! Allreduce for short vectors: the ranks of each node combine what they publish, up a k-nomial tree to the leader. The
//! leaders combine their results by messages, and publish the outcome on their nodes.
//!
//! With m nodes of up to q ranks: the rounds of recursive multiplying among m ranks (one round of m − 1 messages if
//! k ≥ m). On a node the leader reads up to w(k−1) vectors, where w = ceil(log_k q), and all other ranks read the result
//! from it.
//! The values of a node's ranks are combined first, so the operator must commute.

use super::node_aware::among_nodes;
use super::{contribution, recursive_multiplying};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{
    combine_at_leader, groups, hand_out, with_slots_of_blocks,
};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han); between the nodes as in `recursive_multiplying`",
    idea: "The ranks of a node combine what they show each other in shared memory, up a k-nomial tree. One rank of each \
            node combines the sums with those of the other nodes and shows the outcome.",
    avoid_when: "vectors are long, or each rank has a node of its own, or few ranks share one.",
    parameters: &[Parameter::Radix],
    requires: &[
        Requirement::Nodes,
        Requirement::SharedMemory,
        Requirement::Predefined,
        Requirement::Commutative,
    ],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    through_leaders(problem, rank, &recursive_multiplying::ALGORITHM)
}

/// Returns an allreduce in which each node's leader acts for the node. The leaders run `between`.
pub fn through_leaders(problem: &Problem, rank: usize, between: &Algorithm) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let among_leaders = between.schedule(&among_nodes(problem, &placement, population == 1), node);
    let blocks = among_leaders.blocks;
    let to_leader =
        combine_at_leader(local, population, problem.radix, groups(0..blocks), contribution(problem));
    let up = placement.within(node, to_leader);
    let down = placement.within(node, hand_out(local, population, blocks, Recv));
    let program = match local {
        0 => up.then(placement.between(among_leaders)).then(down),
        _ => up.then(down),
    };
    with_slots_of_blocks(placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send_in_one_round_if_there_are_as_many_nodes_as_the_radix() {
        let problem = Problem { radix: 4, nodes: (0..16).map(|rank| rank % 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.messages_sent(), schedule.slots), (if rank < 4 { 3 } else { 0 }, 1));
        }
    }
}
