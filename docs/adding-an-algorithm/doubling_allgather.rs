//! Doubling distances for MPI_Allgather: every rank fetches what the rank 1, 2, 4, … further on has.
//!
//! ceil(log2 p) rounds for any p, p − 1 blocks sent.

use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Message, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "doubling",
    aliases: &[],
    source: "the second example of rustcoll's book",
    idea: "Every rank fetches the blocks that the rank 1, 2, 4, … further on has, and has twice as many after each round.",
    avoid_when: "vectors are long, for then partners that are far apart cost more than neighbours.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, in_place, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    if !in_place {
        program.copy(Send.block(rank), Recv.block(rank));
    }
    for held in (0..).map(|round| 1 << round).take_while(|&held| held < size) {
        let count = held.min(size - held);
        let blocks =
            |first| (first..first + count).map(|block| Recv.block(block % size)).collect::<Message>();
        program.receive((rank + held) % size, blocks(rank + held));
        program.send((rank + size - held) % size, blocks(rank));
        program.end_round();
    }
    program.build()
}
