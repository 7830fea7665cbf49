//! Reduce-scatter for short blocks. On each node the ranks combine the whole vectors that they show in shared memory, up
//! a k-nomial tree to the leader. The leaders reduce-scatter the nodes' blocks among themselves, and show the results on
//! their nodes.
//!
//! With m nodes of up to q ranks: ceil(log_k m) rounds. A node of q ranks sends (m − 1)q blocks if all nodes are alike.
//! On each node the leader reads up to w(k−1) vectors, where w = ceil(log_k q). A rank raises one flag.
//! Ranks of a node are combined first, so the operator must commute.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::circulant::{of_rank, reduce_scatter};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::algorithms::building_blocks::shared_node::{combine_at_leader, with_slots_of_slices};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of Open MPI (han) and MVAPICH; between the nodes as in `circulant`",
    idea: "The ranks of a node combine what they show each other in shared memory, up a k-nomial tree. One rank of each \
            node reduces and scatters the sums with those of the other nodes and shows the results.",
    avoid_when: "blocks are long, or each rank has a node of its own, or few ranks share one.",
    parameters: &[Parameter::Radix, Parameter::Segment],
    requires: &[
        Requirement::Nodes,
        Requirement::SharedMemory,
        Requirement::Predefined,
        Requirement::Commutative,
    ],
    body: Body::Messages(schedule),
};

/// The flag that a rank raises for all that it shows.
const FLAG: usize = 0;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let all_blocks = std::iter::once(0..size);
    let up = placement.within(node, combine_at_leader(local, population, problem.radix, all_blocks, Send));
    let mut down = Builder::new(rank, size, size);
    let program = match local {
        0 => {
            let contribution = if population == 1 { Send } else { Recv };
            let between_radix = legal_radix(problem.radix, placement.nodes());
            let among_leaders = of_rank(node, reduce_scatter(placement.nodes(), between_radix, contribution));
            let between = placement.between(placement.with_blocks_of_nodes(among_leaders));
            for member in placement.members(node).skip(1) {
                down.show(Recv.block(member), member);
            }
            if population > 1 {
                down.notify(FLAG);
            }
            deliver_own_block(up.then(between).then(down.build()))
        }
        _ => {
            let leader = placement.leader(node);
            down.await_slot(leader, FLAG);
            down.copy(Buffer::of_rank(leader).block(rank), Recv.block(rank));
            receive_in_scratch(up).then(down.build())
        }
    };
    with_slots_of_slices(size, placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn each_rank_raises_one_flag() {
        let problem = Problem { radix: 4, nodes: vec![0; 16].into(), ..Problem::new(16) };
        for rank in 0..16 {
            let steps = schedule(&problem, rank).steps;
            assert_eq!(steps.iter().filter(|step| matches!(step, Step::Notify { .. })).count(), 1);
        }
    }

    #[test]
    fn leaders_alone_send() {
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        let sent: Vec<usize> = (0..16).map(|rank| schedule(&problem, rank).blocks_sent()).collect();
        assert_eq!(sent, [12, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0]);
    }
}
