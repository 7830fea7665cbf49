//! `MPI_Reduce_scatter` and `MPI_Reduce_scatter_block`: rank i receives block i of the reduction of all ranks' vectors.
//! The schedules are the same, because every rank knows the length of each block.

pub mod bine;
pub mod butterfly;
pub mod circulant;
pub mod node_aware;
pub mod non_overlapping;
pub mod pairwise;
pub mod pat;
pub mod recursive_doubling;
pub mod recursive_halving;
pub mod ring;
pub mod shared;
pub mod shared_leaders;
pub mod shared_multi_leaders;

use super::building_blocks::receive_in_scratch::{free_vector, receive_in_scratch};
use crate::schedule::{Buffer::*, Builder, Schedule};

/// Returns the program of a single rank: its contribution is the result.
fn alone() -> Schedule {
    let mut program = Builder::new(0, 1, 1);
    program.copy(Send.block(0), Recv.block(0));
    program.build()
}

/// Completes a program that combines in a whole receive buffer. A rank's receive buffer only has its own
/// block, so the vector is kept in scratch, and the rank's block is copied at the end.
fn deliver_own_block(program: Schedule) -> Schedule {
    let (rank, vector) = (program.rank, free_vector(&program));
    let mut own = Builder::new(rank, program.size, program.blocks);
    own.copy(Scratch.block(vector + rank), Recv.block(rank));
    receive_in_scratch(program).then(own.build())
}
