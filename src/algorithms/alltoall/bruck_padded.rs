//! Padded radix-r Bruck for MPI_Alltoallv: `bruck`, in which every block travels as if it were as long as the longest.
//!
//! First an allreduce of 8 bytes, the longest block of all ranks: ceil(log2 p) rounds, two more off powers of two. Then
//! rounds and blocks as in `bruck`, each block of n bytes, where n is the longest:
//! p·w·(r−1)/r·n bytes sent, roughly, with w = ceil(log_r p). Needs 2·p·n bytes of scratch memory, in place 3·p·n, and as much
//! again as a round sends. Against `bruck_two_phase` it wins when all blocks are short and alike, because it saves most of the
//! first stage. A block that is longer or shorter than its receiver says goes unnoticed: what fits is delivered.

use super::bruck;
use crate::algorithms::{Algorithm, Collective, Requirement};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv],
    name: "bruck_padded",
    aliases: &[],
    source: "Fan et al. 2022 (HPDC: non-uniform all-to-all)",
    idea: "Bruck's algorithm in which every block travels as if it were as long as the longest one, which the \
            ranks find out first.",
    avoid_when: "blocks are large or differ much, for one long block makes all of them long.",
    requires: &[Requirement::LongestBlock],
    ..bruck::ALGORITHM
};
