//! Allgather by single copies: every rank copies the blocks of the others from their own memory.
//!
//! As `shared`, but ranks show where their blocks lie, and wait in the end until all have copied them.

use super::shared;
use crate::algorithms::building_blocks::slots::lent;
use crate::algorithms::{Algorithm, Body, Requirement};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: "the collectives over KNEM (Ma et al. 2011) and over Cross Memory Attach (Chakraborty et al. 2017)",
    idea: "Every rank tells where its block lies, and copies the blocks of the others from where they lie.",
    avoid_when: "blocks are short, for each copy is a call of the system.",
    parameters: &[],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::SingleCopy],
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};
