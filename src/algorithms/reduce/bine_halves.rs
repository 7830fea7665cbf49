//! Bine halving and gather for MPI_Reduce: reduce-scatter with partners at negabinary distances 1, −1, 3, −5, 11, …, then the parts
//! are gathered at the root along the same distances backwards.
//!
//! Rounds and volume as in `rabenseifner`, also with segments, over distances that are a third shorter.
//! Combines contributions out of order, so the operator must commute.

use super::rabenseifner::{self, halve_and_gather};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "bine_halves",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "The ranks reduce the vector in halves of halves, so that each rank has a part of the result. Partners are at distance \
            1, 1, 3, 5, 11, …, to the right and to the left in turn. Then the root gathers the parts.",
    avoid_when: "vectors are short, or the number of ranks is just below a power of two.",
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
    ..rabenseifner::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_gather(problem, rank, Butterfly::bine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn volume_is_that_of_rabenseifner() {
        for size in 2..40 {
            for root in 0..size {
                let total = |algorithm: &Algorithm| {
                    let programs = algorithm.programs(&Problem { root, ..Problem::new(size) });
                    let sent: usize = programs.iter().map(Schedule::blocks_sent).sum();
                    (programs[root].rounds(), programs[root].blocks_reduced(), sent)
                };
                assert_eq!(total(&ALGORITHM), total(&rabenseifner::ALGORITHM), "p = {size}, root {root}");
            }
        }
    }
}
