//! Scatter and ring allgather for MPI_Bcast, in MPICH's native form: the ring is closed.
//!
//! Source: van de Geijn; Thakur, Rabenseifner, Gropp 2005, section 4.2.
//! ceil(log2 p) + p − 1 rounds, 2n(p−1)/p bytes per rank; p(p−1) messages in the ring.
//! Loses to: `scatter_ring_allgather_opt`, which does not send what is already there.

use crate::algorithms::phases::binomial_tree::scatter;
use crate::algorithms::phases::ring_allgather::ring_allgather;
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "scatter_ring_allgather",
    aliases: &["scatter_allgather_ring"],
    source: "van de Geijn; Thakur, Rabenseifner, Gropp 2005, section 4.2",
    parameters: &[],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (rank, size) = (problem.relative(rank), problem.size);
    scatter(rank, size).then(ring_allgather(rank, size, |_| 1)).relabel(problem.root)
}
