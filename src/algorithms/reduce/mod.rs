//! `MPI_Reduce`: the root receives the reduction of all ranks' vectors. Only the root has a receive buffer; what the
//! other ranks combine stands in scratch.

pub mod binary_in_order;
pub mod bine;
pub mod bine_halves;
pub mod binomial;
pub mod binomial_in_order;
pub mod chain;
pub mod circulant_pipelined;
pub mod knomial;
pub mod linear;
pub mod node_aware_chain;
pub mod node_aware_knomial;
pub mod rabenseifner;
pub mod shared_flat;
pub mod shared_leaders;
pub mod shared_leaders_pipelined;
pub mod shared_multi_leaders;
pub mod shared_multi_leaders_pipelined;
pub mod shared_slices;

use super::Problem;
use super::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};

/// The buffer that holds a rank's own contribution.
fn contribution(problem: &Problem, rank: usize) -> Buffer {
    if problem.in_place && rank == problem.root { Recv } else { Send }
}

/// The root's contribution to a block, where the result will not overwrite it: in place it is copied to scratch. That of the last
/// rank need not be, for it is the first operand from the right, where operators leave their result.
fn contribution_beside_result(problem: &Problem, block: usize, program: &mut Builder) -> Run {
    let Problem { size, root, .. } = *problem;
    let own = contribution(problem, root).block(block);
    if own.buffer == Send || root + 1 == size {
        return own;
    }
    program.copy(own, Scratch.block(block));
    Scratch.block(block)
}

/// The buffer that holds what a rank has combined on its node: its contribution, if it is alone there.
fn combined(contribution: Buffer, population: usize) -> Buffer {
    if population == 1 { contribution } else { Recv }
}

/// Completes a program that combines in the receive buffer.
fn at_root(problem: &Problem, program: Schedule) -> Schedule {
    if program.rank == problem.root { program } else { receive_in_scratch(program) }
}
