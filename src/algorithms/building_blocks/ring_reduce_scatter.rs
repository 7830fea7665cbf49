//! Reduce-scatter along a ring: partial sums travel and grow at every rank.

use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

/// Reduces `contribution` over all ranks. Afterwards rank i holds block i of the result in the receive
/// buffer. p − 1 rounds of one block. Each run of blocks is a single block.
pub fn ring_reduce_scatter(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    // If the contribution is in the send buffer, partial sums can arrive where the result goes.
    let incoming = if contribution == Send { Recv } else { Scratch };
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut program = Builder::new(rank, size, size);
    // The partial sum of block b starts at rank b + 1 and is complete at rank b.
    let round = |program: &mut Builder, step: usize| {
        let sent = (rank + size - step) % size;
        let received = (rank + 2 * size - step - 1) % size;
        let partial = if step == 1 { contribution } else { incoming };
        program.exchange((next, partial.block(sent)), (previous, incoming.block(received)));
        program.reduce(contribution.block(received), incoming.block(received), incoming.block(received));
    };
    // The first round is outside the loop: it sends a block of the contribution, not a partial sum. So is the last one,
    // which brings the rank's own block: reduce-scatters have another place for it.
    for steps in [1..size.min(2), 2..size - 1, (size - 1).max(2)..size] {
        program.repeat(steps, round);
    }
    // Block `rank` is complete on this rank. A single rank has received nothing.
    let finished = if size == 1 { contribution } else { incoming };
    program.copy(finished.block(rank), Recv.block(rank));
    program.build()
}
