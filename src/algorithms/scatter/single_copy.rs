//! Scatter by single copies: every rank copies its block from the root's own memory.
//!
//! As `shared`, but the root shows where the blocks lie, and waits in the end until all have copied them. With `MPI_Scatterv` it shows the lengths
//! of the blocks first; if all are short, it shows the blocks themselves.

use super::shared;
use crate::algorithms::building_blocks::slots::lent;
use crate::algorithms::{Algorithm, Body, Collective, Requirement};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "single_copy",
    source: "the collectives over KNEM (Ma et al. 2011) and over Cross Memory Attach (Chakraborty et al. 2017)",
    idea: "The root tells each rank where its block lies, and they copy them from there.",
    avoid_when: "blocks are short, for each copy is a call of the system, or many ranks copy from one at once.",
    parameters: &[],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::SingleCopy],
    body: Body::Messages(|problem, rank| lent(shared::schedule(problem, rank))),
    ..shared::ALGORITHM
};

pub const SCATTERV: Algorithm = Algorithm {
    collectives: &[Collective::Scatterv],
    requires: &[
        Requirement::OneNode,
        Requirement::SharedMemory,
        Requirement::SingleCopy,
        Requirement::LongestBlock,
    ],
    ..ALGORITHM
};
