//! Reduce-scatter by recursive halving among a power of two of ranks, and the allgather that mirrors it, or a gather.
//!
//! Partners are at distance 1, 2, 4, …, so that what a rank combines always comes from a contiguous range of ranks:
//! the order of operands is kept. In return the sections of the vector are dealt in bit-reversed order.

use super::exchange_and_reduce::Accumulator;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};
use std::ops::Range;

/// The section of a vector of `blocks` blocks that a rank is left with after so many rounds of halving: bit j of the
/// rank says whether round j keeps the lower or the upper half.
pub fn section(rank: usize, rounds: u32, blocks: usize) -> Range<usize> {
    let mut section = 0..blocks;
    for round in 0..rounds {
        let middle = section.start + section.len() / 2;
        section = if rank >> round & 1 == 0 { section.start..middle } else { middle..section.end };
    }
    section
}

/// Reduces the contributions of all ranks; afterwards each rank holds the result for its section, in the receive buffer.
/// log2(p) rounds, (1 − 1/p) of the vector sent and reduced.
///
/// `size` is a power of two that divides `blocks`.
pub fn reduce_scatter(rank: usize, size: usize, blocks: usize, contribution: Buffer) -> Schedule {
    let rounds = size.ilog2();
    let partner = |round: u32| rank ^ (1 << round);
    let mut program = Builder::new(rank, size, blocks);
    let mut accumulator = Accumulator::new(rank, contribution, (0..rounds).map(partner));
    for round in 0..rounds {
        let (given, kept) = (section(partner(round), round + 1, blocks), section(rank, round + 1, blocks));
        accumulator.exchange(&mut program, partner(round), given, kept);
    }
    accumulator.finish(&mut program, section(rank, rounds, blocks));
    program.build()
}

/// Gives every rank the sections of all others. log2(p) rounds, (1 − 1/p) of the vector sent.
pub fn allgather(rank: usize, size: usize, blocks: usize) -> Schedule {
    let mut program = Builder::new(rank, size, blocks);
    for round in (0..size.ilog2()).rev() {
        let partner = rank ^ (1 << round);
        let (theirs, mine) = (section(partner, round + 1, blocks), section(rank, round + 1, blocks));
        program.exchange((partner, Recv.blocks(mine)), (partner, Recv.blocks(theirs)));
    }
    program.build()
}

/// Gives the rank `root` the sections of all others. log2(p) rounds, (1 − 1/p) of the vector received.
pub fn gather(rank: usize, size: usize, blocks: usize, root: usize) -> Schedule {
    let mut program = Builder::new(rank, size, blocks);
    // Who differs from the root in a higher bit has given its sections away.
    for round in (0..size.ilog2()).rev().take_while(|round| rank >> (round + 1) == root >> (round + 1)) {
        let partner = rank ^ (1 << round);
        if rank >> round == root >> round {
            program.receive(partner, Recv.blocks(section(partner, round + 1, blocks)));
        } else {
            program.send(partner, Recv.blocks(section(rank, round + 1, blocks)));
        }
        program.end_round();
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_partition_the_vector() {
        for exponent in 0..6 {
            let mut starts: Vec<usize> =
                (0..1 << exponent).map(|rank| section(rank, exponent, 64).start).collect();
            starts.sort();
            let width = 64 >> exponent;
            assert!(starts.iter().enumerate().all(|(position, &start)| start == position * width));
        }
    }

    #[test]
    fn sections_are_dealt_bit_reversed() {
        assert_eq!([0, 1, 2, 3].map(|rank| section(rank, 2, 4).start), [0, 2, 1, 3]);
    }
}
