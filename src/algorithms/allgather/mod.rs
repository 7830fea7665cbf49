//! `MPI_Allgather` and `MPI_Allgatherv`: every rank receives the block of each rank. Both use the same schedules,
//! because every rank knows the length of each block.

pub mod bine;
pub mod bruck;
pub mod circulant;
pub mod gather_bcast;
pub mod linear;
pub mod neighbor_exchange;
pub mod node_aware;
pub mod pat;
pub mod recursive_doubling;
pub mod recursive_doubling_far;
pub mod ring;
pub mod shared;
pub mod shared_leaders;
pub mod shared_multi_leaders;
pub mod single_copy;
pub mod sparbit;

use super::Problem;
use crate::schedule::{Buffer::*, Schedule, Step};

/// Adapts a program that expects the rank's own block in the receive buffer to calls that are not in place. The first
/// round sends the block from the send buffer. Meanwhile the rank copies it, unless a later round receives it back.
fn with_own_block(problem: &Problem, mut program: Schedule) -> Schedule {
    if problem.in_place {
        return program;
    }
    let (source, target) = (Send.block(program.rank), Recv.block(program.rank));
    let first_round = program.steps.iter().position(|step| matches!(step, Step::Wait { .. }));
    let first_round = first_round.unwrap_or(program.steps.len());
    for step in &mut program.steps[..first_round] {
        if let Step::Send { message, .. } = step {
            assert_eq!(message.single(), Some(target), "nothing else is there yet");
            *message = source.into();
        }
    }
    let touches = |step: &&Step| step.runs().iter().any(|run| run.overlaps(target));
    let comes_back = matches!(program.steps[first_round..].iter().find(touches), Some(Step::Receive { .. }));
    if !comes_back {
        program.insert(first_round, Step::Copy { source, target });
    }
    program
}
