//! Allgather by recursive doubling among a power of two of ranks: rank i brings block i.

use crate::schedule::{Buffer::Recv, Builder, Schedule};

/// log2(p) rounds, (p − 1) blocks sent. `size` is a power of two.
pub fn recursive_doubling_allgather(rank: usize, size: usize) -> Schedule {
    let mut program = Builder::new(rank, size, size);
    for round in 0..size.ilog2() {
        // Before this round the ranks of an aligned group of 2^round hold each other's blocks.
        let group = |rank: usize| rank >> round << round..((rank >> round) + 1) << round;
        let partner = rank ^ (1 << round);
        program.exchange((partner, Recv.blocks(group(rank))), (partner, Recv.blocks(group(partner))));
    }
    program.build()
}
