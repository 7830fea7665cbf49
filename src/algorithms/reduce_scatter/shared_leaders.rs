//! Reduce-scatter for short blocks on several nodes. On each node the leader combines what the other ranks show in
//! shared memory. The leaders reduce-scatter the nodes' blocks among themselves, and show the results on their nodes.
//!
//! With m nodes of up to q ranks: ceil(log_k m) rounds. A node of q ranks sends (m − 1)q blocks if all nodes are alike.
//! On each node the leader reduces q − 1 whole vectors.
//! Ranks of a node are combined first, so the operator must commute.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::circulant::{of_rank, reduce_scatter};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{combine_at_leader, with_slots_of_blocks};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of Open MPI (han) and MVAPICH; between the nodes as in `circulant`",
    idea: "One rank of each node combines what the others there show it in shared memory. These ranks reduce \
            and scatter among themselves and show the results.",
    avoid_when: "blocks are long, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Radix, Parameter::Segment],
    requires: &[
        Requirement::Nodes,
        Requirement::SharedMemory,
        Requirement::Predefined,
        Requirement::Commutative,
    ],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let up = placement.within(node, combine_at_leader(local, population, size, Send));
    let mut down = Builder::new(rank, size, size);
    let program = match local {
        0 => {
            let contribution = if population == 1 { Send } else { Recv };
            let between_radix = legal_radix(problem.radix, placement.nodes());
            let among_leaders = of_rank(node, reduce_scatter(placement.nodes(), between_radix, contribution));
            let between = placement.between(placement.with_blocks_of_nodes(among_leaders));
            for member in placement.members(node).skip(1) {
                down.publish(Recv.block(member), member);
            }
            deliver_own_block(up.then(between).then(down.build()))
        }
        _ => {
            let result = down.await_slot(placement.leader(node), rank);
            down.copy(result, Recv.block(rank));
            up.then(down.build())
        }
    };
    with_slots_of_blocks(placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send() {
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        let sent: Vec<usize> = (0..16).map(|rank| schedule(&problem, rank).blocks_sent()).collect();
        assert_eq!(sent, [12, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0, 12, 0, 0, 0]);
    }
}
