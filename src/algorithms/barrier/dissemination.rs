//! Dissemination barrier: in every round a rank tells the one at distance 1, 2, 4, … ahead.
//!
//! ceil(log2 p) rounds for any p, of one message from each rank.

use super::{place, token};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "dissemination",
    aliases: &["bruck"],
    source: "Hensgen, Finkel, Manber 1988",
    idea: "In round k every rank tells the rank 2^k further on, and with it about all of whom it has heard.",
    avoid_when: "many ranks share a network card, for all of them send in every round.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, 1);
    for round in 0..size.next_power_of_two().ilog2() {
        let distance = 1 << round;
        program.exchange(((rank + distance) % size, token()), ((rank + size - distance) % size, place(0)));
    }
    program.build()
}
