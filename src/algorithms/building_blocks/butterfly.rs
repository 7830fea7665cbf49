//! Butterflies among a power of two of ranks. Each of log2(p) rounds pairs every rank with a partner. All
//! rounds together lead from any rank to any other.

use super::bine;
use std::ops::Range;

/// The distances of partners, round by round.
#[derive(Clone, Copy, Debug)]
enum Distances {
    /// 1, 2, 4, …: a rank's partial result always covers a contiguous range of ranks.
    Nearest,
    /// p/2, …, 2, 1.
    Farthest,
    /// 1, −1, 3, −5, 11, …: see [`bine`].
    Bine,
}

/// The partners in each round. Rounds are numbered as in halving; doubling takes them backwards.
#[derive(Clone, Copy, Debug)]
pub struct Butterfly {
    size: usize,
    distances: Distances,
}

impl Butterfly {
    /// Returns the butterfly with distances 1, 2, 4, …. Halving along it keeps the order of operands.
    pub fn nearest_first(size: usize) -> Self {
        Butterfly { size, distances: Distances::Nearest }
    }

    /// Returns the butterfly with distances p/2, …, 2, 1. Halving along it leaves sections in the order of ranks.
    pub fn farthest_first(size: usize) -> Self {
        Butterfly { size, distances: Distances::Farthest }
    }

    /// Returns the butterfly with negabinary distances: see [`bine`].
    pub fn bine(size: usize) -> Self {
        Butterfly { size, distances: Distances::Bine }
    }

    /// Returns the number of ranks, a power of two.
    pub fn size(self) -> usize {
        self.size
    }

    pub fn rounds(self) -> u32 {
        self.size.ilog2()
    }

    pub fn partner(self, rank: usize, round: u32) -> usize {
        match self.distances {
            Distances::Nearest => rank ^ 1 << round,
            Distances::Farthest => rank ^ self.size >> (round + 1),
            Distances::Bine => bine::partner(rank, round, self.size),
        }
    }

    /// Returns the rounds, as bits, that lead from one rank to another if each is taken once and in order.
    pub fn path(self, from: usize, to: usize) -> usize {
        match self.distances {
            Distances::Nearest => from ^ to,
            Distances::Farthest => self.reversed(from ^ to),
            Distances::Bine => bine::path(from, to, self.size),
        }
    }

    /// Returns the section of a vector of `blocks` blocks that `rank` keeps after `rounds` rounds of halving. In each
    /// round the round's bit in the path to the rank says whether the rank keeps the lower (0) or the upper half.
    pub fn section(self, rank: usize, rounds: u32, blocks: usize) -> Range<usize> {
        let path = self.path(0, rank);
        let mut section = 0..blocks;
        for round in 0..rounds {
            let middle = section.start + section.len() / 2;
            section = if path >> round & 1 == 0 { section.start..middle } else { middle..section.end };
        }
        section
    }

    /// Returns the number of the section that `rank` keeps in the end.
    pub fn place(self, rank: usize) -> usize {
        self.reversed(self.path(0, rank))
    }

    /// Returns the rank that keeps section `place` in the end.
    pub fn holder(self, place: usize) -> usize {
        let path = self.reversed(place);
        let taken = (0..self.rounds()).filter(|round| path >> round & 1 == 1);
        taken.fold(0, |rank, round| self.partner(rank, round))
    }

    /// Reverses the order of the bits.
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

    /// Halving relies on this property.
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
