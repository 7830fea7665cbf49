//! Allreduce of short vectors in shared memory: every rank shows its contribution to all, and combines all of them.
//!
//! Source: the flat algorithms of shared-memory components, such as Open MPI's sm and MPICH's release-gather.
//! One flag is awaited of each other rank, of whose vectors p − 1 are read. Keeps the order of operands. Loses when: vectors
//! are long and there are more than two ranks, to `shared_slices`.

use super::contribution;
use crate::algorithms::{Algorithm, Collective, Parameter, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Allreduce,
    name: "shared_flat",
    aliases: &[],
    source: "Open MPI (coll/sm)",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    schedule,
    cost,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return super::alone(problem);
    }
    let mut program = Builder::new(rank, size, 1).slots(1);
    program.publish(contribution(problem).block(0), 0);
    // From the last rank on, so that operators leave each result where it is.
    let last = contribution_of(problem, size - 1, &mut program, rank);
    let left = contribution_of(problem, size - 2, &mut program, rank);
    program.reduce(left, last, Recv.block(0));
    for other in (0..size - 2).rev() {
        let left = contribution_of(problem, other, &mut program, rank);
        program.reduce(left, Recv.block(0), Recv.block(0));
    }
    program.build()
}

/// Where a rank finds a contribution. In place the result would overwrite its own one, but not what it showed.
fn contribution_of(problem: &Problem, other: usize, program: &mut Builder, rank: usize) -> Run {
    match other == rank {
        true if problem.in_place => Buffer::of_rank(rank).block(0),
        true => Buffer::Send.block(0),
        false => program.awaited(other, 0),
    }
}

fn cost(problem: &Problem) -> Cost {
    let others = problem.size - 1;
    Cost::of_flags(others.min(1), others, others)
}
