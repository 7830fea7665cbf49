//! `MPI_Scan` and `MPI_Exscan`: rank i receives the reduction of the vectors of the ranks up to i, itself included or not.

pub mod linear;
pub mod recursive_doubling;
pub mod shared;

use super::Problem;
use crate::schedule::{Buffer::*, Run};

/// The rank's own contribution.
fn contribution(problem: &Problem) -> Run {
    if problem.in_place { Recv.block(0) } else { Send.block(0) }
}

/// Where a vector can arrive while the contribution is still needed: the receive buffer, unless it holds the
/// contribution; else the given block of scratch.
fn free_place(problem: &Problem, scratch: usize) -> Run {
    if problem.in_place { Scratch.block(scratch) } else { Recv.block(0) }
}
