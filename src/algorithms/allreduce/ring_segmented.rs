//! Segmented ring for MPI_Allreduce: as in `ring`, but each p-th of the vector travels in segments. One segment is
//! in flight while another one is reduced.
//!
//! With kp segments, 2k(p − 1) messages of one (kp)-th of the vector; bytes sent and reduced as in `ring`.
//! Combines contributions in ring order, so the operator must commute.

use super::{alone, contribution};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};
use std::collections::VecDeque;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "ring_segmented",
    aliases: &["segmented_ring"],
    source: "Open MPI (segmented_ring)",
    idea: "The ring in which each block travels in segments, so that one is on its way while another one is \
            combined.",
    avoid_when: "latency counts, of which there is more with every segment.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone(problem);
    }
    // The problem's number of segments is for the whole vector. Each p-th has at least one.
    let segments = problem.segments.div_ceil(size);
    let contribution = contribution(problem);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    // Step s brings the p-th number rank − 1 − s of the vector: p − 1 steps of partial sums, then as many of results.
    // With k segments, the message of segment j in step s has number s·k + j.
    let (partial_sums, messages) = ((size - 1) * segments, 2 * (size - 1) * segments);
    let block = |section: usize, message: usize| section % size * segments + message % segments;
    let received = |message: usize| block(rank + 2 * size - 1 - message / segments, message);
    let incoming = |message: usize| {
        let reduces_in_place = contribution == Recv && message < partial_sums;
        (if reduces_in_place { Scratch } else { Recv }).block(received(message))
    };

    let mut program = Builder::new(rank, size, size * segments);
    let mut arriving = program.receive(previous, incoming(0));
    let first = (0..segments).map(|segment| program.send(next, contribution.block(block(rank, segment))));
    let mut leaving: VecDeque<_> = first.collect();
    for message in 0..messages {
        // Before a block of the result arrives, the block's partial sum must have left.
        program.wait(leaving.pop_front().flatten());
        let following = Some(message + 1).filter(|&following| following < messages);
        let following = following.and_then(|following| program.receive(previous, incoming(following)));
        program.wait(std::mem::replace(&mut arriving, following));
        let result = Recv.block(received(message));
        if message < partial_sums {
            program.reduce(contribution.block(received(message)), incoming(message), result);
        }
        if message + segments < messages {
            leaving.push_back(program.send(next, result));
        }
    }
    program.build()
}
