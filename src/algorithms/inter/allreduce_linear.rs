//! Every rank sends its vector straight to the leader of the other group, which combines what arrives and sends the
//! result to its own group.
//!
//! Two rounds; a leader receives b vectors and sends a, where its own group has a ranks and the other b. Keeps the order
//! of operands.

use super::combine_at_leader;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Send, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "inter_linear",
    aliases: &[],
    source: "as `inter_leaders`, without trees",
    idea: "Every rank sends its vector to the leader of the other group, which combines them and sends the result to \
            its own group.",
    avoid_when: "groups are large, or vectors are long, for all of them arrive at a leader.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    if rank == 0 {
        return combine_at_leader(problem, rank).then(tree_broadcast(rank, size, 1, None, 1..local));
    }
    let mut given = Builder::new(rank, size, 1);
    given.send(local, Send.block(0));
    given.build().then(tree_broadcast(rank, size, 1, Some(0), []))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_its_vector_and_the_leaders_their_results() {
        let problem = Problem::between(7, 5);
        let sent = |rank| ALGORITHM.program(&problem, rank).messages_sent();
        assert_eq!([0, 6, 7, 11].map(sent), [7, 1, 5, 1]);
        assert_eq!(ALGORITHM.program(&problem, 0).blocks_reduced(), 4);
    }
}
