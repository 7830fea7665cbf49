//! Alltoall in shared memory: every rank publishes a block for each other rank, and copies the blocks for itself.
//!
//! A rank awaits one flag of each other rank. Every block is written once and read once. In place no scratch memory is
//! needed, because a rank publishes its blocks before it overwrites them.
//!
//! In `MPI_Alltoallv` the ranks first publish the lengths of the blocks in the same way.

use super::copy_own_block;
use crate::algorithms::building_blocks::slots::{collect, show_parts};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "shared",
    aliases: &[],
    source: "as `spread_out`, with slots in place of messages",
    idea: "Every rank shows each other one its block in memory that the node shares, and copies what the others \
            show it.",
    avoid_when: "there are so many ranks that waiting for a flag of each of them costs more than some rounds.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

pub const ALLTOALLV: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::LongestBlock],
    ..ALGORITHM
};

pub(super) fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size).slots(size);
    show_parts((rank, size), if problem.in_place { Recv } else { Send }, &mut program);
    copy_own_block(problem, &mut program, rank);
    collect((rank, size), |_| rank, Recv, &mut program);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn all_blocks_are_shown_before_one_is_overwritten() {
        let program = schedule(&Problem { in_place: true, ..Problem::new(5) }, 3);
        let shown = program.steps.iter().rposition(|step| matches!(step, Step::Notify { .. })).unwrap();
        let awaited = program.steps.iter().position(|step| matches!(step, Step::Await { .. })).unwrap();
        assert!(shown < awaited);
        assert_eq!(program.scratch_blocks(), 0);
    }
}
