//! Padded radix-r Bruck for MPI_Alltoallv: as `bruck`, but every block is padded to the length of the longest.
//!
//! First an allreduce of 8 bytes finds n, the bytes of the longest block of all ranks: floor(log2 p) rounds, and two
//! more if p is no power of two. Then rounds and blocks are as in `bruck`, each block of n bytes. A rank sends roughly
//! p·w·(r−1)/r·n bytes with w = ceil(log_r p). It needs 2·p·n bytes of scratch memory, in place 3·p·n, and in addition
//! the bytes that a round sends. It is faster than `bruck_two_phase` if all blocks are short and alike, because most of
//! the first phase is saved. If sender and receiver give different lengths, the bytes that fit arrive without an error.

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
