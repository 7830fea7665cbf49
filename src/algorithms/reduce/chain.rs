//! Chain for MPI_Reduce, in segments: each rank receives from the next rank, reduces, and sends to the previous rank.
//!
//! k segments: p − 2 + k rounds of one k-th of the vector.
//! Ranks are counted from the root, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "chain",
    aliases: &["pipeline"],
    source: "Open MPI (pipeline, which is chain with a fan-out of 1)",
    idea: "The vector is cut into segments. Each rank adds its part to what the next rank sends and passes it \
            on towards the root.",
    avoid_when: "vectors are short or ranks many, for the root waits for all others.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let relative = problem.relative(rank);
    let (parent, child) = (relative.checked_sub(1), Some(relative + 1).filter(|&child| child < size));
    let program = tree_reduce(relative, size, segments, contribution(problem, rank), parent, child);
    at_root(problem, program.relabel(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_goes_once_from_rank_to_rank() {
        let problem = Problem { root: 3, segments: 5, ..Problem::new(10) };
        for rank in 0..10 {
            let program = schedule(&problem, rank);
            assert_eq!(program.messages_sent(), if rank == 3 { 0 } else { 5 });
            assert_eq!(program.blocks_reduced(), if rank == 2 { 0 } else { 5 });
        }
    }
}
