//! Spread-out algorithm for MPI_Alltoall and its variants: every message is posted at once, in an order that spreads
//! the load.
//!
//! One round of p − 1 messages; p − 1 blocks sent.

use super::{copy_own_block, with_input};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall, Collective::Alltoallv, Collective::Alltoallw],
    name: "spread_out",
    aliases: &["scattered", "linear"],
    source: "MPICH (Thakur, Rabenseifner, Gropp 2005, section 4.3: \"isend-irecv\", scattered destinations)",
    idea: "Every rank posts all its messages at once, each rank beginning with its next neighbour, so that \
            nobody is flooded.",
    avoid_when: "blocks are small, for then what each message costs counts.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    // Rank i starts with partner i + 1, so no rank is the target of two first messages.
    program.repeat(1..size, |program, distance| {
        let source = (rank + size - distance) % size;
        program.receive(source, Recv.block(source));
    });
    program.repeat(1..size, |program, distance| {
        let target = (rank + distance) % size;
        program.send(target, Send.block(target));
    });
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
}
