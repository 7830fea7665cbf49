//! Broadcast to the other group: the root sends to that group's leader, which broadcasts along a binomial tree.
//!
//! 1 + ceil(log2 b) rounds of the whole vector, where b ranks receive it.

use super::{broadcast_from, has_root};

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "The root sends to the leader of the other group, who broadcasts there along a binomial tree.",
    avoid_when: "vectors are long and the group is large, for nobody sends while the leader waits.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    if !has_root(problem) {
        return broadcast_from(Some(problem.root), problem, rank);
    }
    let mut program = Builder::new(rank, problem.size, 1);
    if rank == problem.root {
        program.send(problem.local(), Recv.block(0));
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vector_travels_once_to_each_rank_of_the_other_group() {
        let problem = Problem { root: 2, ..Problem::between(4, 9) };
        let sent = |rank| ALGORITHM.program(&problem, rank).messages_sent();
        assert_eq!((0..4).map(sent).collect::<Vec<_>>(), [0, 0, 1, 0]);
        assert_eq!((4..13).map(sent).sum::<usize>(), 8);
    }
}
