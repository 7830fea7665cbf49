//! Every rank sends its whole vector straight to the leader of the other group, which combines them and sends each rank
//! of its own group its block.
//!
//! Two rounds; a leader receives b whole vectors, where the other group has b ranks. Keeps the order of operands. A rank
//! does not know the lengths of the other group's blocks, so it cannot send them to those that they are for.

use super::{blocks_of_own, combine_at_leader, scatter_from_leader};
use crate::algorithms::scatter::linear;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "inter_linear",
    aliases: &[],
    source: "as `inter_leaders`, without trees",
    idea: "Every rank sends its vector to the leader of the other group, which combines them and sends each rank of \
            its own group its block.",
    avoid_when: "groups are large, or vectors are long, for all of them arrive at a leader.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let given = Send.blocks(local..size);
    if rank != 0 {
        let mut program = Builder::new(rank, size, size);
        program.send(local, given);
        return program.build().then(scatter_from_leader(problem, rank, &linear::ALGORITHM));
    }
    let combined = combine_at_leader(problem, rank).map_runs(|run| match run.buffer {
        // Behind the vector in which the result arises, each arriving vector has one of its own.
        Scratch => {
            let start = (run.first as usize + 1) * size;
            Scratch.blocks(start..start + local)
        }
        Recv => blocks_of_own(problem),
        Send | Shared(_) => given,
    });
    let combined = Schedule { blocks: size, ..combined };
    combined.then(scatter_from_leader(problem, rank, &linear::ALGORITHM))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_combines_the_other_group_s_vectors_and_sends_blocks_to_its_own() {
        let leader = ALGORITHM.program(&Problem::between(4, 3), 0);
        assert_eq!(leader.blocks_reduced(), 2 * 4);
        assert_eq!((leader.messages_sent(), leader.blocks_sent()), (1 + 3, 3 + 3));
    }
}
