//! Binomial tree for MPI_Reduce, whole or in segments.
//!
//! ceil(log2 p) rounds of the whole vector. With k segments: k ceil(log2 p) rounds of one segment, because a
//! rank reduces a segment while the next one arrives.
//! Ranks are counted from the root, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::binomial_tree::{nearest_first, parent};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "binomial",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.5",
    idea: "In every round half of the ranks that are left send what they have combined to one of the other \
            half.",
    avoid_when: "vectors are long, for the root combines several of them one after the other.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let relative = problem.relative(rank);
    // The child with the smallest subtree is ready first.
    let children = nearest_first(relative, size);
    let program =
        tree_reduce(relative, size, segments, contribution(problem, rank), parent(relative), children);
    at_root(problem, program.relabel(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_sends_once() {
        let problem = Problem { root: 3, ..Problem::new(10) };
        for rank in 0..10 {
            assert_eq!(schedule(&problem, rank).messages_sent(), usize::from(rank != 3));
        }
        assert_eq!(schedule(&problem, 3).blocks_reduced(), 4);
    }
}
