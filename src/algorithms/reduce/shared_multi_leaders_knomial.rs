//! Reduce for vectors of medium length on several nodes: as [`shared_multi_leaders`], but slices stay whole between the nodes.
//!
//! With m nodes of q ranks the messages are those of a k-nomial tree among m ranks, each of a slice of n/q bytes.
//! Ranks of a node come before others, so the operator must commute.

use super::shared_multi_leaders;
use crate::algorithms::building_blocks::knomial_tree::{nearest_first, parent};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders_knomial",
    source: "the multi-leader designs of Bayatpour et al. 2017; between the nodes as in `knomial`",
    idea: "Each rank combines a slice of what its node shows in shared memory, then with one rank of every other node, whole slices up \
            a tree. The root collects the slices.",
    avoid_when: "slices are long, so that the network has to do with every byte, or each rank has a node of its own, \
            or all share one.",
    parameters: &[Parameter::Radix],
    body: Body::Messages(schedule),
    ..shared_multi_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let radix = problem.radix;
    shared_multi_leaders::through_owners(problem, rank, |node, nodes, combined| {
        tree_reduce(node, nodes, 1, combined, parent(node, radix), nearest_first(node, nodes, radix))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_of_another_node_sends_its_slice_once() {
        let problem = Problem { radix: 4, nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let program = schedule(&problem, rank);
            assert_eq!((program.blocks, program.slots), (4, 4));
            assert_eq!(program.messages_sent(), usize::from(rank >= 4));
        }
    }
}
