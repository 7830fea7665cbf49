//! Broadcast in shared memory: the root publishes the vector in a slot, and all other ranks copy it.
//!
//! The root writes the vector once and does not wait for the readers. Every other rank reads the vector once.

use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "shared",
    aliases: &[],
    source: "the flat algorithms of shared-memory components, such as Open MPI's sm",
    idea: "The root shows its vector in memory that the node shares, and all others copy it.",
    avoid_when: "many ranks read at once what one processor has in its cache.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

pub(super) fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, 1).slots(1);
    if problem.size > 1 {
        match rank == problem.root {
            true => program.publish(Recv.block(0), 0),
            false => {
                let vector = program.await_slot(problem.root, 0);
                program.copy(vector, Recv.block(0));
            }
        }
    }
    program.build()
}
