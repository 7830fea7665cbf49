//! Linear allgather: every rank sends its block to every other rank, all at once.
//!
//! One round of p − 1 messages; p − 1 blocks sent.

use super::with_own_block;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "linear",
    aliases: &[],
    source: "Open MPI (`coll/basic`, where it is a gather and a broadcast); here in the direct form",
    idea: "Every rank sends its block to every other rank, all at once.",
    avoid_when: "blocks are small, for then what each message costs counts.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    // Rank i starts with rank i + 1, so no rank is the target of two first messages.
    program.repeat(1..size, |program, distance| {
        let source = (rank + size - distance) % size;
        program.receive(source, Recv.block(source));
    });
    program.repeat(1..size, |program, distance| {
        program.send((rank + distance) % size, Recv.block(rank));
    });
    with_own_block(problem, program.build())
}
