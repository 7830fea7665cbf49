//! Ring for MPI_Allgather: each rank passes on to the next rank the block that it got from the previous one.
//!
//! p − 1 rounds, p − 1 blocks sent, all to one neighbour.

use super::with_own_block;
use crate::algorithms::building_blocks::ring_allgather::ring_allgather;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "ring",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    idea: "The ranks form a ring. In every round each passes on to the next the block that it got last.",
    avoid_when: "blocks are small, for the number of rounds grows with the number of ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    with_own_block(problem, ring_allgather(rank, problem.size, |_| 1))
}
