//! `MPI_Barrier`: no rank leaves before all have entered. Each message is a token: one byte of no meaning.

pub mod dissemination;
pub mod recursive_doubling;
pub mod ring;
pub mod shared;
pub mod shared_leaders;
pub mod tree;

use crate::algorithms::digits::{digits, least_radix};
use crate::schedule::{Buffer::*, Run};

/// Returns for each of ceil(log_k p) rounds of a dissemination the distances k^i, 2k^i, …, (k − 1)k^i between partners.
/// k is the smallest radix with as few rounds as `radix`, because it has the fewest messages.
fn distances(size: usize, radix: usize) -> impl ExactSizeIterator<Item = impl Iterator<Item = usize>> {
    let radix = least_radix(size, radix);
    (0..digits(size, radix)).map(move |round| {
        let nearest = radix.pow(round);
        (nearest..size).step_by(nearest).take(radix - 1)
    })
}

/// The token that a rank sends.
pub(super) fn token() -> Run {
    Send.block(0)
}

/// Where a token arrives. Tokens in flight at the same time need different numbers.
pub(super) fn place(number: usize) -> Run {
    Scratch.block(number)
}
