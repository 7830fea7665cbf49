//! Circulant alltoall: a block's distance is a sum of some skips ceil(p/2), …, 2, 1, and the block travels these.
//!
//! ceil(log2 p) rounds of one message, for any p. As in `bruck_modified`, blocks arrive at their final places. A block
//! moves once for each skip of its distance, so a rank sends as many blocks as all distances together have skips.

use super::routes;
use crate::algorithms::building_blocks::circulant;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "circulant",
    aliases: &[],
    source: "Träff 2024 (arXiv 2410.14234), whose reduce-scatter without its reduction this is",
    idea: "Every block travels the skips of which its distance is the sum; they shrink from half the number of \
            ranks to 1.",
    avoid_when: "blocks are large, for each of them travels several times.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    routes::travel(problem, rank, &skips(problem.size), 1)
}

fn skips(size: usize) -> Vec<usize> {
    circulant::skips(size, 2).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_lead_there() {
        for size in 1..200 {
            routes::tests::assert_routes_lead_there(size, &skips(size), 1);
        }
    }

    #[test]
    fn powers_of_two_send_half_the_blocks_in_every_round() {
        assert_eq!(schedule(&Problem::new(512), 7).blocks_sent(), 9 * 256);
    }
}
