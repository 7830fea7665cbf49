//! Pairwise exchange for MPI_Alltoall and its variants: one partner at a time.
//!
//! p − 1 rounds of one block each.

use super::{copy_own_block, with_input};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall, Collective::Alltoallv, Collective::Alltoallw],
    name: "pairwise",
    aliases: &["pairwise_exchange"],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.3",
    idea: "In every round each rank exchanges blocks with one partner, with another one each time.",
    avoid_when: "blocks are small, and each round waits for the slowest pair.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    copy_own_block(problem, &mut program, rank);
    program.repeat(1..size, |program, round| {
        let (target, source) = partners(rank, size, round);
        program.exchange((target, Send.block(target)), (source, Recv.block(source)));
    });
    with_input(problem, program.build())
}

/// Returns a rank's target and source: one partner (by exclusive or) for both if `size` is a power of two, otherwise
/// the ranks at distance `round` ahead and behind.
fn partners(rank: usize, size: usize, round: usize) -> (usize, usize) {
    if size.is_power_of_two() {
        (rank ^ round, rank ^ round)
    } else {
        ((rank + round) % size, (rank + size - round) % size)
    }
}
