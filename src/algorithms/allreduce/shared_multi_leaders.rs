//! Allreduce for long vectors on several nodes: each rank combines one slice of the vectors that the ranks of its
//! node publish. It combines this slice with its owners on the other nodes, and publishes the result.
//!
//! With m nodes of q ranks: 2 ceil(log_k m) rounds between the nodes. A node sends 2n(m−1)/m bytes. A rank reduces
//! (q−1)/q of a vector on its node. If nodes differ in size, there are as many slices as ranks on the fullest node,
//! but at most four for each rank of the emptiest. The ranks of a node own the slices in turn.
//! The values of a node's ranks are combined first, so the operator must commute.

use super::node_aware::among_nodes;
use super::{circulant, contribution, shared_leaders};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{
    combine_slices, hand_out_slices, with_slots_of_slices,
};
use crate::algorithms::{Algorithm, Body, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders",
    source: "the multi-leader designs of Bayatpour et al. 2017; between the nodes as in `circulant`",
    idea: "Each rank combines a slice of what its node shows in shared memory, then with one rank of every \
            other node, and shows the result.",
    avoid_when: "vectors are short, or each rank has a node of its own, or all share one.",
    body: Body::Messages(schedule),
    ..shared_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    through_owners(problem, rank, &circulant::ALGORITHM)
}

/// Returns an allreduce in which each rank acts for its node with its slices. The owners of a slice run `between`.
pub fn through_owners(problem: &Problem, rank: usize, between: &Algorithm) -> Schedule {
    let placement = Placement::of(problem);
    let place @ Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let slices = placement.slices();
    let among_owners = between.schedule(&among_nodes(problem, &placement, population == 1), node);
    let width = among_owners.blocks;
    let up = placement.within(node, combine_slices(local, population, slices, width, contribution(problem)));
    let down = placement.within(node, hand_out_slices(local, population, slices, width));
    let program = placement.among_owners(place, slices, &among_owners).fold(up, Schedule::then).then(down);
    with_slots_of_slices(width, placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranks_of_a_node_that_is_not_full_own_more_slices() {
        // Nodes of four ranks and of two: four slices of two blocks, of which each rank of the second node owns two.
        let problem = Problem { nodes: [0, 0, 0, 0, 1, 1].into(), ..Problem::new(6) };
        let sent = |rank| schedule(&problem, rank).blocks_sent();
        assert_eq!([0, 1, 2, 3, 4, 5].map(sent), [2, 2, 2, 2, 4, 4]);
        // One rank on the second node: four slices, which four ranks of the first own.
        let problem = Problem { nodes: [0, 0, 0, 0, 0, 1].into(), ..Problem::new(6) };
        let sent = |rank| schedule(&problem, rank).blocks_sent();
        assert_eq!([0, 1, 2, 3, 4, 5].map(sent), [2, 2, 2, 2, 0, 8]);
    }

    #[test]
    fn every_rank_sends_its_slice_to_other_nodes() {
        // Four nodes of four: 16 blocks. A rank's slice has 4 of them; the rank sends 2(4 − 1) blocks to its peers.
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.blocks, schedule.slots), (16, 16));
            assert_eq!(schedule.blocks_sent(), 2 * (4 - 1));
            assert_eq!(schedule.blocks_reduced(), 3 * 4 + 3);
        }
    }
}
