//! Parallel aggregated trees (PAT) for MPI_Allgather: blocks go down binomial trees, each block its longest hop
//! first. A message has at most w blocks, where w is the window.
//!
//! Let d ≥ 2 be the smallest power of two with ceil(p / d) ≤ w. Then there are ceil(log2(p / d)) + min(d, p) − 1
//! rounds, and p − 1 blocks are sent. If w ≥ p / 2, there are ceil(log2 p) rounds, and `sparbit` sends the same
//! blocks to the same ranks. If w = 1, there are p − 1 rounds. Messages in flight are packed, in memory of up to
//! about 18 w blocks.

use super::with_own_block;
use crate::algorithms::building_blocks::circulant::of_rank;
use crate::algorithms::building_blocks::far_to_near::{rounds, stride};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Builder, Message, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "pat",
    aliases: &[],
    source: "Jeaugey 2025 (arXiv 2506.20252), NCCL 2.23",
    idea: "Blocks go down trees with a root at every rank, over long distances first. A message has at most `window` \
            blocks, so that longer ones need no more memory.",
    avoid_when: "blocks are so long that a ring, which sends to near ranks alone, is as fast.",
    parameters: &[Parameter::Window],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, window, .. } = *problem;
    let mut program = Builder::new(0, size, size);
    for round in rounds(size, stride(size, window)) {
        let (sent, received): (Message, Message) =
            (round.sent(size).collect(), round.received(size).collect());
        program.exchange((round.distance, sent), (size - round.distance, received));
    }
    with_own_block(problem, of_rank(rank, program.build()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shorter_messages_are_more() {
        let messages = |size, window| schedule(&Problem { window, ..Problem::new(size) }, 0).messages_sent();
        assert_eq!([8, 4, 2, 1].map(|window| messages(8, window)), [3, 3, 4, 7]);
        assert_eq!([13, 7, 4, 2, 1].map(|window| messages(13, window)), [4, 4, 5, 8, 12]);
        assert_eq!([512, 32, 8].map(|window| messages(1024, window)), [10, 36, 130]);
    }
}
