//! Bine doubling for MPI_Allgather: partners at negabinary distances …, 11, −5, 3, −1, 1, longest first, exchange
//! all blocks that they have.
//!
//! Distances are a third shorter than in `recursive_doubling_far`, and the longest messages go to neighbours. The
//! blocks that a rank collects are not adjacent in the vector. So in the first round each block moves to the rank
//! that owns its section of the butterfly. From then on each message is one run. The authors' measurements call
//! this variant "send". The others permute the vector, send each block alone, or send longer messages further.
//! p a power of two: log2(p) + 1 rounds, p blocks sent. Otherwise pairs of neighbours are folded onto a power of
//! two of ranks, as in `recursive_doubling`.

use super::recursive_doubling::{self, double};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "bine",
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "Blocks trade places. Then partners at distance …, 11, 5, 3, 1, 1, to the right and to the left in turn, exchange all \
            blocks that they have, which become twice as many in every round.",
    avoid_when: "the number of ranks is no power of two, or vectors are so short that one more round counts.",
    body: Body::Messages(schedule),
    ..recursive_doubling::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    double(problem, rank, Butterfly::bine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 1..8 {
            let size = 1 << exponent;
            for program in ALGORITHM.programs(&Problem::new(size)) {
                let trades = Butterfly::bine(size).place(program.rank) != program.rank;
                assert_eq!(program.rounds(), exponent + usize::from(trades));
                assert_eq!(program.blocks_sent(), size - 1 + usize::from(trades));
            }
        }
    }
}
