//! Linear algorithm for MPI_Scan and MPI_Exscan: each rank adds its vector to what the one before sends.
//!
//! p − 1 rounds, in each of which one rank sends the whole vector on. Keeps the order of operands.

use super::{contribution, free_place};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "linear",
    aliases: &[],
    source: "Open MPI (linear)",
    idea: "Each rank adds its vector to what the rank before sends, and passes the sum on.",
    avoid_when: "there are more than a few ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(scan),
};

pub const EXSCAN: Algorithm =
    Algorithm { collectives: &[Collective::Exscan], body: Body::Messages(exscan), ..SCAN };

fn scan(problem: &Problem, rank: usize) -> Schedule {
    let (own, before) = (contribution(problem), free_place(problem, 0));
    let mut program = Builder::new(rank, problem.size, 1);
    if rank == 0 {
        program.copy(own, Recv.block(0));
    } else {
        program.receive(rank - 1, before);
        program.end_round();
        program.reduce(before, own, Recv.block(0));
    }
    if rank + 1 < problem.size {
        program.send(rank + 1, Recv.block(0));
    }
    program.build()
}

fn exscan(problem: &Problem, rank: usize) -> Schedule {
    let (own, before, with_own) = (contribution(problem), free_place(problem, 1), Scratch.block(0));
    let mut program = Builder::new(rank, problem.size, 1);
    let has_next = rank + 1 < problem.size;
    if rank == 0 {
        if has_next {
            program.send(1, own);
        }
        return program.build();
    }
    program.receive(rank - 1, before);
    program.end_round();
    if has_next {
        program.reduce(before, own, with_own);
        program.send(rank + 1, with_own);
    }
    program.copy(before, Recv.block(0));
    program.build()
}
