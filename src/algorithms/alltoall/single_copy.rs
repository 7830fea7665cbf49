//! Alltoall by single copies: every rank copies its blocks from the memory of the others.
//!
//! As `shared`, but ranks publish the addresses of blocks. At the end each rank waits until the others have copied
//! its blocks. In place every block is overwritten, so ranks publish copies.
//!
//! In `MPI_Alltoallv` and `MPI_Alltoallw` the ranks first publish the lengths of the blocks. If all are short, they publish
//! the blocks themselves.

use super::shared;
use crate::algorithms::building_blocks::slots::{
    NEEDS_OF_SINGLE_COPIES, NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS, SOURCE_OF_SINGLE_COPIES, lent,
};
use crate::algorithms::{Algorithm, Body, Collective};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "Every rank tells each other one where its block lies, and copies its own ones from where they lie.",
    avoid_when: "blocks are short, for each copy is a call of the system; or in place, where ranks copy twice.",
    parameters: &[],
    requires: NEEDS_OF_SINGLE_COPIES,
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

pub const ALLTOALLV: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv, Collective::Alltoallw],
    requires: NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS,
    ..ALGORITHM
};
