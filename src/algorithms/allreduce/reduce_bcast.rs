//! Reduce and broadcast for MPI_Allreduce, both along the binomial tree of rank 0.
//!
//! 2 ceil(log2 p) rounds; 2(p − 1) messages of the whole vector, the fewest possible. With k segments 2k ceil(log2 p)
//! rounds of one segment, because a rank passes one on while the next one arrives. Keeps the order of operands.

use super::contribution;
use crate::algorithms::building_blocks::binomial_tree::{children, nearest_first, parent};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "reduce_bcast",
    aliases: &["nonoverlapping"],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.5; Open MPI (nonoverlapping)",
    idea: "Rank 0 reduces along a binomial tree and broadcasts the result along it.",
    avoid_when: "messages are cheap, for recursive doubling needs half as many rounds.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, .. } = *problem;
    // The child with the smallest subtree is the next in rank order.
    tree_reduce(rank, size, segments, contribution(problem), parent(rank), nearest_first(rank, size))
        .then(tree_broadcast(rank, size, segments, parent(rank), children(rank, size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_of_the_tree_carries_the_vector_twice() {
        for size in 1..40 {
            let sent: usize = (0..size).map(|rank| schedule(&Problem::new(size), rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (size - 1));
        }
    }
}
