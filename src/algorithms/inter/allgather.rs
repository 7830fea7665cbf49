//! Each group gathers at its leader, the leaders exchange, and each leader broadcasts the other group's blocks.
//!
//! 1 + 2 ceil(log2 p) rounds, where p is the size of the larger group. A leader sends its own group's blocks once and
//! the other group's ceil(log2 p) times. The two directions may differ in length, and either may be empty.

use super::{broadcast_from, gather_to_leader};

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "Each group gathers at its leader, the leaders exchange, and each broadcasts the blocks of the other \
            group.",
    avoid_when: "blocks are large, for the others wait while the leaders send everything.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let (gathering, blocks) = gather_to_leader(problem, rank);
    let mut leaders = Builder::new(rank, size, size);
    if rank == 0 {
        leaders.exchange((local, blocks), (local, Recv.blocks(local..size)));
    }
    gathering.then(leaders.build()).then(broadcast_blocks(problem, rank))
}

/// Broadcasts the other group's blocks from the leader, which already has them.
pub(super) fn broadcast_blocks(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let vector = broadcast_from(None, problem, rank).map_runs(|run| run.buffer.blocks(local..size));
    Schedule { blocks: size, ..vector }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_send_their_group_s_blocks_once_and_the_other_s_to_their_children() {
        let leader = ALGORITHM.program(&Problem::between(8, 5), 0);
        assert_eq!(leader.blocks_sent(), 8 + 3 * 5);
    }
}
