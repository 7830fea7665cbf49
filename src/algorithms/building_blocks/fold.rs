//! Folding any number of ranks onto a power of two. The first ranks form pairs; one rank of each pair, mostly
//! the even one, acts for both. Pairs are neighbours, so the order of operands is kept.

use super::exchange_and_reduce::Accumulator;
use super::recursive_halving::Segments;
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};
use std::ops::Range;

/// p ranks folded onto 2^floor(log2 p) participants.
#[derive(Clone, Copy)]
pub struct Fold {
    /// Number of participants, a power of two.
    pub participants: usize,
    /// Number of pairs, each of which has one participant.
    pub pairs: usize,
    /// A rank that takes part even if it is odd.
    kept: usize,
}

/// What a rank does while the participants work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The rank is a participant with this number and acts for itself alone.
    Single(usize),
    /// The rank is a participant with this number and acts for itself and the other rank of its pair.
    Keeper(usize),
    /// The rank has given its contribution to the other rank of its pair.
    Folded,
}

impl Fold {
    /// Folds `size` ranks. The even rank of each pair is the keeper.
    pub fn new(size: usize) -> Self {
        Fold::keeping(size, 0)
    }

    /// Folds `size` ranks such that the rank `kept` takes part.
    pub fn keeping(size: usize, kept: usize) -> Self {
        let participants = 1 << size.ilog2();
        Fold { participants, pairs: size - participants, kept }
    }

    pub fn role(self, rank: usize) -> Role {
        let participant = self.participant(rank);
        match participant < self.pairs {
            true if self.member(participant) == rank => Role::Keeper(participant),
            true => Role::Folded,
            false => Role::Single(participant),
        }
    }

    /// Returns the other rank of a pair.
    pub fn other(self, rank: usize) -> usize {
        rank ^ 1
    }

    /// Returns the number of the participant that acts for a rank.
    pub fn participant(self, rank: usize) -> usize {
        if rank < 2 * self.pairs { rank / 2 } else { rank - self.pairs }
    }

    /// Returns the rank of a participant.
    pub fn member(self, participant: usize) -> usize {
        match participant < self.pairs {
            true if self.participant(self.kept) == participant => self.kept,
            true => 2 * participant,
            false => participant + self.pairs,
        }
    }
}

/// Reduces vectors of `blocks` blocks among any number of ranks. `among(participant, operand)` reduces among
/// the participants, after keepers have reduced the vectors of their pairs. A folded rank then gets the
/// blocks `share(rank)` of its keeper's receive buffer. Folding adds two rounds.
pub fn reduce_folded(
    (rank, size): (usize, usize),
    blocks: usize,
    contribution: Buffer,
    share: impl Fn(usize) -> Range<usize>,
    among: impl Fn(usize, Buffer) -> Schedule,
) -> Schedule {
    let fold = Fold::new(size);
    let other = fold.other(rank);
    let among = |participant, operand| {
        among(participant, operand).embed(size, |participant| fold.member(participant))
    };
    let before = give_to_keeper(fold, (rank, size), blocks, contribution);
    let mut after = Builder::new(rank, size, blocks);
    match fold.role(rank) {
        Role::Single(participant) => among(participant, contribution),
        Role::Keeper(participant) => {
            after.send(other, Recv.blocks(share(other)));
            before.then(among(participant, Recv)).then(after.build())
        }
        Role::Folded => {
            after.receive(other, Recv.blocks(share(rank)));
            before.then(after.build())
        }
    }
}

/// Folded ranks send their vectors of `blocks` blocks; keepers reduce them with their own.
pub fn give_to_keeper(
    fold: Fold,
    (rank, size): (usize, usize),
    blocks: usize,
    contribution: Buffer,
) -> Schedule {
    let mut program = Builder::new(rank, size, blocks);
    let (given, kept) = match fold.role(rank) {
        Role::Single(_) => (0..0, 0..0),
        Role::Keeper(_) => (0..0, 0..blocks),
        Role::Folded => (0..blocks, 0..0),
    };
    let other = fold.other(rank);
    let mut accumulator = Accumulator::new(rank, contribution, [other]);
    accumulator.exchange(&mut program, other, given, kept.clone());
    accumulator.finish(&mut program, kept);
    program.build()
}

/// Like [`give_to_keeper`], in segments: each rank of a pair reduces one half, then the keeper gets the other half.
pub fn give_to_keeper_by_halves(
    fold: Fold,
    (rank, size): (usize, usize),
    segments: Segments,
    contribution: Buffer,
) -> Schedule {
    let Segments { blocks, length } = segments;
    let mut program = Builder::new(rank, size, blocks);
    let (lower, upper) = (0..blocks / 2, blocks / 2..blocks);
    let other = fold.other(rank);
    let mut accumulator = Accumulator::new(rank, contribution, [other]);
    match fold.role(rank) {
        Role::Single(_) => {}
        Role::Keeper(_) => {
            accumulator.exchange_segments(&mut program, other, upper.clone(), lower.clone(), length);
            accumulator.finish(&mut program, lower);
            program.receive(other, Recv.blocks(upper));
        }
        Role::Folded => {
            accumulator.exchange_segments(&mut program, other, lower, upper.clone(), length);
            program.send(other, accumulator.buffer().blocks(upper));
        }
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_roles_agree() {
        for size in 1..40 {
            for kept in 0..size {
                let fold = Fold::keeping(size, kept);
                for participant in 0..fold.participants {
                    let role = fold.role(fold.member(participant));
                    assert!(role == Role::Single(participant) || role == Role::Keeper(participant));
                }
                let folded = (0..size).filter(|&rank| fold.role(rank) == Role::Folded).count();
                assert_eq!(folded + fold.participants, size);
                assert_ne!(fold.role(kept), Role::Folded);
            }
        }
    }
}
