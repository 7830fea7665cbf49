//! Gather in shared memory: every rank publishes its block in a slot, and the root copies the blocks.
//!
//! The root awaits a flag of each other rank and reads its block. The other ranks do not wait. Every block is written
//! once and read once.
//!
//! In `MPI_Gatherv` the ranks first publish the lengths of their blocks, so that all ranks cut blocks alike. Then every
//! rank waits for every other.

use crate::algorithms::building_blocks::slots::collect;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Gather],
    name: "shared",
    aliases: &[],
    source: "as `linear`, with slots in place of messages",
    idea: "Every rank shows its block in memory that the node shares, and the root copies them.",
    avoid_when: "there are so many ranks that the root is done long after the others.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

pub const GATHERV: Algorithm = Algorithm {
    collectives: &[Collective::Gatherv],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::LongestBlock],
    ..ALGORITHM
};

pub(super) fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    let mut program = Builder::new(rank, size, size).slots(1);
    if rank != root {
        program.publish(Send.block(rank), 0);
        return program.build();
    }
    if !in_place {
        program.copy(Send.block(root), Recv.block(root));
    }
    collect((root, size), |_| 0, Recv, &mut program);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn nobody_waits_but_the_root() {
        for rank in 0..4 {
            let program = schedule(&Problem { root: 1, ..Problem::new(4) }, rank);
            let awaits = program.steps.iter().filter(|step| matches!(step, Step::Await { .. })).count();
            assert_eq!(awaits, if rank == 1 { 3 } else { 0 });
        }
    }
}
