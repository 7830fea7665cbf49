//! Gather from the other group: that group gathers at its leader along the binomial tree. The leader sends
//! everything to the root in one message.
//!
//! ceil(log2 b) + 1 rounds, where b ranks contribute. A block moves once for each edge to the leader, then once more.

use super::{gather_to_leader, has_root};

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Gather],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "The other group gathers at its leader along a binomial tree, and the leader sends everything to the \
            root.",
    avoid_when: "blocks are large and the root could receive them directly.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    let mut program = Builder::new(rank, size, size);
    if has_root(problem) {
        if rank == problem.root {
            program.receive(local, Recv.blocks(local..size));
        }
        return program.build();
    }
    let (gathering, blocks) = gather_to_leader(problem, rank);
    if rank == 0 {
        program.send(problem.root, blocks);
    }
    gathering.then(program.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_receives_one_message() {
        let problem = Problem { root: 1, ..Problem::between(2, 8) };
        assert_eq!(ALGORITHM.program(&problem, 1).posts(), 1);
        assert_eq!(ALGORITHM.program(&problem, 2).blocks_sent(), 8);
    }
}
