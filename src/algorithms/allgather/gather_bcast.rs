//! Gather and broadcast for MPI_Allgather, both along the binomial tree of rank 0.
//!
//! 2 ceil(log2 p) rounds; rank 0 receives p − 1 blocks and sends ceil(log2 p) whole vectors.

use super::with_own_block;
use crate::algorithms::building_blocks::binomial_tree::{children, gather, parent};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "gather_bcast",
    aliases: &[],
    source: "the guideline MPI_Allgather ⪯ MPI_Gather + MPI_Bcast (Hunold, Carpen-Amarie 2018, PGMPITuneLib)",
    idea: "Rank 0 gathers all blocks along a binomial tree and broadcasts them along it.",
    avoid_when: "nearly any other algorithm is available, because this one is the baseline for the others.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let vector = tree_broadcast(rank, size, 1, parent(rank), children(rank, size));
    with_own_block(problem, gather(rank, size).then(vector.refine(size, |block| block * size)))
}
