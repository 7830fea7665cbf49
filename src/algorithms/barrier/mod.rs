//! `MPI_Barrier`: no rank leaves before all have come. What travels is a token of one byte; only that it came matters.

pub mod dissemination;
pub mod recursive_doubling;
pub mod ring;
pub mod shared;
pub mod shared_leaders;
pub mod tree;

use crate::schedule::{Buffer::*, Run};

/// The token that a rank sends.
fn token() -> Run {
    Send.block(0)
}

/// Where a token arrives. Those that are under way at the same time need different places.
fn place(number: usize) -> Run {
    Scratch.block(number)
}
