//! The step that all halving and doubling reductions are made of.
//!
//! MPI's operators leave their result where the right operand was, and not even those that commute give the same bits
//! with exchanged operands: the maximum of a number and a NaN does not. So the operand of the lower rank is always the
//! left one, and the result moves between two buffers.

use crate::schedule::{Buffer, Buffer::*, Builder};
use std::ops::Range;

/// Where a rank's partial result stands, and where its partner's next one may arrive.
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    rank: usize,
    operand: Buffer,
    landing: Buffer,
}

impl Accumulator {
    /// Starts with the contribution of a rank that will meet these partners, in this order. With a send buffer, the
    /// buffers are chosen such that the last result stands in the receive buffer.
    pub fn new(rank: usize, contribution: Buffer, partners: impl IntoIterator<Item = usize>) -> Self {
        let higher: Vec<bool> = partners.into_iter().map(|partner| partner > rank).collect();
        // The result moves in rounds with a higher partner; out of the send buffer it has to move anyway.
        let moves = higher.iter().skip(1).filter(|&&is_higher| is_higher).count();
        let first = if moves % 2 == 0 { Recv } else { Scratch };
        let landing = match contribution {
            Send if higher.first() == Some(&true) => first,
            Send => other(first),
            Recv | Scratch => other(contribution),
        };
        Accumulator { rank, operand: contribution, landing }
    }

    /// The buffer that holds the partial result.
    pub fn buffer(self) -> Buffer {
        self.operand
    }

    /// Sends the blocks `given` of the partial result to the partner, receives the partner's blocks `kept`, and reduces
    /// them with the own ones. Either range may be empty.
    pub fn exchange(
        &mut self,
        program: &mut Builder,
        partner: usize,
        given: Range<usize>,
        kept: Range<usize>,
    ) {
        let (mine, theirs) = (self.operand.blocks(kept.clone()), self.landing.blocks(kept.clone()));
        program.exchange((partner, self.operand.blocks(given)), (partner, theirs));
        let result = if partner > self.rank { self.landing } else { self.below() };
        match partner > self.rank {
            true => program.reduce(mine, theirs, result.blocks(kept)),
            false => program.reduce(theirs, mine, result.blocks(kept)),
        }
        (self.operand, self.landing) = (result, other(result));
    }

    /// Brings the blocks of the final result to the receive buffer.
    pub fn finish(self, program: &mut Builder, blocks: Range<usize>) {
        program.copy(self.operand.blocks(blocks.clone()), Recv.blocks(blocks));
    }

    /// Where a result goes whose right operand is the rank's own.
    fn below(self) -> Buffer {
        if self.operand == Send { other(self.landing) } else { self.operand }
    }
}

fn other(buffer: Buffer) -> Buffer {
    if buffer == Recv { Scratch } else { Recv }
}
