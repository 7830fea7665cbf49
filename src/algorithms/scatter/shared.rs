//! Scatter in shared memory: the root publishes a block for each other rank, and the rank copies it.
//!
//! Every block is written once and read once. Each rank awaits one flag and continues as soon as its block is there.
//! In `MPI_Scatterv` the root first publishes the length of each rank's block and the length of the longest.

use crate::algorithms::building_blocks::slots::show_parts;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Scatter],
    name: "shared",
    aliases: &[],
    source: "as `linear`, with slots in place of messages",
    idea: "The root shows each rank its block in memory that the node shares, and they copy them.",
    avoid_when: "there are so many ranks that the last one waits long for its block.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

pub const SCATTERV: Algorithm = Algorithm {
    collectives: &[Collective::Scatterv],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::LongestBlock],
    ..ALGORITHM
};

pub(super) fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    let mut program = Builder::new(rank, size, size).slots(size);
    if rank != root {
        let own = program.await_slot(root, rank);
        program.copy(own, Recv.block(rank));
        return program.build();
    }
    show_parts((root, size), Send, &mut program);
    if !in_place {
        program.copy(Send.block(root), Recv.block(root));
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn a_rank_awaits_its_own_block_only() {
        let program = schedule(&Problem { root: 1, ..Problem::new(4) }, 3);
        assert_eq!(program.steps[0], Step::Await { rank: 1, slot: 3, times: 1 });
        assert_eq!(program.steps.len(), 2);
    }

    #[test]
    fn the_root_copies_its_own_block_last() {
        let program = schedule(&Problem { root: 1, ..Problem::new(4) }, 1);
        let own = Step::Copy { source: Send.block(1), target: Recv.block(1) };
        assert_eq!(program.steps.last(), Some(&own));
    }
}
