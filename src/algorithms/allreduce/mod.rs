//! `MPI_Allreduce`: every rank receives the reduction of all ranks' vectors.

pub mod binary_blocks;
pub mod rabenseifner;
pub mod recursive_doubling;
pub mod ring;

use super::Problem;
use crate::schedule::Buffer;

/// The buffer that holds a rank's own contribution.
fn contribution(problem: &Problem) -> Buffer {
    if problem.in_place { Buffer::Recv } else { Buffer::Send }
}
