//! Broadcast for long vectors on several nodes: segments travel between the nodes' leaders, and each leader publishes
//! them on its node.
//!
//! With m nodes and k segments (at most 2p): k − 1 + ceil(log2 m) rounds of one segment. The vector enters each node
//! once.

use super::circulant_pipelined;
use super::shared_leaders::through_leaders;
use crate::algorithms::building_blocks::shared_node::segments;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "shared_leaders_pipelined",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han); between the nodes as in `circulant_pipelined`, on \
            them as in `shared`",
    idea: "Segments of the vector travel between one rank of each node, which shows them to the others there in \
            shared memory.",
    avoid_when: "vectors are too short to be cut into segments.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Nodes, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

/// The algorithm between the leaders of the nodes.
const BETWEEN: Algorithm = circulant_pipelined::ALGORITHM;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let segments = segments(problem);
    through_leaders(problem, rank, segments, |node, nodes| {
        BETWEEN.schedule(&Problem { segments, ..Problem::new(nodes) }, node)
    })
}
