//! Neighbourhood collectives by single copies: every rank copies its blocks from the memory of its neighbours.
//!
//! As `shared`, but if a block is long, ranks publish the addresses of blocks. At the end each rank waits until the others have
//! ended the call.

use super::shared;
use crate::algorithms::building_blocks::slots::{SOURCE_OF_SINGLE_COPIES, lent};
use crate::algorithms::{Algorithm, Body, Collective, Requirement};

pub const ALLTOALL: Algorithm = Algorithm {
    collectives: &[
        Collective::NeighborAlltoall,
        Collective::NeighborAlltoallv,
        Collective::NeighborAlltoallw,
    ],
    name: "single_copy",
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "Every rank tells its neighbours where their blocks lie, and copies its own ones from where they lie.",
    avoid_when: "blocks are short, for each copy is a call of the system.",
    parameters: &[],
    requires: &[
        Requirement::OneNode,
        Requirement::SharedMemory,
        Requirement::SingleCopy,
        Requirement::NeighboursOfNode,
        Requirement::LongestBlock,
    ],
    body: Body::Messages(|problem, rank| lent(shared::ALLTOALL.schedule(problem, rank))),
    ..shared::ALLTOALL
};

pub const ALLGATHER: Algorithm = Algorithm {
    collectives: shared::ALLGATHER.collectives,
    body: Body::Messages(|problem, rank| lent(shared::ALLGATHER.schedule(problem, rank))),
    ..ALLTOALL
};
