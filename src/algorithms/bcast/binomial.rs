//! Binomial tree for MPI_Bcast, whole or in segments.
//!
//! ceil(log2 p) rounds of the whole vector. With k segments there are k ceil(log2 p) rounds of one segment, because the root
//! sends every segment ceil(log2 p) times. A rank passes a segment on while the next one arrives.

use crate::algorithms::building_blocks::binomial_tree::{children, parent};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "binomial",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.2",
    idea: "Every rank that has the vector sends it to one that does not, so that twice as many have it after \
            every round.",
    avoid_when: "vectors are long, for the root sends them several times.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let rank = problem.relative(rank);
    tree_broadcast(rank, size, segments, parent(rank), children(rank, size)).relabel(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_receives_once() {
        let problem = Problem { root: 3, ..Problem::new(10) };
        let sent: usize = (0..10).map(|rank| schedule(&problem, rank).messages_sent()).sum();
        assert_eq!(sent, 9);
        assert_eq!(schedule(&problem, 3).messages_sent(), 4);
    }
}
