//! Allgather by single copies: every rank copies the blocks of the others from their own memory.
//!
//! As `shared`, but a rank publishes the address of its block. At the end it waits until all have copied the block.

use super::shared;
use crate::algorithms::building_blocks::slots::{NEEDS_OF_SINGLE_COPIES, SOURCE_OF_SINGLE_COPIES, lent};
use crate::algorithms::{Algorithm, Body};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "Every rank tells where its block lies, and copies the blocks of the others from where they lie.",
    avoid_when: "blocks are short, for each copy is a call of the system.",
    parameters: &[],
    requires: NEEDS_OF_SINGLE_COPIES,
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};
