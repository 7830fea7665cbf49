//! The mock-ups of performance guidelines (Hunold and Carpen-Amarie 2018, GL1 to GL22). Each mock-up does the
//! work of one collective by calls of others, so the collective should not be slower than its mock-up.
//!
//! Calls, memory and roots are those of the paper's table 1, with three exceptions. A scan needs memory for a
//! vector, because its operands must not be exchanged. Where the paper deals out chunks, blocks are balanced,
//! which needs no memory. Operands and results have separate memory where MPI requires that.

pub mod allgather;
pub mod allreduce;
pub mod alltoall;
pub mod bcast;
pub mod gather;
pub mod reduce;
pub mod reduce_scatter_block;
pub mod scan;
pub mod scatter;

use super::{Act, Algorithm, Area, AreaBlocks, Body, Calls, Collective, Parts, Problem, Requirement};

/// Returns the registry's entry of a mock-up.
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
        requires: match parts {
            // Behind the elements of a vector that interleave, such as columns of a matrix, there is no room for others.
            // MPI's own operators take only elements that do not.
            Parts::Padded if collectives[0].reduces() => {
                &[Requirement::OtherCollectives, Requirement::Predefined]
            }
            _ => &[Requirement::OtherCollectives],
        },
        body: Body::Calls(Calls { parts, acts }),
    }
}

/// Returns where a rank's only input block lies: if in place, where the result goes.
fn own_block(problem: &Problem, rank: usize, in_place: bool) -> AreaBlocks {
    debug_assert!(rank < problem.size);
    if in_place { Area::Recv.block(rank) } else { Area::Send.block(rank) }
}
