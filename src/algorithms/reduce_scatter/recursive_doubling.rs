//! Recursive doubling for MPI_Reduce_scatter: partners at distance 1, 2, 4, … exchange the blocks that one of them or a
//! rank further away still needs.
//!
//! In the paper a rank also gets its new neighbours' blocks; here it does not. p a power of two: log2(p) rounds, p
//! log2(p) + log2(p) − 2(p − 1) blocks sent and reduced. Otherwise the ranks beyond a power of two are folded: two
//! rounds, a whole vector, and a block in each round for ranks that act for two are added. Keeps the order of operands.

use super::recursive_halving::among_participants;
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "recursive_doubling",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4, for operators that do not commute",
    idea: "Partners at distance 1, 2, 4, … exchange those blocks that one of them, or a rank still to come, \
            needs. The order of operands is kept.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    among_participants(problem.size, rank, double)
}

/// Runs the rounds among the participants, a power of two of ranks.
fn double(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    let partner = |round: u32| rank ^ (1 << round);
    let rounds = 0..size.ilog2();
    let mut program = Builder::new(rank, size, size);
    let mut accumulator = Accumulator::new(rank, contribution, rounds.clone().map(partner));
    for round in rounds {
        // Ranks outside of the group need all that the group has combined. Within it each rank needs its own block.
        let group = rank >> (round + 1) << (round + 1)..((rank >> (round + 1)) + 1) << (round + 1);
        let needed_by = |rank: usize| [0..group.start, rank..rank + 1, group.end..size];
        accumulator.exchange_ranges(&mut program, partner(round), needed_by(partner(round)), needed_by(rank));
    }
    accumulator.finish(&mut program, rank..rank + 1);
    program.build()
}
