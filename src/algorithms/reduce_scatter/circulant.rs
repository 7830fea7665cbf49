//! Circulant algorithm for MPI_Reduce_scatter (Träff 2024): partners at skips that shrink k-fold. For any p
//! the skips do what powers of two do for recursive halving.
//!
//! Any p: ceil(log_k p) rounds of up to k − 1 messages, p − 1 blocks sent and reduced.
//! Combines contributions out of order, so the operator must commute.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::circulant::{of_rank, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Send, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "circulant",
    aliases: &[],
    source: "Träff 2024 (arXiv 2410.14234) for k = 2; the larger radices are rustcoll's",
    idea: "Partial sums go to ranks at skips that shrink from half the number of ranks to 1, and a rank is left \
            with its own block.",
    avoid_when: "vectors are long, for then partners that are far apart cost more than neighbours.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    if problem.size == 1 {
        return alone();
    }
    deliver_own_block(of_rank(rank, reduce_scatter(problem.size, problem.radix, Send)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_and_volume_for_any_size() {
        for size in 2..130 {
            let program = schedule(&Problem { radix: 2, ..Problem::new(size) }, size / 3);
            assert_eq!(program.messages_sent(), size.next_power_of_two().ilog2() as usize);
            assert_eq!(program.blocks_sent(), size - 1);
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }
}
