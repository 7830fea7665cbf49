//! Folding any number of ranks onto a power of two: the first ranks form pairs, and the even one of each stands for
//! both. Pairs are neighbours, so the order of operands is kept.

/// p ranks folded onto 2^floor(log2 p) participants.
#[derive(Clone, Copy)]
pub struct Fold {
    /// Number of participants, a power of two.
    pub participants: usize,
    pairs: usize,
}

/// What a rank does while the participants work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Takes part under this rank of the participants, for nobody but itself.
    Single(usize),
    /// Takes part under this rank of the participants, for itself and the next rank.
    Keeper(usize),
    /// Has given its contribution to the rank before it.
    Folded,
}

impl Fold {
    /// Folds `size` ranks.
    pub fn new(size: usize) -> Self {
        let participants = 1 << size.ilog2();
        Fold { participants, pairs: size - participants }
    }

    /// The role of a rank.
    pub fn role(self, rank: usize) -> Role {
        match rank < 2 * self.pairs {
            true if rank.is_multiple_of(2) => Role::Keeper(rank / 2),
            true => Role::Folded,
            false => Role::Single(rank - self.pairs),
        }
    }

    /// The rank behind a rank of the participants.
    pub fn member(self, participant: usize) -> usize {
        if participant < self.pairs { 2 * participant } else { participant + self.pairs }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_and_roles_agree() {
        for size in 1..40 {
            let fold = Fold::new(size);
            for participant in 0..fold.participants {
                let role = fold.role(fold.member(participant));
                assert!(role == Role::Single(participant) || role == Role::Keeper(participant));
            }
            let folded = (0..size).filter(|&rank| fold.role(rank) == Role::Folded).count();
            assert_eq!(folded + fold.participants, size);
        }
    }
}
