//! The step that all halving and doubling reductions are made of.
//!
//! MPI's operators leave their result where the right operand was, and not even those that commute give the same bits
//! with exchanged operands: the maximum of a number and a NaN does not. So the operand of the lower rank is always the
//! left one, and the result moves between two buffers.

use crate::schedule::{Buffer, Buffer::*, Builder, Message, Run};
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
            Recv | Scratch | Shared(_) => other(contribution),
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
        self.exchange_ranges(program, partner, [given], [kept]);
    }

    /// [`Accumulator::exchange`] of blocks that do not lie together.
    pub fn exchange_ranges<const N: usize>(
        &mut self,
        program: &mut Builder,
        partner: usize,
        given: [Range<usize>; N],
        kept: [Range<usize>; N],
    ) {
        let (operand, landing) = (self.operand, self.landing);
        let sent: Message = given.into_iter().map(|blocks| operand.blocks(blocks)).collect();
        let received: Message = kept.iter().map(|blocks| landing.blocks(blocks.clone())).collect();
        program.exchange((partner, sent), (partner, received));
        let result = if partner > self.rank { landing } else { self.below() };
        for blocks in kept {
            let (mine, theirs) = (operand.blocks(blocks.clone()), landing.blocks(blocks.clone()));
            let (left, right) = in_rank_order((self.rank, mine), (partner, theirs));
            program.reduce(left, right, result.blocks(blocks));
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

/// The operands of two ranks as left and right one: that of the lower rank is the left one.
pub fn in_rank_order((rank, mine): (usize, Run), (partner, theirs): (usize, Run)) -> (Run, Run) {
    if partner < rank { (theirs, mine) } else { (mine, theirs) }
}

fn other(buffer: Buffer) -> Buffer {
    if buffer == Recv { Scratch } else { Recv }
}
