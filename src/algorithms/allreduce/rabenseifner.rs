//! Rabenseifner's algorithm for MPI_Allreduce: reduce-scatter by recursive halving, then allgather by doubling.
//!
//! p a power of two: 2 log2(p) rounds, 2n(p−1)/p bytes sent, n(p−1)/p reduced. Otherwise the ranks beyond a power of
//! two are folded, sharing the reduction with their partners: 3 + 2 floor(log2 p) rounds, half a vector more reduced and
//! one and a half more sent by who stands for two.
//! Keeps the order of operands.

use super::{alone, contribution};
use crate::algorithms::building_blocks::fold::{Fold, Role, give_to_keeper_by_halves};
use crate::algorithms::building_blocks::recursive_halving::{allgather, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer, Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "rabenseifner",
    aliases: &["reduce_scatter_allgather"],
    source: "Rabenseifner 2004; Thakur, Rabenseifner, Gropp 2005, section 5",
    idea: "In halves of halves the vector is reduced so that each rank has a part of the result; then the parts \
            are collected in the same way backwards.",
    avoid_when: "vectors are short, or the number of ranks is just below a power of two.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (size, contribution) = (problem.size, contribution(problem));
    if size == 1 {
        return alone(problem);
    }
    let fold = Fold::new(size);
    let blocks = fold.participants;
    let halve_and_double = |participant: usize, contribution: Buffer| {
        reduce_scatter(participant, fold.participants, blocks, contribution)
            .then(allgather(participant, fold.participants, blocks))
            .embed(size, |participant| fold.member(participant))
    };
    let before = give_to_keeper_by_halves(fold, (rank, size), contribution);
    let mut after = Builder::new(rank, size, blocks);
    let vector = Recv.blocks(0..blocks);
    match fold.role(rank) {
        Role::Single(participant) => halve_and_double(participant, contribution),
        Role::Keeper(participant) => {
            after.send(fold.other(rank), vector);
            before.then(halve_and_double(participant, Recv)).then(after.build())
        }
        Role::Folded => {
            after.receive(fold.other(rank), vector);
            before.then(after.build())
        }
    }
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
                // Blocks are p-ths of the vector.
                assert_eq!(program.blocks_sent(), 2 * (size - 1));
                assert_eq!(program.blocks_reduced(), size - 1);
            }
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
