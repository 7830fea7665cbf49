//! Circulant allgather for MPI_Allgather: partners at skips that grow k-fold. The skips work for any p, as powers of
//! two do in recursive doubling.
//!
//! ceil(log_k p) rounds of up to k − 1 messages, p − 1 blocks sent.

use super::with_own_block;
use crate::algorithms::building_blocks::circulant::{allgather, of_rank};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "circulant",
    aliases: &[],
    source: "Träff 2024 (arXiv 2410.14234), the mirror of its reduce-scatter, for k = 2; the larger radices are \
            rustcoll's",
    idea: "Every rank fetches blocks from ranks further on, at skips that grow to half the number of ranks, for \
            any number of ranks.",
    avoid_when: "vectors are long, for then partners that are far apart cost more than neighbours.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    with_own_block(problem, of_rank(rank, allgather(problem.size, problem.radix)))
}
