//! Recursive halving for MPI_Reduce_scatter: partners at distance p/2, p/4, …, 1 give each other the half that is the
//! other's.
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.4.
//! p a power of two: log2(p) rounds, p − 1 blocks sent and reduced. Otherwise the ranks beyond a power of two are folded,
//! which adds two rounds and the whole vector.
//! Combines contributions of far ranks first, so the operator must commute; in return the blocks of a message lie
//! together. Loses when: p is not a power of two, to `circulant`.

use super::{alone, deliver_own_block};
use crate::algorithms::phases::exchange_and_reduce::Accumulator;
use crate::algorithms::phases::fold::{Fold, Role, reduce_folded};
use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const REDUCE_SCATTER: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    name: "recursive_halving",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    parameters: &[],
    requires: &[Requirement::Commutative],
    schedule,
};

pub const REDUCE_SCATTER_BLOCK: Algorithm =
    Algorithm { collective: Collective::ReduceScatterBlock, ..REDUCE_SCATTER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    among_participants(problem.size, rank, halve)
}

/// Reduce-scatter among any number of ranks by one among a power of two. `among(rank, size, operand)` reduces `operand`
/// among `size` ranks and leaves block i of the result in the receive buffer of rank i.
pub(super) fn among_participants(
    size: usize,
    rank: usize,
    among: impl Fn(usize, usize, Buffer) -> Schedule,
) -> Schedule {
    if size == 1 {
        return alone();
    }
    let fold = Fold::new(size);
    // A participant's block are those of the ranks that it stands for.
    let among = |participant, operand| {
        among(participant, fold.participants, operand).refine(size, |participant| fold.member(participant))
    };
    let program = reduce_folded((rank, size), size, Send, |rank| rank..rank + 1, among);
    if fold.role(rank) == Role::Folded { program } else { deliver_own_block(program) }
}

/// The rounds among the participants, of whom there are a power of two.
fn halve(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    let partner = |round: u32| rank ^ (1 << round);
    let rounds = (0..size.ilog2()).rev();
    let mut program = Builder::new(rank, size, size);
    let mut accumulator = Accumulator::new(rank, contribution, rounds.clone().map(partner));
    for round in rounds {
        // After this round the blocks of an aligned group of 2^round ranks are left.
        let group = |rank: usize| rank >> round << round..((rank >> round) + 1) << round;
        accumulator.exchange(&mut program, partner(round), group(partner(round)), group(rank));
    }
    accumulator.finish(&mut program, rank..rank + 1);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 1..8 {
            let size = 1 << exponent;
            for rank in 0..size {
                let program = schedule(&Problem::new(size), rank);
                assert_eq!(program.rounds(), exponent);
                assert_eq!(program.blocks_sent(), size - 1);
                assert_eq!(program.blocks_reduced(), size - 1);
            }
        }
    }

    #[test]
    fn two_more_rounds_when_folded() {
        for size in [3_usize, 5, 6, 7, 9, 12, 13, 31, 33, 100] {
            let most = (0..size).map(|rank| schedule(&Problem::new(size), rank).rounds()).max().unwrap();
            assert_eq!(most, 2 + size.ilog2() as usize, "p = {size}");
        }
    }
}
