//! Ring for MPI_Allreduce: first partial sums travel around the ring, then the finished blocks.
//!
//! 2(p − 1) rounds of one p-th of the vector; 2n(p−1)/p bytes sent, n(p−1)/p reduced.
//! Combines contributions in ring order, so the operator must commute.

use super::{alone, contribution};
use crate::algorithms::building_blocks::ring_allgather::ring_allgather;
use crate::algorithms::building_blocks::ring_reduce_scatter::ring_reduce_scatter;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "ring",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 5 (pairwise and ring); Patarasuk, Yuan 2009",
    idea: "Blocks travel around a ring and every rank adds its part to them; then the finished blocks travel \
            around it once more.",
    avoid_when: "vectors are short, because there are two rounds for each rank.",
    parameters: &[],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone(problem);
    }
    ring_reduce_scatter(rank, size, contribution(problem)).then(ring_allgather(rank, size, |_| 1))
}
