//! Allreduce for long vectors on several nodes: each rank of a node combines a slice of what all of them show, then with
//! the ranks of its number on the other nodes, and shows the result.
//!
//! With m nodes of q ranks 2 ceil(log_k m) rounds between the nodes, each of which sends 2n(m−1)/m bytes. A rank reduces
//! (q−1)/q of a vector on its node. Where nodes have different numbers of ranks, one rank stands for each, as in
//! `shared_leaders`.
//! Ranks of a node come before others, so the operator must commute.

use super::node_aware::among_nodes;
use super::shared_leaders::{self, through_leaders};
use super::{circulant, contribution};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{combine_slices, hand_out_slices, with_slots};
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

/// What the ranks of one number do between the nodes.
const BETWEEN: Algorithm = circulant::ALGORITHM;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::new(problem);
    match placement.common_population() {
        Some(population) => by_slices(problem, &placement, rank, population),
        None => through_leaders(problem, rank, &BETWEEN),
    }
}

fn by_slices(problem: &Problem, placement: &Placement, rank: usize, population: usize) -> Schedule {
    let Place { node, local } = placement.place(rank);
    let slice = BETWEEN.schedule(&among_nodes(problem, placement, population == 1), node);
    let width = slice.blocks;
    let among_peers = placement.among_peers(local, slice);
    let up = combine_slices(local, population, width, contribution(problem));
    let down = hand_out_slices(local, population, width);
    let program = placement.within(node, up).then(among_peers).then(placement.within(node, down));
    with_slots(population * width, population, program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_sends_its_slice_to_other_nodes() {
        // Four nodes of four: 16 blocks, of which a rank's slice are 4, which 2(4 − 1) leave for its peers.
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.blocks, schedule.slots), (16, 16));
            assert_eq!(schedule.blocks_sent(), 2 * (4 - 1));
            assert_eq!(schedule.blocks_reduced(), 3 * 4 + 3);
        }
    }
}
