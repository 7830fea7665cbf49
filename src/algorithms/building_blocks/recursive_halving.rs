//! Reduce-scatter by recursive halving among a power of two of ranks, and the allgather that mirrors it, or a gather, along a
//! [`Butterfly`].

use super::AHEAD;
use super::butterfly::Butterfly;
use super::exchange_and_reduce::Accumulator;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};

/// How a vector is cut for halving in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Into so many blocks, a multiple of the number of ranks.
    pub blocks: usize,
    /// So many blocks are a segment.
    pub length: usize,
}

impl Segments {
    /// At least `segments` segments, fewer than twice as many, for halving among `size` ranks.
    pub fn new(segments: usize, size: usize) -> Self {
        let blocks = size * segments.div_ceil(size);
        Segments { blocks, length: blocks / segments }
    }

    /// A vector of so many blocks in one piece.
    pub fn whole(blocks: usize) -> Self {
        Segments { blocks, length: blocks }
    }

    /// A program in which a segment is reduced while others are under way, where there are several.
    pub fn overlapped(self, program: Schedule) -> Schedule {
        if self.length < self.blocks { program.overlapped(AHEAD) } else { program }
    }
}

/// Reduces the contributions of all ranks; afterwards each rank holds the result for its section, in the receive buffer.
/// log2(p) rounds, (1 − 1/p) of the vector sent and reduced. The number of ranks divides that of blocks.
pub fn reduce_scatter(
    butterfly: Butterfly,
    rank: usize,
    segments: Segments,
    contribution: Buffer,
) -> Schedule {
    let (rounds, blocks) = (butterfly.rounds(), segments.blocks);
    let partner = |round: u32| butterfly.partner(rank, round);
    let mut program = Builder::new(rank, butterfly.size(), blocks);
    let mut accumulator = Accumulator::new(rank, contribution, (0..rounds).map(partner));
    for round in 0..rounds {
        let left = |rank: usize| butterfly.section(rank, round + 1, blocks);
        let (given, kept) = (left(partner(round)), left(rank));
        accumulator.exchange_segments(&mut program, partner(round), given, kept, segments.length);
    }
    accumulator.finish(&mut program, butterfly.section(rank, rounds, blocks));
    program.build()
}

/// Gives every rank the sections of all others. log2(p) rounds, (1 − 1/p) of the vector sent.
pub fn allgather(butterfly: Butterfly, rank: usize, blocks: usize) -> Schedule {
    let mut program = Builder::new(rank, butterfly.size(), blocks);
    for round in (0..butterfly.rounds()).rev() {
        let partner = butterfly.partner(rank, round);
        let held = |rank: usize| Recv.blocks(butterfly.section(rank, round + 1, blocks));
        program.exchange((partner, held(rank)), (partner, held(partner)));
    }
    program.build()
}

/// The same where rank i brings block i of the vector: before that, each block goes to the rank whose section it is, unless it is
/// there. Then log2(p) + 1 rounds, p blocks sent.
pub fn allgather_in_order(butterfly: Butterfly, rank: usize) -> Schedule {
    let (size, place) = (butterfly.size(), butterfly.place(rank));
    let mut first = Builder::new(rank, size, size);
    if place != rank {
        first.exchange((butterfly.holder(rank), Recv.block(rank)), (place, Recv.block(place)));
    }
    first.build().then(allgather(butterfly, rank, size))
}

/// Gives the rank `root` the sections of all others. log2(p) rounds, (1 − 1/p) of the vector received.
pub fn gather(butterfly: Butterfly, rank: usize, blocks: usize, root: usize) -> Schedule {
    let mut program = Builder::new(rank, butterfly.size(), blocks);
    let path = butterfly.path(root, rank);
    for round in (0..butterfly.rounds()).rev() {
        let partner = butterfly.partner(rank, round);
        let held = |rank: usize| Recv.blocks(butterfly.section(rank, round + 1, blocks));
        // The last round on the way from the root is the first one on the way back: before it a rank collects.
        match path >> round {
            0 => program.receive(partner, held(partner)),
            1 => program.send(partner, held(rank)),
            _ => break,
        };
        program.end_round();
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_as_many_as_asked_for_where_ranks_allow() {
        assert_eq!(Segments::new(1, 8), Segments::whole(8));
        assert_eq!(Segments::new(4, 8), Segments { blocks: 8, length: 2 });
        assert_eq!(Segments::new(3, 8), Segments { blocks: 8, length: 2 });
        assert_eq!(Segments::new(8, 8), Segments { blocks: 8, length: 1 });
        assert_eq!(Segments::new(20, 8), Segments { blocks: 24, length: 1 });
    }
}
