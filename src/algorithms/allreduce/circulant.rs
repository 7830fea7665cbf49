//! Circulant algorithm for MPI_Allreduce: reduce-scatter with partners at halving skips, then its mirror, an allgather.
//!
//! Source: Träff 2024 (arXiv 2410.14234).
//! Any p: 2 ceil(log2 p) rounds, 2n(p−1)/p bytes sent, n(p−1)/p reduced. Each block is finished at one rank.
//! Combines contributions in ring order, so the operator must commute. Loses when: vectors are short.

use super::{alone, contribution};
use crate::algorithms::phases::circulant::{allgather, allgather_cost, reduce_scatter, reduce_scatter_cost};
use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::cost::Cost;
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Allreduce,
    name: "circulant",
    aliases: &[],
    source: "Träff 2024",
    parameters: &[],
    requires: &[Requirement::Commutative],
    schedule,
    cost,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone(problem);
    }
    reduce_scatter(rank, size, contribution(problem)).then(allgather(rank, size))
}

fn cost(problem: &Problem) -> Cost {
    reduce_scatter_cost(problem.size) + allgather_cost(problem.size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume_for_any_size() {
        for size in 2..130 {
            let program = schedule(&Problem::new(size), size / 3);
            let rounds = size.next_power_of_two().ilog2() as usize;
            assert_eq!(program.rounds(), 2 * rounds);
            assert_eq!(program.blocks_sent(), 2 * (size - 1));
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }
}
