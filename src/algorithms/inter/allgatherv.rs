//! Every rank sends its block to the leader of the other group. The leader broadcasts the blocks in its group.
//!
//! 1 + ceil(log2 p) rounds, where p is the size of the larger group. A leader receives as many messages as the other
//! group has ranks. If messages arrive one at a time, the smaller group's leader broadcasts after p of them. By then
//! the larger group has its blocks, except its last rank, which sends in step p and receives in the next step.

use super::allgather::broadcast_blocks;

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgatherv],
    name: "inter_leaders",
    aliases: &[],
    source: "after Open MPI (`coll/inter`), which gathers in each group first and therefore has to gather the \
            lengths: a rank knows those of the other group's blocks, but of its own group's only its own",
    idea: "Every rank sends its block to the leader of the other group, who broadcasts what it gets.",
    avoid_when: "groups are large and blocks small, for each message costs the leaders.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, problem.size);
    if rank == 0 {
        for source in problem.partners(rank) {
            program.receive(source, Recv.block(source));
        }
    }
    program.send(problem.local(), Send.block(rank));
    program.build().then(broadcast_blocks(problem, rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_receive_each_block_of_the_other_group_directly() {
        let problem = Problem::between(3, 6);
        let posts = |rank| ALGORITHM.program(&problem, rank).posts();
        // Its block, the blocks of the other group, two children.
        assert_eq!(posts(0), 1 + 6 + 2);
        // Its block, three children.
        assert_eq!(posts(3), 1 + 3 + 3);
    }
}
