//! Allreduce for medium vectors on several nodes: as [`shared_multi_leaders`], but slices stay whole between nodes.
//!
//! With m nodes the rounds are those of recursive multiplying among m ranks: half as many as if slices were cut. If
//! nodes have q ranks, a rank sends its slice of n/q bytes k − 1 times in each of ceil(log_k m) rounds.
//! The values of a node's ranks are combined first, so the operator must commute.

use super::{recursive_multiplying, shared_multi_leaders};
use crate::algorithms::{Algorithm, Body, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders_multiplying",
    source: "the multi-leader designs of Bayatpour et al. 2017; between the nodes as in `recursive_multiplying`",
    idea: "Each rank combines a slice of what its node shows in shared memory, then with one rank of every \
            other node, whole slices in few rounds, and shows the result.",
    avoid_when: "slices are long, so that the network has to do with every byte, or each rank has a node of its own, \
            or all share one.",
    body: Body::Messages(schedule),
    ..shared_multi_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    shared_multi_leaders::through_owners(problem, rank, &recursive_multiplying::ALGORITHM)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_sends_its_whole_slice_to_its_peers_in_one_round() {
        let problem = Problem { radix: 4, nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.blocks, schedule.slots), (4, 4));
            assert_eq!((schedule.messages_sent(), schedule.blocks_sent()), (3, 3));
        }
    }
}
