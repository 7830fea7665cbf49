//! Recursive doubling for MPI_Allgather with the longest distance first: a rank sends one block to its partner at
//! distance p/2, and in the last round half of all blocks to a neighbour.
//!
//! Doubling in this order bit-reverses the blocks. So rank r first sends its block to the rank whose bits are those
//! of r reversed, and then each message is one run. p a power of two: log2(p) + 1 rounds, p blocks sent; one fewer of
//! each if r is its own reversal. Otherwise pairs of neighbours are folded, as in `recursive_doubling`.

use super::recursive_doubling::{self, double};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::{Algorithm, Body, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    name: "recursive_doubling_far",
    source: "as `recursive_doubling`, with the distances of `butterfly` backwards",
    idea: "Blocks trade places. Then partners at distance p/2, …, 2, 1 exchange all blocks that they have, which become twice as \
            many in every round.",
    avoid_when: "the number of ranks is no power of two, or vectors are so short that one more round counts.",
    body: Body::Messages(schedule),
    ..recursive_doubling::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    double(problem, rank, Butterfly::nearest_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 2..8 {
            let size = 1 << exponent;
            let programs = ALGORITHM.programs(&Problem::new(size));
            // Rank 1 is the bit reversal of rank p/2, rank 0 of itself.
            let counts = |rank: usize| (programs[rank].rounds(), programs[rank].blocks_sent());
            assert_eq!(counts(1), (exponent + 1, size));
            assert_eq!(counts(0), (exponent, size - 1));
        }
    }
}
