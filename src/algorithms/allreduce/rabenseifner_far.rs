//! Rabenseifner's algorithm for MPI_Allreduce with the longest distances first: halving begins with the partner at distance p/2.
//!
//! Rounds and volume as in `rabenseifner`, also with segments. The longest messages, half a vector, go to the partner
//! at distance p/2. If ranks are placed on nodes in turn (round robin), this partner is near.
//! Combines contributions of far ranks first, so the operator must commute.

use super::rabenseifner::{self, halve_and_double};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "rabenseifner_far",
    aliases: &[],
    source: "Rabenseifner 2004, with the distances of recursive halving in Thakur, Rabenseifner, Gropp 2005, section 4.4",
    idea: "The vector is reduced in halves of halves and collected backwards, as in `rabenseifner`; but the half \
            vectors go to the partner at distance p/2, the last pieces to a neighbour.",
    avoid_when: "neighbouring ranks are on one node, for then the longest messages go furthest.",
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
    ..rabenseifner::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_double(problem, rank, Butterfly::farthest_first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn the_longest_messages_go_furthest() {
        let program = schedule(&Problem::new(8), 1);
        let sent = program.steps.iter().filter_map(|step| match step {
            Step::Send { peer, message, .. } => Some((*peer as usize ^ 1, message.blocks())),
            _ => None,
        });
        assert!(sent.eq([(4, 4), (2, 2), (1, 1), (1, 1), (2, 2), (4, 4)]));
    }
}
