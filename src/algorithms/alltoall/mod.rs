//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`: block `j` of rank `i`'s send buffer becomes block `i` of rank
//! `j`'s receive buffer. Where only the two ranks know the block's length, it goes from one to the other directly, or
//! its length is sent ahead, or it is padded.

pub mod bruck;
pub mod bruck_modified;
pub mod bruck_padded;
pub mod bruck_two_phase;
pub mod circulant;
pub mod linear_window;
pub mod node_aware;
pub mod pairwise;
mod parcels;
pub mod postal;
mod routes;
pub mod shared;
pub mod shared_multi_leaders;
pub mod single_copy;
pub mod spread_out;

use super::Problem;
use crate::schedule::{Buffer, Builder, Run, Schedule};

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
        Buffer::Recv | Buffer::Scratch | Buffer::Shared(_) => run,
    }))
}

/// Brings the rank's own block where it belongs. With an in-place call it stands there already.
fn copy_own_block(problem: &Problem, program: &mut Builder, rank: usize) {
    if !problem.in_place {
        program.copy(Buffer::Send.block(rank), Buffer::Recv.block(rank));
    }
}

/// Where the block that travels down by `distance` in so many hops stands after some of them. It ends at the receive
/// block of its source, `rank + distance`. On the way it alternates between that block and scratch, such that its
/// last hop takes it into the receive buffer, and that it is never received into where it is sent from.
fn place_on_the_way((rank, size): (usize, usize), distance: usize, hops: usize, hops_done: usize) -> Run {
    match hops - hops_done {
        _ if hops_done == 0 => Buffer::Send.block((rank + size - distance) % size),
        remaining if remaining.is_multiple_of(2) => Buffer::Recv.block((rank + distance) % size),
        _ => Buffer::Scratch.block(distance),
    }
}
