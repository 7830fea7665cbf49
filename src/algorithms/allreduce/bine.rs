//! Bine recursive doubling for MPI_Allreduce: partners at negabinary distances …, 11, −5, 3, −1, 1, longest first,
//! exchange whole vectors.
//!
//! log2(p) rounds of the whole vector, as in `recursive_doubling`, over distances that are a third shorter. If p is
//! no power of two, surplus ranks are folded, in two more rounds.
//! The paper takes the shortest distance first. Then ranks combine by different expressions, and their results
//! differ in the last bits. All rounds have the same volume, so the longest distance first costs nothing.
//! Combines contributions out of order, so the operator must commute.

use super::contribution;
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::building_blocks::fold::reduce_folded;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "bine",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311); the distances: De Sensi et al. 2024 (Swing, arXiv 2401.09356)",
    idea: "Partners at distance …, 5, 3, 1, 1, to the right and to the left in turn, exchange what they have combined so \
            far, so that it stands for twice as many ranks after every round.",
    avoid_when: "vectors are long, or ranks are few and all equally far apart.",
    parameters: &[],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let among =
        |participant, operand| exchange(Butterfly::bine(1 << problem.size.ilog2()), participant, operand);
    reduce_folded((rank, problem.size), 1, contribution(problem), |_| 0..1, among)
}

/// Returns the rounds among the participants. Ranks with the same partial result have neighbouring places, so
/// places instead of ranks decide which operand is the left one.
fn exchange(butterfly: Butterfly, rank: usize, contribution: Buffer) -> Schedule {
    let rounds = (0..butterfly.rounds()).rev();
    let partners: Vec<usize> = rounds.map(|round| butterfly.place(butterfly.partner(rank, round))).collect();
    let place = butterfly.place(rank);
    let mut program = Builder::new(place, butterfly.size(), 1);
    let mut accumulator = Accumulator::new(place, contribution, partners.iter().copied());
    for partner in partners {
        accumulator.exchange(&mut program, partner, 0..1, 0..1);
    }
    accumulator.finish(&mut program, 0..1);
    program.build().embed(butterfly.size(), |place| butterfly.holder(place))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume() {
        for size in 2..100_usize {
            let rounds = size.ilog2() as usize;
            let programs: Vec<Schedule> = (0..size).map(|rank| schedule(&Problem::new(size), rank)).collect();
            let is_folded = !size.is_power_of_two();
            let most = programs.iter().map(Schedule::rounds).max();
            assert_eq!(most, Some(rounds + 2 * usize::from(is_folded)), "p = {size}");
            let sent = programs.iter().map(Schedule::blocks_sent).max();
            assert_eq!(sent, Some(rounds + usize::from(is_folded)), "p = {size}");
        }
    }
}
