//! Recursive doubling for MPI_Allgather: in every round a rank and its partner exchange all blocks that they hold.
//!
//! p a power of two: log2(p) rounds, p − 1 blocks sent. Otherwise pairs of neighbours are folded onto a power of two
//! of ranks: floor(log2 p) + 2 rounds. With e ranks folded onto 2^l, rank 0 sends Σ (2^j + min(2^j, e)) blocks, j
//! from 0 to l − 1, and then all p blocks to the rank that was folded onto it.

use super::with_own_block;
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::fold::{Fold, Role};
use crate::algorithms::building_blocks::recursive_halving::allgather_in_order;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "recursive_doubling",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.1",
    idea: "Partners at distance 1, 2, 4, … exchange all blocks that they have, which become twice as many in \
            every round.",
    avoid_when: "the number of ranks is no power of two, or vectors are long and partners far apart.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    double(problem, rank, Butterfly::farthest_first)
}

/// Returns recursive doubling along a butterfly, its last round first, after folding to a power of two of ranks.
pub(super) fn double(problem: &Problem, rank: usize, butterfly: impl Fn(usize) -> Butterfly) -> Schedule {
    let size = problem.size;
    let fold = Fold::new(size);
    // Folded pairs are neighbours, so a participant brings its block and those before the next participant's.
    let double = |participant| {
        allgather_in_order(butterfly(fold.participants), participant)
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
