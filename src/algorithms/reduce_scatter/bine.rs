//! Bine halving for MPI_Reduce_scatter: partners at negabinary distances 1, −1, 3, −5, 11, …, the shortest first, halve
//! what they have. Then ranks send the sections to their owners.
//!
//! The longest messages go to neighbours, over distances that are a third shorter than in `butterfly`. The blocks that
//! a rank keeps are not contiguous. To keep each message one run, sections are dealt in another order than blocks, and
//! are sent to their owners at the end. The authors' measurements call this way "send". Other ways cost a permutation
//! of the vector, or a message for each block.
//! Rounds and volume as in `butterfly`: for p a power of two, log2(p) + 1 rounds, p blocks sent, p − 1 reduced.
//! Combines contributions out of order, so the operator must commute.

use super::butterfly::{self, halve_and_deliver};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "bine",
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "Partners at distance 1, 1, 3, 5, 11, …, to the right and to the left in turn, halve what they have; in the end blocks go \
            where they belong.",
    avoid_when: "the number of ranks is no power of two, or vectors are so short that one more round counts.",
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
    ..butterfly::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_deliver(problem.size, rank, Butterfly::bine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 1..8 {
            let size = 1 << exponent;
            for program in ALGORITHM.programs(&Problem::new(size)) {
                let sends = Butterfly::bine(size).place(program.rank) != program.rank;
                assert_eq!(program.rounds(), exponent + usize::from(sends));
                assert_eq!(program.blocks_sent(), size - 1 + usize::from(sends));
                assert_eq!(program.blocks_reduced(), size - 1);
            }
        }
    }
}
