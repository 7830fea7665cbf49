//! Scatter and ring allgather for MPI_Bcast, in MPICH's native form: the ring is closed.
//!
//! ceil(log2 p) + p − 1 rounds, 2n(p−1)/p bytes sent by the root; p(p−1) messages in the ring.

use crate::algorithms::building_blocks::binomial_tree::scatter;
use crate::algorithms::building_blocks::ring_allgather::ring_allgather;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "scatter_ring_allgather",
    aliases: &["scatter_allgather_ring"],
    source: "van de Geijn; Thakur, Rabenseifner, Gropp 2005, section 4.2",
    idea: "The root scatters the vector along a binomial tree, and the blocks travel around a ring to \
            everybody.",
    avoid_when: "compared with the same whose ring does not send what is already there.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (rank, size) = (problem.relative(rank), problem.size);
    scatter(rank, size).then(ring_allgather(rank, size, |_| 1)).relabel(problem.root)
}
