//! Linear algorithm for MPI_Scan and MPI_Exscan: each rank adds its vector to what the previous rank sends.
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
    body: Body::Messages(|problem, rank| scan(problem, rank, 1)),
};

pub const EXSCAN: Algorithm = Algorithm {
    collectives: &[Collective::Exscan],
    body: Body::Messages(|problem, rank| exscan(problem, rank, 1)),
    ..SCAN
};

/// Scans one segment after the other.
pub(super) fn scan(problem: &Problem, rank: usize, segments: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, segments);
    for segment in 0..segments {
        let (own, before) = (contribution(problem).block(segment), free_place(problem, segment, segment));
        let result = Recv.block(segment);
        if rank == 0 {
            program.copy(own, result);
        } else {
            program.receive(rank - 1, before);
            program.end_round();
            program.reduce(before, own, result);
        }
        if rank + 1 < problem.size {
            program.send(rank + 1, result);
        }
    }
    program.build()
}

/// Scans one segment after the other, without the rank's own vector.
pub(super) fn exscan(problem: &Problem, rank: usize, segments: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, segments);
    let has_next = rank + 1 < problem.size;
    for segment in 0..segments {
        let (own, with_own) = (contribution(problem).block(segment), Scratch.block(segment));
        if rank == 0 {
            if has_next {
                program.send(1, own);
            }
            continue;
        }
        let before = free_place(problem, segment, segments + segment);
        program.receive(rank - 1, before);
        program.end_round();
        if has_next {
            program.reduce(before, own, with_own);
            program.send(rank + 1, with_own);
        }
        program.copy(before, Recv.block(segment));
    }
    program.build()
}
