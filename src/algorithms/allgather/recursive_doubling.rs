//! Recursive doubling for MPI_Allgather: in every round a rank and its partner exchange all that they hold.
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.1.
//! p a power of two: log2(p) rounds, p − 1 blocks sent. Otherwise neighbours are folded onto a power of two of ranks:
//! floor(log2 p) + 2 rounds, and some ranks send twice as much.
//! Loses when: p is not a power of two; vectors are long, for partners are far apart.

use super::with_own_block;
use crate::algorithms::phases::fold::{Fold, Role};
use crate::algorithms::phases::recursive_doubling_allgather::recursive_doubling_allgather;
use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALLGATHER: Algorithm = Algorithm {
    collective: Collective::Allgather,
    name: "recursive_doubling",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    parameters: &[],
    requires: &[],
    schedule,
};

pub const ALLGATHERV: Algorithm = Algorithm { collective: Collective::Allgatherv, ..ALLGATHER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let fold = Fold::new(size);
    // Pairs are neighbours: what a participant brings are the blocks up to the next participant's.
    let double = |participant| {
        recursive_doubling_allgather(participant, fold.participants)
            .refine(size, |participant| fold.member(participant))
            .embed(size, |participant| fold.member(participant))
    };
    let mut before = Builder::new(rank, size, size);
    let mut after = Builder::new(rank, size, size);
    let all = Recv.blocks(0..size);
    let program = match fold.role(rank) {
        Role::Single(participant) => double(participant),
        Role::Keeper(participant) => {
            before.receive(rank + 1, Recv.block(rank + 1));
            after.send(rank + 1, all);
            before.build().then(double(participant)).then(after.build())
        }
        Role::Folded => {
            before.send(rank - 1, Recv.block(rank));
            after.receive(rank - 1, all);
            before.build().then(after.build())
        }
    };
    with_own_block(problem, program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_blocks() {
        for rank in 0..16 {
            let schedule = schedule(&Problem::new(16), rank);
            assert_eq!((schedule.rounds(), schedule.blocks_sent()), (4, 15));
        }
        for rank in 0..13 {
            assert!(schedule(&Problem::new(13), rank).rounds() <= 3 + 2);
        }
    }
}
