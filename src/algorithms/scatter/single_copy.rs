//! Scatter by single copies: every rank copies its block from the root's own memory.
//!
//! As `shared`, but the root publishes the addresses of the blocks. At the end it waits until all have been copied. In
//! `MPI_Scatterv` the root first publishes the lengths. If all blocks are short, it publishes the blocks themselves.

use super::shared;
use crate::algorithms::building_blocks::slots::{
    NEEDS_OF_SINGLE_COPIES, NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS, SOURCE_OF_SINGLE_COPIES, lent,
};
use crate::algorithms::{Algorithm, Body, Collective};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "The root tells each rank where its block lies, and they copy them from there.",
    avoid_when: "blocks are short, for each copy is a call of the system, or many ranks copy from one at once.",
    parameters: &[],
    requires: NEEDS_OF_SINGLE_COPIES,
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

pub const SCATTERV: Algorithm = Algorithm {
    collectives: &[Collective::Scatterv],
    requires: NEEDS_OF_SINGLE_COPIES_WITH_LENGTHS,
    ..ALGORITHM
};
