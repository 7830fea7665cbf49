//! Alltoall by single copies: every rank copies its blocks from the memory of the others.
//!
//! As `shared`, but ranks show where the blocks lie, and wait in the end until all have copied them. In place every block is overwritten, so
//! that ranks show copies.
//!
//! With `MPI_Alltoallv` the ranks show each other the lengths of the blocks first. If all are short, they show the blocks themselves. With
//! `MPI_Alltoallw` each rank copies as much as it expects.

use super::shared;
use crate::algorithms::building_blocks::slots::lent;
use crate::algorithms::{Algorithm, Body, Collective, Requirement};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall, Collective::Alltoallw],
    name: "single_copy",
    source: "the collectives over KNEM (Ma et al. 2011) and over Cross Memory Attach (Chakraborty et al. 2017)",
    idea: "Every rank tells each other one where its block lies, and copies its own ones from where they lie.",
    avoid_when: "blocks are short, for each copy is a call of the system; or in place, where ranks copy twice.",
    parameters: &[],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::SingleCopy],
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

pub const ALLTOALLV: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv],
    requires: &[
        Requirement::OneNode,
        Requirement::SharedMemory,
        Requirement::SingleCopy,
        Requirement::LongestBlock,
    ],
    ..ALGORITHM
};
