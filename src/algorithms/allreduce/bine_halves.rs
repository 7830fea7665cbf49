//! Bine halving and doubling for MPI_Allreduce: reduce-scatter with partners at negabinary distances 1, −1, 3, −5, 11, …, then the
//! allgather that mirrors it.
//!
//! Rounds and volume as in `rabenseifner`, also with segments, over distances that are a third shorter. Which section of the vector
//! a rank is left with does not matter, so each message is one run.
//! Combines contributions out of order, so the operator must commute.

use super::rabenseifner::{self, halve_and_double};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "bine_halves",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311); the distances: De Sensi et al. 2024 (Swing, arXiv 2401.09356)",
    idea: "The ranks reduce the vector in halves of halves, so that each rank has a part of the result. Partners are at distance \
            1, 1, 3, 5, 11, …, to the right and to the left in turn. Then the ranks collect the parts in the same way backwards.",
    avoid_when: "vectors are short, or the number of ranks is just below a power of two.",
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
    ..rabenseifner::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_double(problem, rank, Butterfly::bine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_are_those_of_rabenseifner() {
        for size in 2..70 {
            for segments in [1, 3, 64] {
                let problem = Problem { segments, ..Problem::new(size) };
                for rank in 0..size {
                    let counts = |algorithm: &Algorithm| {
                        let program = algorithm.schedule(&problem, rank);
                        (program.messages_sent(), program.blocks_sent(), program.blocks_reduced())
                    };
                    assert_eq!(counts(&ALGORITHM), counts(&rabenseifner::ALGORITHM));
                }
            }
        }
    }
}
