//! `MPI_Alltoall`, `MPI_Alltoallv`, `MPI_Alltoallw`: block `j` of rank `i`'s send buffer becomes block `i` of rank
//! `j`'s receive buffer. If only these two ranks know the block's length, the block goes directly from one to the
//! other, or its length is sent ahead, or the block is padded.

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

/// Adapts a program that reads the send buffer to in-place calls: the program first copies its input from the receive
/// buffer to scratch blocks after those that it uses.
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

/// Copies the rank's own block to the receive buffer. In an in-place call it is there already.
fn copy_own_block(problem: &Problem, program: &mut Builder, rank: usize) {
    if !problem.in_place {
        program.copy(Buffer::Send.block(rank), Buffer::Recv.block(rank));
    }
}

/// Returns where a block that travels down by `distance` in `hops` hops is on this rank after `hops_done` hops. Its
/// final place is receive block `rank + distance`, that of its source. On the way blocks alternate between this place
/// and scratch. So the last hop ends in the receive buffer, and no place is received into while it is sent from.
fn place_on_the_way((rank, size): (usize, usize), distance: usize, hops: usize, hops_done: usize) -> Run {
    match hops - hops_done {
        _ if hops_done == 0 => Buffer::Send.block((rank + size - distance) % size),
        remaining if remaining.is_multiple_of(2) => Buffer::Recv.block((rank + distance) % size),
        _ => Buffer::Scratch.block(distance),
    }
}
