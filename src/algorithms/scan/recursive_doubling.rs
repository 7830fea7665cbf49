//! Recursive doubling for MPI_Scan and MPI_Exscan: each rank sends what it has combined to the rank at
//! distance 1, 2, 4, …. So the range that a rank has combined doubles in every round.
//!
//! ceil(log2 p) rounds of the whole vector. A scan reduces once in each round. An exclusive scan reduces up
//! to twice, because a rank adds its own vector to what it sends on.
//! Keeps the order of operands. MPICH's algorithm of this name exchanges with one partner, so it has to
//! combine twice in a scan as well.
//!
//! ```text
//! p = 5        rank 0   rank 1   rank 2   rank 3   rank 4
//! distance 1   0        01       12       23       34
//! distance 2   0        01       012      0123     1234
//! distance 4   0        01       012      0123     01234
//! ```

use super::{contribution, free_place};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "recursive_doubling",
    aliases: &[],
    source: "Kogge, Stone 1973; Hillis, Steele 1986",
    idea: "Every rank sends what it has combined to the rank 1, 2, 4, … further on, so that its reach doubles \
            in every round.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(scan),
};

pub const EXSCAN: Algorithm =
    Algorithm { collectives: &[Collective::Exscan], body: Body::Messages(exscan), ..SCAN };

fn scan(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, 1);
    let mut combined = contribution(problem).block(0);
    if rank == 0 {
        program.copy(combined, Recv.block(0));
    }
    for distance in distances(size) {
        let before = if distance == 1 { free_place(problem, 0, 0) } else { Scratch.block(0) };
        shift(&mut program, (rank, size), distance, combined, before);
        if rank >= distance {
            program.reduce(before, combined, Recv.block(0));
            combined = Recv.block(0);
        }
    }
    program.build()
}

fn exscan(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let (own, result) = (contribution(problem).block(0), free_place(problem, 0, 2));
    let (before, with_own) = (Scratch.block(0), Scratch.block(1));
    let mut program = Builder::new(rank, size, 1);
    let mut combined = own;
    for distance in distances(size) {
        let received = if distance == 1 { result } else { before };
        shift(&mut program, (rank, size), distance, combined, received);
        if rank >= distance && distance > 1 {
            program.reduce(before, result, result);
        }
        // Only a rank that sends once more needs its own contribution in the sum.
        if rank >= distance && rank + 2 * distance < size {
            program.reduce(result, own, with_own);
            combined = with_own;
        }
    }
    if rank > 0 {
        program.copy(result, Recv.block(0));
    }
    program.build()
}

fn distances(size: usize) -> impl Iterator<Item = usize> {
    (0..size.next_power_of_two().ilog2()).map(|round| 1 << round)
}

/// Runs a round in which every rank sends a vector to the rank `distance` above, if there is one.
fn shift(program: &mut Builder, (rank, size): (usize, usize), distance: usize, sent: Run, received: Run) {
    if rank >= distance {
        program.receive(rank - distance, received);
    }
    if rank + distance < size {
        program.send(rank + distance, sent);
    }
    program.end_round();
}
