//! Allgather along a ring: each rank passes on to the next rank what it got from the previous one.

use crate::schedule::{Buffer::Recv, Builder, Schedule};

/// Gives all ranks all blocks. Rank i already holds `held(i)` blocks from block i on (at least its own), and
/// does not get them again. At most p − 1 rounds of one block.
pub fn ring_allgather(rank: usize, size: usize, held: impl Fn(usize) -> usize) -> Schedule {
    let mut program = Builder::new(rank, size, size);
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    // In step s block i − s travels from rank i − 1 to rank i; rank i holds blocks i to i + held(i) − 1, so the last
    // held(i) − 1 steps would bring nothing new.
    let steps_into = |rank: usize| size - held(rank);
    let round = |program: &mut Builder, step: usize| {
        if step <= steps_into(rank) {
            program.receive(previous, Recv.block((rank + size - step) % size));
        }
        if step <= steps_into(next) {
            program.send(next, Recv.block((rank + size + 1 - step) % size));
        }
        program.end_round();
    };
    // The first round is outside the loop, because `with_own_block` changes its sends.
    for steps in [1..size.min(2), 2..size] {
        program.repeat(steps, round);
    }
    program.build()
}
