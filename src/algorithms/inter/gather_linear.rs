//! Every rank of the other group sends its block to the root.
//!
//! One round of b messages, where b ranks contribute; b blocks in all, the fewest possible. Of many messages only some are under
//! way at a time, because the root keeps a request for each of these. In MPI_Gatherv only the root knows the lengths, so no
//! other rank can collect blocks.

use super::has_root;
use crate::algorithms::building_blocks::ROOT_WINDOW;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Gather, Collective::Gatherv],
    name: "inter_linear",
    aliases: &[],
    source: "the definition of MPI_Gather",
    idea: "Every rank of the other group sends its block straight to the root.",
    avoid_when: "blocks are small and each message costs the root.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, problem.size);
    match has_root(problem) {
        true if rank == problem.root => {
            program.repeat_within(ROOT_WINDOW, problem.partners(rank), |program, source| {
                program.receive(source, Recv.block(source));
            });
        }
        true => {}
        false => {
            program.send(problem.root, Send.block(rank));
        }
    }
    program.build()
}
