//! Pairwise exchange for MPI_Reduce_scatter: every rank sends each other rank its block, one at a time.
//!
//! p − 1 rounds of one block each. Scratch holds one block.
//! Combines contributions in ring order, so the operator must commute.

use super::alone;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "pairwise",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    idea: "In every round each rank sends one other rank its block and combines the block that it gets itself.",
    avoid_when: "blocks are small, for then what each message costs counts.",
    parameters: &[],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let mut program = Builder::new(rank, size, size);
    let exchange = |program: &mut Builder, round: usize| {
        let (target, source) = ((rank + round) % size, (rank + size - round) % size);
        let (reduced, incoming) = if round == 1 { (Send, Recv) } else { (Recv, Scratch) };
        program.exchange((target, Send.block(target)), (source, incoming.block(rank)));
        program.reduce(incoming.block(rank), reduced.block(rank), Recv.block(rank));
    };
    exchange(&mut program, 1);
    program.repeat(2..size, exchange);
    program.build()
}
