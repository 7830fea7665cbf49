//! `MPI_Allgather` and `MPI_Allgatherv`: every rank receives the block of each rank. The schedules are the same, since
//! every rank knows the length of each block.

pub mod bruck;
pub mod circulant;
pub mod gather_bcast;
pub mod linear;
pub mod neighbor_exchange;
pub mod node_aware;
pub mod recursive_doubling;
pub mod ring;

use super::Problem;
use crate::schedule::{Buffer::*, Builder, Schedule};

/// Completes a program that finds the rank's own block in the receive buffer: if the call is not in place, the block is
/// brought there first.
fn with_own_block(problem: &Problem, program: Schedule) -> Schedule {
    if problem.in_place {
        return program;
    }
    let mut own = Builder::new(program.rank, program.size, program.blocks);
    own.copy(Send.block(program.rank), Recv.block(program.rank));
    own.build().then(program)
}
