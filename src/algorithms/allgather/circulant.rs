//! Circulant allgather for MPI_Allgather: partners at halving skips, which do for any p what powers of two do for
//! recursive doubling.
//!
//! Source: Träff 2024 (arXiv 2410.14234), the mirror of its reduce-scatter.
//! ceil(log2 p) rounds, p − 1 blocks sent. Loses when: vectors are long, for partners are far apart.

use super::with_own_block;
use crate::algorithms::phases::circulant::{allgather, allgather_cost};
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::cost::Cost;
use crate::schedule::Schedule;

pub const ALLGATHER: Algorithm = Algorithm {
    collective: Collective::Allgather,
    name: "circulant",
    aliases: &[],
    source: "Träff 2024",
    parameters: &[],
    requires: &[],
    schedule,
    cost,
};

pub const ALLGATHERV: Algorithm = Algorithm { collective: Collective::Allgatherv, ..ALLGATHER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    with_own_block(problem, allgather(rank, problem.size))
}

fn cost(problem: &Problem) -> Cost {
    allgather_cost(problem.size)
}
