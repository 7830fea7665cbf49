//! Barrier in shared memory: dissemination by flags.
//!
//! Source: Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991.
//! ceil(log2 p) flags are raised and awaited, at distances 1, 2, 4, …

use crate::algorithms::digits::doublings;
use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Barrier,
    name: "shared",
    aliases: &[],
    source: "Hensgen, Finkel, Manber 1988",
    parameters: &[],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    schedule,
    cost,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (size, rounds) = (problem.size, doublings(problem.size));
    let mut program = Builder::new(rank, size, 1).slots(rounds);
    for round in 0..rounds {
        program.notify(round);
        program.awaited((rank + size - (1 << round)) % size, round);
    }
    program.build()
}

fn cost(problem: &Problem) -> Cost {
    Cost::of_flags(doublings(problem.size), 0, 0)
}
