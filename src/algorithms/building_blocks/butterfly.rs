//! Butterflies among a power of two of ranks: in each of log2(p) rounds every rank meets a partner, and all rounds together
//! lead from any rank to any other.

use super::bine;
use std::ops::Range;

/// Who meets whom in a round.
#[derive(Clone, Copy, Debug)]
enum Distances {
    /// 1, 2, 4, …: what a rank has combined always comes from a contiguous range of ranks.
    Nearest,
    /// p/2, …, 2, 1.
    Farthest,
    /// 1, −1, 3, −5, 11, …: see [`bine`].
    Bine,
}

/// Who meets whom. The rounds are numbered as in halving; doubling takes them backwards.
#[derive(Clone, Copy, Debug)]
pub struct Butterfly {
    size: usize,
    distances: Distances,
}

impl Butterfly {
    /// Partners at distance 1, 2, 4, …. Halving with them keeps the order of operands.
    pub fn nearest_first(size: usize) -> Self {
        Butterfly { size, distances: Distances::Nearest }
    }

    /// Partners at distance p/2, …, 2, 1. Halving with them leaves sections in the order of ranks.
    pub fn farthest_first(size: usize) -> Self {
        Butterfly { size, distances: Distances::Farthest }
    }

    /// Partners at negabinary distances: see [`bine`].
    pub fn bine(size: usize) -> Self {
        Butterfly { size, distances: Distances::Bine }
    }

    /// Number of ranks, a power of two.
    pub fn size(self) -> usize {
        self.size
    }

    /// Number of rounds.
    pub fn rounds(self) -> u32 {
        self.size.ilog2()
    }

    /// Whom a rank meets in a round.
    pub fn partner(self, rank: usize, round: u32) -> usize {
        match self.distances {
            Distances::Nearest => rank ^ 1 << round,
            Distances::Farthest => rank ^ self.size >> (round + 1),
            Distances::Bine => bine::partner(rank, round, self.size),
        }
    }

    /// The rounds, as bits, that lead from one rank to another, if each is taken once and in order.
    pub fn path(self, from: usize, to: usize) -> usize {
        match self.distances {
            Distances::Nearest => from ^ to,
            Distances::Farthest => self.reversed(from ^ to),
            Distances::Bine => bine::path(from, to, self.size),
        }
    }

    /// The section of a vector of `blocks` blocks that a rank is left with after so many rounds of halving: the round's bit in
    /// the path to the rank says whether it keeps the lower or the upper half.
    pub fn section(self, rank: usize, rounds: u32, blocks: usize) -> Range<usize> {
        let path = self.path(0, rank);
        let mut section = 0..blocks;
        for round in 0..rounds {
            let middle = section.start + section.len() / 2;
            section = if path >> round & 1 == 0 { section.start..middle } else { middle..section.end };
        }
        section
    }

    /// The number of the section that is left to a rank in the end.
    pub fn place(self, rank: usize) -> usize {
        self.reversed(self.path(0, rank))
    }

    /// The rank to which a section is left.
    pub fn holder(self, place: usize) -> usize {
        let path = self.reversed(place);
        let taken = (0..self.rounds()).filter(|round| path >> round & 1 == 1);
        taken.fold(0, |rank, round| self.partner(rank, round))
    }

    /// The same bits in the other direction.
    fn reversed(self, bits: usize) -> usize {
        let rounds = self.rounds();
        (0..rounds).map(|round| (bits >> round & 1) << (rounds - 1 - round)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(exponents: Range<u32>) -> impl Iterator<Item = Butterfly> {
        exponents.map(|exponent| 1 << exponent).flat_map(|size| {
            [Butterfly::nearest_first(size), Butterfly::farthest_first(size), Butterfly::bine(size)]
        })
    }

    #[test]
    fn partners_meet_each_other() {
        for butterfly in all(0..8) {
            for (rank, round) in
                (0..butterfly.size).flat_map(|rank| (0..butterfly.rounds()).map(move |round| (rank, round)))
            {
                let partner = butterfly.partner(rank, round);
                assert_eq!(butterfly.partner(partner, round), rank, "{butterfly:?}");
            }
        }
    }

    /// This is what halving rests on.
    #[test]
    fn partners_have_the_same_section_before_they_meet_and_its_halves_afterwards() {
        for butterfly in all(0..8) {
            let section = |rank, rounds| butterfly.section(rank, rounds, butterfly.size);
            for (rank, round) in
                (0..butterfly.size).flat_map(|rank| (0..butterfly.rounds()).map(move |round| (rank, round)))
            {
                let partner = butterfly.partner(rank, round);
                assert_eq!(section(rank, round), section(partner, round), "{butterfly:?}");
                assert_ne!(section(rank, round + 1), section(partner, round + 1), "{butterfly:?}");
            }
        }
    }

    #[test]
    fn each_section_is_left_to_one_rank() {
        for butterfly in all(0..8) {
            for rank in 0..butterfly.size {
                let place = butterfly.place(rank);
                assert_eq!(butterfly.section(rank, butterfly.rounds(), butterfly.size), place..place + 1);
                assert_eq!(butterfly.holder(place), rank);
            }
        }
    }

    #[test]
    fn sections_are_dealt_bit_reversed_or_in_order() {
        let places = |butterfly: Butterfly| [0, 1, 2, 3].map(|rank| butterfly.place(rank));
        assert_eq!(places(Butterfly::nearest_first(4)), [0, 2, 1, 3]);
        assert_eq!(places(Butterfly::farthest_first(4)), [0, 1, 2, 3]);
        assert_eq!(places(Butterfly::bine(4)), [0, 2, 3, 1]);
    }
}
