//! `MPI_Reduce`: the root receives the reduction of all ranks' vectors. Only the root has a receive buffer;
//! the other ranks combine in scratch.

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
pub mod shared_leaders;
pub mod shared_leaders_pipelined;
pub mod shared_multi_leaders;
pub mod shared_multi_leaders_pipelined;
pub mod shared_slices;
pub mod single_copy;

use super::Problem;
use super::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};

/// Returns the buffer that holds a rank's own contribution.
fn contribution(problem: &Problem, rank: usize) -> Buffer {
    if problem.in_place && rank == problem.root { Recv } else { Send }
}

/// Returns where the root's contribution to a block lies, apart from the result. In place it is copied to scratch,
/// unless the root is the last rank: then it is the first right operand, where operators leave their result.
fn contribution_beside_result(problem: &Problem, block: usize, program: &mut Builder) -> Run {
    let Problem { size, root, .. } = *problem;
    let own = contribution(problem, root).block(block);
    if own.buffer == Send || root + 1 == size {
        return own;
    }
    program.copy(own, Scratch.block(block));
    Scratch.block(block)
}

/// Returns the buffer of a rank's result on its node: its contribution if the rank is alone there.
fn combined(contribution: Buffer, population: usize) -> Buffer {
    if population == 1 { contribution } else { Recv }
}

/// Completes a program that combines in the receive buffer: a rank other than the root combines in scratch.
fn at_root(problem: &Problem, program: Schedule) -> Schedule {
    if program.rank == problem.root { program } else { receive_in_scratch(program) }
}
