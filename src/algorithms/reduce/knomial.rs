//! K-nomial tree for MPI_Reduce.
//!
//! Source: Open MPI (knomial); MPICH. The binomial tree is that of radix 2.
//! ceil(log_k p) levels of up to k − 1 children, each of which sends the whole vector.
//! Ranks are counted from the root, so the operator must commute. Loses when: vectors are long, for the root reduces
//! up to (k − 1) ceil(log_k p) of them.

use super::{at_root, contribution};
use crate::algorithms::phases::knomial_tree::{children, parent};
use crate::algorithms::phases::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Reduce,
    name: "knomial",
    aliases: &[],
    source: "Open MPI; MPICH",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Commutative],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, root, .. } = *problem;
    let relative = problem.relative(rank);
    // Children with small subtrees are ready first.
    let mut children: Vec<usize> = children(relative, size, radix).collect();
    children.reverse();
    let parent = parent(relative, radix);
    let program = tree_reduce(relative, size, 1, contribution(problem, rank), parent, children);
    at_root(problem, program.relabel(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_reduces_a_vector_for_each_child() {
        for (size, radix, children) in [(8, 2, 3), (9, 3, 4), (64, 4, 9), (10, 10, 9)] {
            let problem = Problem { radix, root: size / 2, ..Problem::new(size) };
            assert_eq!(schedule(&problem, size / 2).blocks_reduced(), children);
        }
    }
}
