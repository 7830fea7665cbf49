//! Neighbor exchange for MPI_Allgather: each rank exchanges with its two neighbours in turn, and passes on the pair
//! of blocks that it received last.
//!
//! p even: p/2 rounds, p − 1 blocks sent.

use super::with_own_block;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "neighbor_exchange",
    aliases: &["neighbor"],
    source: "Chen, Zhang, Zhang, Yuan 2005",
    idea: "Every rank exchanges pairs of blocks with its two neighbours in turn. There must be an even number \
            of ranks.",
    avoid_when: "blocks are small, for the number of rounds grows with the number of ranks.",
    parameters: &[],
    requires: &[Requirement::EvenSize],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    // Ranks 2i and 2i + 1 form pair i. In every round a rank changes sides; its partner faces the opposite way.
    let turn = |round: usize, position: usize, distance: usize, length: usize| {
        let forward = round.is_multiple_of(2) == rank.is_multiple_of(2);
        (position + if forward { distance } else { length - distance }) % length
    };
    let neighbor = |round| turn(round, rank, 1, size);
    // The pair whose blocks a round brings. Round 0 completes the rank's own pair.
    let pair = |round: usize| {
        let pair = turn(round, rank / 2, round.div_ceil(2), size / 2);
        Recv.blocks(2 * pair..2 * pair + 2)
    };
    program.exchange((neighbor(0), Recv.block(rank)), (neighbor(0), Recv.block(neighbor(0))));
    for round in 1..size / 2 {
        program.exchange((neighbor(round), pair(round - 1)), (neighbor(round), pair(round)));
    }
    with_own_block(problem, program.build())
}
