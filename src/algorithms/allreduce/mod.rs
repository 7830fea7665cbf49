//! `MPI_Allreduce`: every rank receives the reduction of all ranks' vectors.

pub mod allgather_reduce;
pub mod binary_blocks;
pub mod bine;
pub mod bine_halves;
pub mod circulant;
pub mod linear;
pub mod node_aware;
pub mod node_aware_circulant;
pub mod rabenseifner;
pub mod rabenseifner_far;
pub mod recursive_doubling;
pub mod recursive_multiplying;
pub mod reduce_bcast;
pub mod ring;
pub mod ring_segmented;
pub mod shared_flat;
pub mod shared_leaders;
pub mod shared_multi_leaders;
pub mod shared_multi_leaders_multiplying;
pub mod shared_slices;

use super::Problem;
use crate::schedule::Buffer;

/// The buffer that holds a rank's own contribution.
fn contribution(problem: &Problem) -> Buffer {
    if problem.in_place { Buffer::Recv } else { Buffer::Send }
}

/// Returns the program of a communicator with one rank, whose contribution is the result.
fn alone(problem: &Problem) -> crate::schedule::Schedule {
    let mut program = crate::schedule::Builder::new(0, 1, 1);
    program.copy(contribution(problem).block(0), Buffer::Recv.block(0));
    program.build()
}
