//! `MPI_Barrier`: no rank leaves before all have come. What travels is a token of one byte; only that it came matters.

pub mod dissemination;
pub mod recursive_doubling;
pub mod ring;
pub mod shared;
pub mod shared_leaders;
pub mod tree;

use crate::algorithms::digits::{digits, least_radix};
use crate::schedule::{Buffer::*, Run};

/// For each round of a dissemination: the distances to the ranks that a rank hears from, which are k^i, 2k^i, …, (k − 1)k^i. ceil(log_k p) rounds.
/// k is the least radix with as few rounds as the given one, because it has the fewest messages.
fn distances(size: usize, radix: usize) -> impl ExactSizeIterator<Item = impl Iterator<Item = usize>> {
    let radix = least_radix(size, radix);
    (0..digits(size, radix)).map(move |round| {
        let nearest = radix.pow(round);
        (nearest..size).step_by(nearest).take(radix - 1)
    })
}

/// The token that a rank sends.
fn token() -> Run {
    Send.block(0)
}

/// Where a token arrives. Those that are under way at the same time need different places.
fn place(number: usize) -> Run {
    Scratch.block(number)
}
