//! Tree barrier on an inter-communicator: tokens go up each group's binomial tree, the leaders exchange
//! theirs, and tokens come back down the trees.
//!
//! 1 + 2 ceil(log2 p) rounds, where p is the size of the larger group; 2(a + b − 1) messages for groups of a and b
//! ranks.

use crate::algorithms::barrier::tree::collect_and_release;
use crate::algorithms::building_blocks::binomial_tree::{children, parent};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "inter_leaders",
    aliases: &[],
    source: "Yew, Tzeng, Lawrie 1987 (combining tree); here the parent of each root is the other root",
    idea: "Tokens come up a tree to each group's leader, the leaders exchange theirs, and tokens go down the \
            trees again.",
    avoid_when: "one group is much larger than the other and could leave earlier.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let local = problem.local();
    let parent = parent(rank).unwrap_or(local);
    collect_and_release(rank, problem.size, Some(parent), children(rank, local))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_carries_a_token_each_way() {
        for (first, second) in [(1, 1), (1, 4), (7, 5)] {
            let problem = Problem::between(first, second);
            let sent: usize =
                (0..problem.size).map(|rank| ALGORITHM.program(&problem, rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (first + second - 1));
        }
    }
}
