//! Allreduce of short vectors in shared memory: every rank publishes its contribution, and combines those of all.
//!
//! A rank awaits one flag of each other rank, and reads p − 1 vectors. Keeps the order of operands.

use super::contribution;
use crate::algorithms::building_blocks::slots::Contributions;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "shared_flat",
    aliases: &[],
    source: "the flat algorithms of shared-memory components, such as Open MPI's sm and MPICH's release-gather",
    idea: "Every rank shows its vector in memory that the node shares, and combines the vectors of all.",
    avoid_when: "vectors are long and there are more than two ranks, for then sharing out the work pays.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return super::alone(problem);
    }
    let mut program = Builder::new(rank, size, 1).slots(1);
    program.publish(contribution(problem).block(0), 0);
    // In place the result would overwrite the rank's own contribution, but not the copy in its slot.
    let own = if problem.in_place { Buffer::of_rank(rank) } else { Send };
    let contributions = Contributions { rank, own: own.block(0), slot: 0 };
    contributions.combine(0..size, Recv.block(0), Recv.block(0), &mut program);
    program.build()
}
