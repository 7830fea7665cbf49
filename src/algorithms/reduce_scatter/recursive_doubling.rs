//! Recursive doubling for MPI_Reduce_scatter: partners at distance 1, 2, 4, … exchange what one of them or a rank
//! further away still needs.
//!
//! There a rank gets blocks of its new neighbours as well; here it does not. p a power of two: log2(p) rounds, p
//! log2(p) + log2(p) − 2(p − 1) blocks sent and reduced. Otherwise the ranks beyond a power of two are folded, which
//! adds two rounds and the whole vector, and in each round a block for who stands for two. Keeps the order of operands.

use super::recursive_halving::among_participants;
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::building_blocks::fold::Fold;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::cost::Cost;
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
    body: Body::Messages { schedule, cost },
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    among_participants(problem.size, rank, double)
}

fn cost(problem: &Problem) -> Cost {
    let size = problem.size;
    let fold = Fold::new(size);
    let rounds = fold.participants.ilog2() as usize;
    if fold.pairs == 0 {
        let blocks = size * rounds + rounds - 2 * (size - 1);
        return Cost::of_rounds(rounds, blocks, blocks);
    }
    // The last keeper is the busiest: it gets a vector before and its pair's two blocks in every round, and around it
    // are the fewest other pairs, so that the most is of use outside of its group.
    let outside = |round| size - fold.ranks_in_group(fold.pairs - 1, round);
    let received = size + 2 * rounds + (1..=rounds as u32).map(outside).sum::<usize>();
    Cost { rounds: rounds + 2, messages: rounds + 1, blocks: received, reduced: received, ..Cost::default() }
}

/// The rounds among the participants, of whom there are a power of two.
fn double(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    let partner = |round: u32| rank ^ (1 << round);
    let rounds = 0..size.ilog2();
    let mut program = Builder::new(rank, size, size);
    let mut accumulator = Accumulator::new(rank, contribution, rounds.clone().map(partner));
    for round in rounds {
        // What is combined of this group is of use outside of it, and each rank needs its own block.
        let group = rank >> (round + 1) << (round + 1)..((rank >> (round + 1)) + 1) << (round + 1);
        let needed_by = |rank: usize| [0..group.start, rank..rank + 1, group.end..size];
        accumulator.exchange_ranges(&mut program, partner(round), needed_by(partner(round)), needed_by(rank));
    }
    accumulator.finish(&mut program, rank..rank + 1);
    program.build()
}
