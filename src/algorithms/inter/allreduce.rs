//! Each group reduces to its leader, the leaders exchange the results, and each leader broadcasts the other group's.
//!
//! 1 + 2 ceil(log2 p) rounds of the whole vector, where p is the size of the larger group. Keeps the order of operands.

use super::{broadcast_from, reduce_to_leader};

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "Each group reduces to its leader, the leaders exchange the results, and each broadcasts that of the \
            other group.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (reduction, result) = reduce_to_leader(problem, rank);
    let mut leaders = Builder::new(rank, problem.size, 1);
    if rank == 0 {
        let other = problem.local();
        leaders.exchange((other, result), (other, Recv.block(0)));
    }
    reduction.then(leaders.build()).then(broadcast_from(None, problem, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_carries_the_vector_each_way() {
        for (first, second) in [(1, 1), (1, 4), (7, 5)] {
            let problem = Problem::between(first, second);
            let sent: usize =
                (0..problem.size).map(|rank| ALGORITHM.program(&problem, rank).blocks_sent()).sum();
            assert_eq!(sent, 2 * (first + second - 1));
        }
    }
}
