//! k-nomial tree for MPI_Bcast: the binomial tree of another radix.
//!
//! Source: the k-nomial trees of MPICH and Open MPI.
//! ceil(log_k p) rounds, in which the root sends up to k − 1 vectors each. A larger k trades the depth of the tree for
//! messages of the root. Loses when: vectors are long.

use crate::algorithms::phases::knomial_tree::{children, parent};
use crate::algorithms::phases::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "knomial",
    aliases: &[],
    source: "k-nomial trees of MPICH and Open MPI",
    parameters: &[Parameter::Radix],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, radix, .. } = *problem;
    let rank = problem.relative(rank);
    tree_broadcast(rank, size, 1, parent(rank, radix), children(rank, size, radix)).relabel(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_of_the_root() {
        for (size, radix, messages) in [(8, 2, 3), (9, 3, 4), (64, 4, 9), (10, 10, 9), (10, 4, 5)] {
            let problem = Problem { radix, root: 5, ..Problem::new(size) };
            assert_eq!(schedule(&problem, 5).messages_sent(), messages, "p={size} k={radix}");
        }
    }
}
