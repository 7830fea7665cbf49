//! `MPI_Scan` and `MPI_Exscan`: rank i receives the reduction of the vectors of the ranks up to i, itself included or not.

pub mod chain;
pub mod doubly_pipelined_tree;
pub mod linear;
pub mod recursive_doubling;
pub mod shared;
pub mod shared_leaders;

use super::Problem;
use crate::schedule::{Buffer, Buffer::*, Run};

/// Returns the buffer that holds a rank's own contribution.
fn contribution(problem: &Problem) -> Buffer {
    if problem.in_place { Recv } else { Send }
}

/// Returns where a block can arrive while the contribution is still needed: in the receive buffer, or in
/// scratch block `scratch` if the receive buffer holds the contribution.
fn free_place(problem: &Problem, block: usize, scratch: usize) -> Run {
    if problem.in_place { Scratch.block(scratch) } else { Recv.block(block) }
}
