//! Every rank sends a token straight to the leader of the other group, which then releases its own group.
//!
//! Two rounds; 2(a + b − 1) messages for groups of a and b ranks.

use crate::algorithms::barrier::{place, token};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "inter_linear",
    aliases: &[],
    source: "as `inter_leaders`, without trees",
    idea: "Every rank sends a token to the leader of the other group, which then releases its own group.",
    avoid_when: "groups are large, for a token of each rank arrives at a leader.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let mut program = Builder::new(rank, size, 1);
    program.send(local, token());
    if rank != 0 {
        program.receive(0, place(0));
        return program.build();
    }
    for (number, other) in (local..size).enumerate() {
        program.receive(other, place(number));
    }
    program.end_round();
    for own in 1..local {
        program.send(own, token());
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_a_token_to_the_other_leader_and_gets_one_from_its_own() {
        for (first, second) in [(1, 1), (1, 4), (7, 5)] {
            let problem = Problem::between(first, second);
            let sent: usize =
                (0..problem.size).map(|rank| ALGORITHM.program(&problem, rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (first + second - 1));
        }
    }
}
