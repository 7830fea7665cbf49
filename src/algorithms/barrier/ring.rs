//! Double ring for MPI_Barrier: a token goes around until all ranks have entered, and once more to release them.
//!
//! 2(p − 1) messages, one after another. On its second way around, the token stops at the last rank that has to be
//! released.

use super::{place, token};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "ring",
    aliases: &["double_ring"],
    source: "Open MPI (double_ring)",
    idea: "A token goes around the ring until all have come, and once more to tell everybody.",
    avoid_when: "there are more than a few ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut program = Builder::new(rank, size, 1);
    // Hop h brings the token from rank h to rank h + 1, modulo p.
    for hop in 0..2 * (size - 1) {
        if (hop + 1) % size == rank {
            program.receive(previous, place(0));
            program.end_round();
        }
        if hop % size == rank {
            program.send(next, token());
            program.end_round();
        }
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_token_hops_from_rank_to_rank_almost_twice_round() {
        for size in 1..40 {
            let sent: usize = (0..size).map(|rank| schedule(&Problem::new(size), rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (size - 1));
        }
    }
}
