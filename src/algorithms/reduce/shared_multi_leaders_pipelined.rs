//! Reduce on several nodes as in [`shared_multi_leaders`], but slices travel between nodes in segments, in few rounds.
//!
//! With m nodes of q ranks and k segments of each slice (k may be 1): k − 1 + ceil(log2 m) rounds of one segment. A
//! slice leaves each rank once, so the vector leaves each node once.
//! Ranks of a node are combined first, so the operator must commute.

use super::circulant_pipelined::reduce_to_first;
use super::shared_multi_leaders::{self, through_owners};
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::{Algorithm, Body, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders_pipelined",
    source: "the multi-leader designs of Bayatpour et al. 2017; between the nodes as in `circulant_pipelined`",
    idea: "Each rank combines a slice of what its node shows in shared memory. Segments of the slices travel between the nodes, to the root's \
            node, where the root collects the slices.",
    avoid_when: "vectors are so short that one rank of a node combines them faster, or each rank has a node of its own, or all share \
            one.",
    parameters: &[Parameter::Segment],
    body: Body::Messages(schedule),
    ..shared_multi_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let slices = Placement::of(problem).slices();
    // Each segment needs a slot, of which there are two for each rank.
    let of_slice = problem.segments.div_ceil(slices).min(2 * problem.size / slices);
    through_owners(problem, rank, |node, nodes, combined| reduce_to_first(node, nodes, of_slice, combined))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_of_another_node_sends_each_segment_of_its_slice_once() {
        let nodes = (0..16).map(|rank| rank / 4).collect();
        let problem = Problem { segments: 12, nodes, ..Problem::new(16) };
        for rank in 0..16 {
            let program = schedule(&problem, rank);
            assert_eq!((program.blocks, program.slots), (12, 12));
            assert_eq!(program.blocks_sent(), if rank < 4 { 0 } else { 3 });
        }
    }
}
