//! The mock-ups of performance guidelines: each does what one collective does by calls of others, which therefore should not be
//! faster (Hunold and Carpen-Amarie 2018, GL1 to GL22).
//!
//! What calls are made, in which memory and with which roots, is that of the paper's table 1, but for these: a scan needs
//! memory for a vector, for its operands must not be exchanged; where the paper deals out chunks, blocks are balanced, which
//! needs no memory; and operands are kept apart from results where MPI has it so.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod bcast;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter_block;
pub mod scan;
pub mod scatter;

use super::{Act, Algorithm, Area, Body, Calls, Collective, Parts, Problem, Region, Requirement};

/// The registry's entry of a mock-up.
const fn mock_up(
    collectives: &'static [Collective],
    name: &'static str,
    source: &'static str,
    idea: &'static str,
    parts: Parts,
    acts: fn(&Problem, usize) -> Vec<Act>,
) -> Algorithm {
    Algorithm {
        collectives,
        name,
        aliases: &[],
        source,
        idea,
        avoid_when: "",
        parameters: &[],
        requires: &[Requirement::OtherCollectives],
        body: Body::Calls(Calls { parts, acts }),
    }
}

/// Where a rank's only block stands: in place where the result goes.
fn own_block(problem: &Problem, rank: usize, in_place: bool) -> Region {
    debug_assert!(rank < problem.size);
    if in_place { Area::Recv.block(rank) } else { Area::Send.block(rank) }
}
