//! Recursive doubling for MPI_Barrier: partners at distance 1, 2, 4, … exchange tokens.
//!
//! p a power of two: log2(p) rounds of one message from each rank. Otherwise surplus ranks are folded, in two more
//! rounds: in the first they send tokens to their partners, in the last the partners send tokens back.

use super::{place, token};
use crate::algorithms::building_blocks::fold::{Fold, Role};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "recursive_doubling",
    aliases: &[],
    source: "Open MPI (recursive_doubling); MPICH",
    idea: "Partners at distance 1, 2, 4, … tell each other that they have come.",
    avoid_when: "the number of ranks is no power of two, where dissemination needs fewer rounds.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let fold = Fold::new(size);
    let other = fold.other(rank);
    let double = |participant| {
        double(participant, fold.participants).embed(size, |participant| fold.member(participant))
    };
    let mut before = Builder::new(rank, size, 1);
    let mut after = Builder::new(rank, size, 1);
    match fold.role(rank) {
        Role::Single(participant) => double(participant),
        Role::Keeper(participant) => {
            before.receive(other, place(0));
            after.send(other, token());
            before.build().then(double(participant)).then(after.build())
        }
        Role::Folded => {
            before.send(other, token());
            after.receive(other, place(0));
            before.build().then(after.build())
        }
    }
}

/// Returns the rounds among `size` participants; `size` is a power of two.
fn double(rank: usize, size: usize) -> Schedule {
    let mut program = Builder::new(rank, size, 1);
    for round in 0..size.ilog2() {
        let partner = rank ^ (1 << round);
        program.exchange((partner, token()), (partner, place(0)));
    }
    program.build()
}
