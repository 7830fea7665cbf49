//! Reduce-scatter by recursive halving along a [`Butterfly`] among a power of two of ranks; also the
//! allgather that mirrors it, and a gather.

use super::AHEAD;
use super::butterfly::Butterfly;
use super::exchange_and_reduce::Accumulator;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segments {
    /// Number of blocks of the vector, a multiple of the number of ranks.
    pub blocks: usize,
    /// Number of blocks in a segment.
    pub length: usize,
}

impl Segments {
    /// Cuts a vector for halving among `size` ranks into at least `segments` segments, and fewer than twice as many.
    pub fn new(segments: usize, size: usize) -> Self {
        let blocks = size * segments.div_ceil(size);
        Segments { blocks, length: blocks / segments }
    }

    /// Leaves a vector of `blocks` blocks in one segment.
    pub fn whole(blocks: usize) -> Self {
        Segments { blocks, length: blocks }
    }

    /// Overlaps the reduction of a segment with the exchange of others, if there are several.
    pub fn overlapped(self, program: Schedule) -> Schedule {
        if self.length < self.blocks { program.overlapped(AHEAD) } else { program }
    }
}

/// Reduces the contributions of all ranks. Afterwards each rank holds the result for its section in the receive buffer.
/// log2(p) rounds, (1 − 1/p) of the vector sent and reduced. The number of blocks is a multiple of the number of ranks.
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

/// Like [`allgather`], but rank i brings block i of the vector. Each block first goes to the rank whose
/// section it is, unless it is there already. If blocks move first: log2(p) + 1 rounds, p blocks sent.
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
        // In the last round of the path from the root this rank sends. In the rounds before that one, it collects.
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
