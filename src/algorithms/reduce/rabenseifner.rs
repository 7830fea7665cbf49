//! Rabenseifner's algorithm for MPI_Reduce: reduce-scatter by recursive halving, then a binomial gather to the root.
//!
//! p a power of two: 2 log2(p) rounds. A rank sends n(p−1)/p bytes in halving, and at most n/2 in gathering,
//! where the root receives n(p−1)/p. A rank reduces n(p−1)/p. Otherwise the ranks beyond a power of two are
//! folded. They share the reduction with their partners in two more rounds, in which a rank that acts for two
//! receives a vector and reduces half of one. The root is never folded.
//! Halving begins with neighbours. Keeps the order of operands for every root.
//! With k segments, halving exchanges pieces of a k-th of the vector. One piece is reduced while others are
//! in flight.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::fold::{Fold, Role, give_to_keeper_by_halves};
use crate::algorithms::building_blocks::recursive_halving::{Segments, gather, reduce_scatter};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer, Buffer::Recv, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "rabenseifner",
    aliases: &["reduce_scatter_gather"],
    source: "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 4.5",
    idea: "In halves of halves the vector is reduced so that each rank has a part of the result; then the parts \
            are gathered at the root.",
    avoid_when: "vectors are short, or the number of ranks is just below a power of two.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_gather(problem, rank, Butterfly::nearest_first)
}

/// Halves along a butterfly among a power of two of ranks, then gathers along the butterfly backwards.
pub(super) fn halve_and_gather(
    problem: &Problem,
    rank: usize,
    butterfly: impl Fn(usize) -> Butterfly,
) -> Schedule {
    at_root(problem, halve_and_gather_of(problem, rank, contribution(problem, rank), butterfly))
}

/// Like [`halve_and_gather`], for contributions in the given buffer. The program combines in the receive buffer.
pub(super) fn halve_and_gather_of(
    &Problem { size, root, segments, .. }: &Problem,
    rank: usize,
    contribution: Buffer,
    butterfly: impl Fn(usize) -> Butterfly,
) -> Schedule {
    if size == 1 {
        return tree_reduce(0, 1, 1, contribution, None, []);
    }
    let fold = Fold::keeping(size, root);
    let butterfly = butterfly(fold.participants);
    let segments = Segments::new(segments, fold.participants);
    let halve_and_gather = |participant: usize, operand: Buffer| {
        reduce_scatter(butterfly, participant, segments, operand)
            .then(gather(butterfly, participant, segments.blocks, fold.participant(root)))
            .embed(size, |participant| fold.member(participant))
    };
    let before = give_to_keeper_by_halves(fold, (rank, size), segments, contribution);
    let program = match fold.role(rank) {
        Role::Single(participant) => halve_and_gather(participant, contribution),
        Role::Keeper(participant) => before.then(halve_and_gather(participant, Recv)),
        Role::Folded => before,
    };
    segments.overlapped(program)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_at_powers_of_two() {
        for exponent in 1..8 {
            let size = 1 << exponent;
            let root = size / 3;
            let problem = Problem { root, ..Problem::new(size) };
            let programs: Vec<Schedule> = (0..size).map(|rank| schedule(&problem, rank)).collect();
            assert_eq!(programs[root].rounds(), 2 * exponent);
            // Blocks are p-ths of the vector.
            assert!(programs.iter().all(|program| program.blocks_reduced() == size - 1));
            assert_eq!(programs[root].blocks_sent(), size - 1);
            let most = programs.iter().map(|program| program.blocks_sent()).max();
            assert_eq!(most, Some(size - 1 + size / 2));
        }
    }

    #[test]
    fn two_more_rounds_when_folded() {
        for size in [3_usize, 5, 6, 7, 9, 12, 13, 31, 33, 100] {
            for root in [0, 1] {
                let problem = Problem { root, ..Problem::new(size) };
                let most = (0..size).map(|rank| schedule(&problem, rank).rounds()).max().unwrap();
                assert_eq!(most, 2 + 2 * size.ilog2() as usize, "p = {size}, root {root}");
            }
        }
    }
}
