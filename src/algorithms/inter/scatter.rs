//! Scatter to the other group: the root sends all blocks to that group's leader in one message. The leader
//! scatters them along the binomial tree.
//!
//! 1 + ceil(log2 b) rounds, where b ranks receive; a block moves once to the leader and once for each edge from it.

use super::{blocks_of_own, has_root, scatter_from_leader};

use crate::algorithms::scatter::binomial::SCATTER;
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Send, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Scatter],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "The root sends all blocks to the leader of the other group, who scatters them along a binomial tree.",
    avoid_when: "blocks are large and the root could send them directly.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let mut program = Builder::new(rank, size, size);
    if has_root(problem) {
        if rank == problem.root {
            program.send(local, Send.blocks(local..size));
        }
        return program.build();
    }
    if rank == 0 {
        program.receive(problem.root, blocks_of_own(problem));
    }
    program.build().then(scatter_from_leader(problem, rank, &SCATTER))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_sends_one_message() {
        let problem = Problem { root: 1, ..Problem::between(2, 8) };
        assert_eq!(ALGORITHM.program(&problem, 1).posts(), 1);
        assert_eq!(ALGORITHM.program(&problem, 2).blocks_sent(), 7);
    }
}
