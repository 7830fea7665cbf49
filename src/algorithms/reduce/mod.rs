//! `MPI_Reduce`: the root receives the reduction of all ranks' vectors. Only the root has a receive buffer; what the
//! other ranks combine stands in scratch.

pub mod binary_in_order;
pub mod binomial;
pub mod binomial_in_order;
pub mod chain;
pub mod circulant_pipelined;
pub mod knomial;
pub mod linear;
pub mod node_aware_chain;
pub mod node_aware_knomial;
pub mod rabenseifner;
pub mod shared_leaders;
pub mod shared_leaders_pipelined;

use super::Problem;
use super::phases::receive_in_scratch::receive_in_scratch;
use crate::schedule::{Buffer, Schedule};

/// The buffer that holds a rank's own contribution.
fn contribution(problem: &Problem, rank: usize) -> Buffer {
    if problem.in_place && rank == problem.root { Buffer::Recv } else { Buffer::Send }
}

/// Completes a program that combines in the receive buffer.
fn at_root(problem: &Problem, program: Schedule) -> Schedule {
    if program.rank == problem.root { program } else { receive_in_scratch(program) }
}
