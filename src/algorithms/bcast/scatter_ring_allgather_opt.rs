//! Bandwidth-saving broadcast: scatter, then an allgather along an opened ring.
//!
//! After the binomial scatter a rank holds the blocks of its whole subtree, and the ring does not bring these again.
//! Rounds and the root's messages are as in `scatter_ring_allgather`. Of its p(p−1) ring messages, one is saved for
//! each block that a rank holds besides its own.

use crate::algorithms::building_blocks::binomial_tree::{scatter, subtree};
use crate::algorithms::building_blocks::ring_allgather::ring_allgather;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "scatter_ring_allgather_opt",
    aliases: &[],
    source: "Zhou, Marjanovic, Niethammer, Gracia 2015",
    idea: "The root scatters the vector along a binomial tree, and the blocks travel around a ring, but not to \
            ranks that have them from the scatter.",
    avoid_when: "vectors are short.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (rank, size) = (problem.relative(rank), problem.size);
    scatter(rank, size)
        .then(ring_allgather(rank, size, |rank| subtree(rank, size).len()))
        .relabel(problem.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages of the ring phase: all but the p − 1 of the scatter.
    fn ring_messages(algorithm: &Algorithm, size: usize, root: usize) -> usize {
        let problem = Problem { root, ..Problem::new(size) };
        let all: usize = (0..size).map(|rank| algorithm.schedule(&problem, rank).messages_sent()).sum();
        all - (size - 1)
    }

    #[test]
    fn messages_saved_by_opening_the_ring() {
        let known =
            [(8, 44, 56), (10, 75, 90), (9, 59, 72), (16, 208, 240), (17, 239, 272), (129, 16063, 16512)];
        for (size, opened, closed) in known {
            for root in [0, 3, size - 1] {
                assert_eq!(ring_messages(&ALGORITHM, size, root), opened, "p = {size}");
                let native = super::super::scatter_ring_allgather::ALGORITHM;
                assert_eq!(ring_messages(&native, size, root), closed, "p = {size}");
            }
        }
    }
}
