//! `MPI_Bcast`: the root's vector reaches every rank. Its only buffer is the receive buffer.

pub mod binomial;
pub mod scatter_recursive_doubling_allgather;
pub mod scatter_ring_allgather;
pub mod scatter_ring_allgather_opt;

use super::Problem;

/// A rank's number when counted from the root: the root is 0.
fn relative(problem: &Problem, rank: usize) -> usize {
    (rank + problem.size - problem.root) % problem.size
}
