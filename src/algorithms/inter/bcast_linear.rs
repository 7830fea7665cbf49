//! The root sends its vector straight to every rank of the other group.
//!
//! One round of b messages, where b ranks receive; the root sends b vectors.

use super::has_root;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "inter_linear",
    aliases: &[],
    source: "the definition of MPI_Bcast; Open MPI (`coll/libnbc`)",
    idea: "The root sends its vector straight to every rank of the other group.",
    avoid_when: "the other group is large, or vectors are long, for all of them leave the root.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    match has_root(problem) {
        true if rank == root => tree_broadcast(rank, size, 1, None, problem.partners(rank)),
        true => Schedule::idle(rank, size, 1),
        false => tree_broadcast(rank, size, 1, Some(root), []),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_vectors_leave_the_root() {
        let problem = Problem { root: 2, ..Problem::between(4, 9) };
        let sent = |rank| ALGORITHM.program(&problem, rank).messages_sent();
        assert_eq!((0..4).map(sent).collect::<Vec<_>>(), [0, 0, 9, 0]);
        assert_eq!((4..13).map(sent).sum::<usize>(), 0);
    }
}
