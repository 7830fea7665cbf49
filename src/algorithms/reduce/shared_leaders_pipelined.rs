//! Reduce for long vectors on several nodes. On each node the ranks combine what they show in shared memory, up a
//! k-nomial tree to the leader. Segments of the sums travel between the leaders.
//!
//! With m nodes of up to q ranks and k segments (at most 2p): k − 1 + ceil(log2 m) rounds of one segment. The
//! vector leaves each node once. On a node the leader reads as many vectors as in `shared_leaders`.
//! Combines contributions out of order, so the operator must commute.

use super::circulant_pipelined::reduce_to_first;
use super::shared_leaders::{self, through_leaders};
use crate::algorithms::building_blocks::shared_node::segments;
use crate::algorithms::{Algorithm, Body, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_leaders_pipelined",
    source: "the leaders of MPICH (smp) and Open MPI (han); between the nodes as in `circulant_pipelined`",
    idea: "The ranks of a node combine what they show each other in shared memory, up a k-nomial tree. Segments of the \
            sums travel between one rank of each node.",
    avoid_when: "vectors are too short to be cut into segments.",
    parameters: &[Parameter::Radix, Parameter::Segment],
    body: Body::Messages(schedule),
    ..shared_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let segments = segments(problem);
    through_leaders(problem, rank, segments, |node, nodes, combined| {
        reduce_to_first(node, nodes, segments, combined)
    })
}
