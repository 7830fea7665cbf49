//! Ring for MPI_Reduce_scatter: partial sums travel around the ring and grow at every rank.
//!
//! p − 1 rounds of one block; p − 1 blocks sent, all to one neighbour, and reduced.
//! Combines contributions in ring order, so the operator must commute.

use super::alone;
use crate::algorithms::building_blocks::ring_reduce_scatter::ring_reduce_scatter;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "ring",
    aliases: &[],
    source: "Patarasuk, Yuan 2009; Open MPI (ring)",
    idea: "Partial sums travel around a ring, and every rank adds its part to them, until each comes to the \
            rank whose block it is.",
    avoid_when: "blocks are small, for the number of rounds grows with the number of ranks.",
    parameters: &[],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    if problem.size == 1 {
        return alone();
    }
    // Blocks of other ranks pass through scratch.
    let place = |run: Run| match run.buffer {
        Recv if run != Recv.block(rank) => run.in_buffer(Scratch),
        _ => run,
    };
    ring_reduce_scatter(rank, problem.size, Send).map_runs(place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_ranks_do_not_make_the_program_longer() {
        let steps = |size| ALGORITHM.schedule(&Problem::new(size), size / 3).steps.len();
        assert_eq!(steps(100), steps(1000));
    }
}
