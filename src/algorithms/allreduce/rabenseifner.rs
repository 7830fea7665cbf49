//! Rabenseifner's algorithm for MPI_Allreduce: reduce-scatter by recursive halving, then allgather by doubling.
//!
//! p a power of two: 2 log2(p) rounds, 2n(p−1)/p bytes sent, n(p−1)/p reduced. Otherwise the ranks beyond a power of two are
//! folded, and share the reduction with their partners. The allreduce then takes 3 + 2 floor(log2 p) rounds. A rank that also
//! acts for its folded partner reduces half a vector more and sends one and a half vectors more.
//! Halving begins with neighbours, to whom the longest messages go. Keeps the order of operands.
//! With k segments a rank cuts each exchange of halving into pieces of a k-th of the vector. It reduces one piece while other
//! pieces are in flight. There are k/2 messages in the first round and k/4 in the second.

use super::{alone, contribution};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::fold::{Fold, Role, give_to_keeper_by_halves};
use crate::algorithms::building_blocks::recursive_halving::{Segments, allgather, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "rabenseifner",
    aliases: &["reduce_scatter_allgather"],
    source: "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 5; segments: De Sensi et al. 2025 (arXiv 2508.17311)",
    idea: "In halves of halves the vector is reduced so that each rank has a part of the result; then the parts \
            are collected in the same way backwards.",
    avoid_when: "vectors are short, or the number of ranks is just below a power of two.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    halve_and_double(problem, rank, Butterfly::nearest_first)
}

/// Returns halving along a butterfly among a power of two of ranks, then doubling along it, its last round first.
pub(super) fn halve_and_double(
    problem: &Problem,
    rank: usize,
    butterfly: impl Fn(usize) -> Butterfly,
) -> Schedule {
    let (size, contribution) = (problem.size, contribution(problem));
    if size == 1 {
        return alone(problem);
    }
    let fold = Fold::new(size);
    let butterfly = butterfly(fold.participants);
    let segments = Segments::new(problem.segments, fold.participants);
    let halve_and_double = |participant: usize, contribution: Buffer| {
        reduce_scatter(butterfly, participant, segments, contribution)
            .then(allgather(butterfly, participant, segments.blocks))
            .embed(size, |participant| fold.member(participant))
    };
    let before = give_to_keeper_by_halves(fold, (rank, size), segments, contribution);
    let mut after = Builder::new(rank, size, segments.blocks);
    let vector = Recv.blocks(0..segments.blocks);
    let program = match fold.role(rank) {
        Role::Single(participant) => halve_and_double(participant, contribution),
        Role::Keeper(participant) => {
            after.send(fold.other(rank), vector);
            before.then(halve_and_double(participant, Recv)).then(after.build())
        }
        Role::Folded => {
            after.receive(fold.other(rank), vector);
            before.then(after.build())
        }
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
            for rank in 0..size {
                let program = schedule(&Problem::new(size), rank);
                assert_eq!(program.rounds(), 2 * exponent);
                // A block is a p-th of the vector.
                assert_eq!(program.blocks_sent(), 2 * (size - 1));
                assert_eq!(program.blocks_reduced(), size - 1);
            }
        }
    }

    #[test]
    fn halving_is_cut_into_segments() {
        for (segments, messages) in [(1, 4), (4, 4 + 1), (8, 4 + 4), (16, 4 + 11), (32, 4 + 26)] {
            let program = schedule(&Problem { segments, ..Problem::new(16) }, 5);
            // Doubling adds four messages.
            assert_eq!(program.messages_sent(), messages + 4, "{segments} segments");
            let blocks = program.blocks;
            assert_eq!(program.blocks_sent(), 2 * blocks * 15 / 16);
            assert_eq!(program.blocks_reduced(), blocks * 15 / 16);
        }
    }

    #[test]
    fn rounds_when_folded() {
        for size in [3_usize, 5, 6, 7, 9, 12, 13, 31, 33, 100] {
            let most = (0..size).map(|rank| schedule(&Problem::new(size), rank).rounds()).max().unwrap();
            assert_eq!(most, 3 + 2 * size.ilog2() as usize, "p = {size}");
        }
    }
}
