//! Linear scatter: the root sends every rank its block.
//!
//! One round of p − 1 messages, all from the root; p − 1 blocks in all, the fewest possible. Of many
//! messages only some are under way at a time, because the root keeps a request for each of these.

use crate::algorithms::building_blocks::ROOT_WINDOW;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Scatter, Collective::Scatterv],
    name: "linear",
    aliases: &["basic_linear"],
    source: "the definition of MPI_Scatter",
    idea: "The root sends every rank its block directly.",
    avoid_when: "blocks are small and each message costs the root.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    if rank != root {
        program.receive(root, Recv.block(rank));
        return program.build();
    }
    // From the rank after the root on, all ranks form one loop.
    program.repeat_within(ROOT_WINDOW, 1..size, |program, distance| {
        let target = (root + distance) % size;
        program.send(target, Send.block(target));
    });
    if !in_place {
        program.copy(Send.block(root), Recv.block(root));
    }
    program.build()
}
