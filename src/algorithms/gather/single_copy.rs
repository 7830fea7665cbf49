//! Gather by single copies: the root copies each block from the rank's own memory.
//!
//! As `shared`, but the ranks publish the addresses of their blocks. At the end each waits until the root has copied its
//! block. In `MPI_Gatherv` the ranks first publish the lengths. If all blocks are short, they publish the blocks themselves.

use super::shared;
use crate::algorithms::building_blocks::slots::{
    NEEDS_OF_SINGLE_COPIES, NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS, SOURCE_OF_SINGLE_COPIES, lent,
};
use crate::algorithms::{Algorithm, Body, Collective};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "Each rank tells the root where its block lies, and the root copies it from there.",
    avoid_when: "blocks are short, for each copy is a call of the system, or many ranks wait for the root.",
    parameters: &[],
    requires: NEEDS_OF_SINGLE_COPIES,
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

pub const GATHERV: Algorithm = Algorithm {
    collectives: &[Collective::Gatherv],
    requires: NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS,
    ..ALGORITHM
};
