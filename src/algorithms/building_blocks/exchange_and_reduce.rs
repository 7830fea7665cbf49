//! The step of all halving and doubling reductions: exchange blocks with a partner, then reduce.
//!
//! MPI's operators leave their result in the right operand. Exchanged operands need not give the same bits,
//! even if the operator commutes (the maximum of a number and a NaN does not). So the lower rank's operand is
//! always the left one, and the result moves between two buffers.

use crate::schedule::{Buffer, Buffer::*, Builder, Message, Post, Run};
use std::ops::Range;

/// The buffer of a rank's partial result (`operand`), and the buffer for its partner's next one (`landing`).
#[derive(Clone, Copy, Debug)]
pub struct Accumulator {
    rank: usize,
    operand: Buffer,
    landing: Buffer,
}

impl Accumulator {
    /// Starts with `contribution` of `rank`, which will meet `partners` in this order. If `contribution` is
    /// the send buffer, the last result ends in the receive buffer.
    pub fn new(rank: usize, contribution: Buffer, partners: impl IntoIterator<Item = usize>) -> Self {
        let higher: Vec<bool> = partners.into_iter().map(|partner| partner > rank).collect();
        // A round with a higher partner moves the result. The first round moves it out of the send buffer anyway.
        let moves = higher.iter().skip(1).filter(|&&is_higher| is_higher).count();
        let first = if moves % 2 == 0 { Recv } else { Scratch };
        let landing = match contribution {
            Send if higher.first() == Some(&true) => first,
            Send => other(first),
            Recv | Scratch | Shared(_) => other(contribution),
        };
        Accumulator { rank, operand: contribution, landing }
    }

    /// Returns the buffer that holds the partial result.
    pub fn buffer(self) -> Buffer {
        self.operand
    }

    /// Sends the blocks `given` of the partial result to the partner, receives the partner's blocks `kept`,
    /// and reduces them with this rank's blocks. Either range may be empty.
    pub fn exchange(
        &mut self,
        program: &mut Builder,
        partner: usize,
        given: Range<usize>,
        kept: Range<usize>,
    ) {
        self.exchange_ranges(program, partner, [given], [kept]);
    }

    /// Does [`Accumulator::exchange`] for two equally long ranges in segments of `length` blocks. Each
    /// segment is reduced while the next one is exchanged.
    pub fn exchange_segments(
        &mut self,
        program: &mut Builder,
        partner: usize,
        given: Range<usize>,
        kept: Range<usize>,
        length: usize,
    ) {
        assert_eq!(given.len(), kept.len());
        let mut exchanges = segments(given, length).zip(segments(kept.clone(), length));
        let mut post_next = |program: &mut Builder| {
            exchanges.next().map(|(given, kept)| self.post(program, partner, [given], [kept]))
        };
        let mut under_way = post_next(program);
        for kept in segments(kept, length) {
            let current = std::mem::replace(&mut under_way, post_next(program));
            program.wait(current.into_iter().flatten());
            self.reduce(program, partner, [kept]);
        }
        self.turn(partner);
    }

    /// Does [`Accumulator::exchange`] for blocks that are not contiguous.
    pub fn exchange_ranges<const N: usize>(
        &mut self,
        program: &mut Builder,
        partner: usize,
        given: [Range<usize>; N],
        kept: [Range<usize>; N],
    ) {
        self.post(program, partner, given, kept.clone());
        program.end_round();
        self.reduce(program, partner, kept);
        self.turn(partner);
    }

    /// Starts to receive the blocks `kept` and to send the blocks `given`.
    fn post<const N: usize>(
        &self,
        program: &mut Builder,
        partner: usize,
        given: [Range<usize>; N],
        kept: [Range<usize>; N],
    ) -> Vec<Post> {
        let sent: Message = given.into_iter().map(|blocks| self.operand.blocks(blocks)).collect();
        let received: Message = kept.into_iter().map(|blocks| self.landing.blocks(blocks)).collect();
        [program.receive(partner, received), program.send(partner, sent)].into_iter().flatten().collect()
    }

    /// Reduces the blocks `kept`, which have arrived, with this rank's blocks.
    fn reduce<const N: usize>(&self, program: &mut Builder, partner: usize, kept: [Range<usize>; N]) {
        let result = self.result(partner);
        for blocks in kept {
            let (mine, theirs) = (self.operand.blocks(blocks.clone()), self.landing.blocks(blocks.clone()));
            let (left, right) = in_rank_order((self.rank, mine), (partner, theirs));
            program.reduce(left, right, result.blocks(blocks));
        }
    }

    /// Makes the result with this partner the operand for the next partner.
    fn turn(&mut self, partner: usize) {
        let result = self.result(partner);
        (self.operand, self.landing) = (result, other(result));
    }

    /// Copies the blocks of the final result to the receive buffer.
    pub fn finish(self, program: &mut Builder, blocks: Range<usize>) {
        program.copy(self.operand.blocks(blocks.clone()), Recv.blocks(blocks));
    }

    /// Returns the buffer for the result with this partner: that of the right operand if it may be written.
    fn result(self, partner: usize) -> Buffer {
        match self.operand {
            _ if partner > self.rank => self.landing,
            Send => other(self.landing),
            operand => operand,
        }
    }
}

/// Returns the left and the right one of two ranks' operands: the lower rank's is the left one.
pub fn in_rank_order((rank, mine): (usize, Run), (partner, theirs): (usize, Run)) -> (Run, Run) {
    if partner < rank { (theirs, mine) } else { (mine, theirs) }
}

/// Cuts a range into pieces of `length` blocks; the last one may be shorter.
fn segments(range: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range.step_by(length).map(move |start| start..end.min(start + length))
}

fn other(buffer: Buffer) -> Buffer {
    if buffer == Recv { Scratch } else { Recv }
}
