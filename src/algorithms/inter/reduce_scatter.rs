//! Each group reduces its whole vectors to its leader. The leaders exchange the results, and each scatters
//! the other group's result over its own group.
//!
//! 1 + 2 ceil(log2 p) rounds, where p is the size of the larger group. The leaders send and receive one whole
//! vector and reduce ceil(log2 p) of them. Keeps the order of operands. A rank knows the lengths of its own
//! group's blocks of the result, but not those of the other group. So the other group's blocks only move
//! together.

use super::{blocks_of_own, reduce_to_leader, scatter_from_leader};

use crate::algorithms::scatter::binomial::SCATTER;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/basic`), where the leader receives from each rank of the other group in turn",
    idea: "Each group reduces to its leader, the leaders exchange the results, and each scatters that of the \
            other group.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    // The other group's blocks of a vector.
    let whole = |run: Run| {
        let start = run.first as usize * size;
        run.buffer.blocks(start + local..start + size)
    };
    let (reduction, result) = reduce_to_leader(problem, rank);
    let reduction = Schedule { blocks: size, ..reduction.map_runs(whole) };
    let mut leaders = Builder::new(rank, size, size);
    if rank == 0 {
        leaders.exchange((local, whole(result)), (local, blocks_of_own(problem)));
    }
    reduction.then(leaders.build()).then(scatter_from_leader(problem, rank, &SCATTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_send_the_other_group_s_vector_and_their_own_group_s_blocks() {
        let problem = Problem::between(4, 3);
        let leader = ALGORITHM.program(&problem, 0);
        assert_eq!(leader.blocks_reduced(), 2 * 3);
        assert_eq!(leader.blocks_sent(), 3 + 3);
    }
}
