//! Circulant algorithm for MPI_Allreduce: reduce-scatter with partners at skips that shrink k-fold, then its mirror, an
//! allgather.
//!
//! Any p: 2 ceil(log_k p) rounds of up to k − 1 messages, 2n(p−1)/p bytes sent, n(p−1)/p reduced. Each block is finished
//! at one rank. Combines contributions out of order, so the operator must commute.

use super::{alone, contribution};
use crate::algorithms::building_blocks::circulant::{allgather, of_rank, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "circulant",
    aliases: &[],
    source: "Träff 2024 (arXiv 2410.14234) for k = 2; the larger radices are rustcoll's",
    idea: "Partial sums go to ranks at skips that shrink from half the number of ranks to 1; then the finished \
            blocks come back along the same skips.",
    avoid_when: "vectors are short.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    if size == 1 {
        return alone(problem);
    }
    of_rank(rank, reduce_scatter(size, radix, contribution(problem)).then(allgather(size, radix)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn messages_and_volume_for_any_size() {
        for size in 2..130 {
            let program = schedule(&Problem { radix: 2, ..Problem::new(size) }, size / 3);
            assert_eq!(program.messages_sent(), 2 * size.next_power_of_two().ilog2() as usize);
            assert_eq!(program.blocks_sent(), 2 * (size - 1));
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }

    #[test]
    fn no_operand_is_copied() {
        for radix in [2, 3, 13] {
            let program = schedule(&Problem { radix, ..Problem::new(13) }, 4);
            let result = |step: &Step| {
                if let Step::Reduce { right, target, .. } = step { Some((*right, *target)) } else { None }
            };
            assert!(program.steps.iter().filter_map(result).all(|(right, target)| right == target));
        }
    }
}
