//! `MPI_Alltoall`: block `j` of rank `i`'s send buffer becomes block `i` of rank `j`'s receive buffer.

pub mod bruck;
pub mod bruck_modified;
pub mod pairwise;
pub mod spread_out;

use super::Problem;
use crate::schedule::{Buffer, Builder, Schedule};

/// Completes a program that reads the send buffer: with an in-place call its input is first copied from the receive
/// buffer to scratch blocks behind those that the program uses.
fn with_input(problem: &Problem, program: Schedule) -> Schedule {
    if !problem.in_place {
        return program;
    }
    let (rank, size) = (program.rank, program.size);
    let saved = program.scratch_blocks();
    let mut save = Builder::new(rank, size, size);
    save.copy(Buffer::Recv.blocks(0..size), Buffer::Scratch.blocks(saved..saved + size));
    save.build().then(program.map_runs(|run| match run.buffer {
        Buffer::Send => Buffer::Scratch.blocks(saved + run.indices().start..saved + run.indices().end),
        Buffer::Recv | Buffer::Scratch => run,
    }))
}
