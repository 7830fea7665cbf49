//! The root sends every rank of the other group its block.
//!
//! One round of b messages, where b ranks receive; b blocks in all, the fewest possible. Of many messages only some are under
//! way at a time, because the root keeps a request for each of these. In MPI_Scatterv only the root knows the lengths, so no
//! other rank can pass blocks on.

use super::has_root;
use crate::algorithms::building_blocks::ROOT_WINDOW;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Scatter, Collective::Scatterv],
    name: "inter_linear",
    aliases: &[],
    source: "the definition of MPI_Scatter",
    idea: "The root sends every rank of the other group its block directly.",
    avoid_when: "blocks are small and each message costs the root.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, problem.size);
    match has_root(problem) {
        true if rank == problem.root => {
            program.repeat_within(ROOT_WINDOW, problem.partners(rank), |program, target| {
                program.send(target, Send.block(target));
            });
        }
        true => {}
        false => {
            program.receive(problem.root, Recv.block(rank));
        }
    }
    program.build()
}
