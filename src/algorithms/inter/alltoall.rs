//! Every rank exchanges blocks with every rank of the other group, all at once.
//!
//! One round of b messages, where the other group has b ranks; b blocks sent, the fewest possible. One message at a
//! time takes as many steps as the larger group has ranks, because no rank of the smaller group ever waits.

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall, Collective::Alltoallv, Collective::Alltoallw],
    name: "inter_linear",
    aliases: &[],
    source: "Open MPI (`coll/basic`), which takes one partner at a time; here as in MPICH's scattered alltoall",
    idea: "Every rank exchanges blocks with every rank of the other group, all at once.",
    avoid_when: "blocks are small, for then what each message costs counts.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |target| Send.block(target))
}

/// The rank sends what `sent` names to each rank of the other group, and receives a block of each.
pub(super) fn exchange(problem: &Problem, rank: usize, sent: impl Fn(usize) -> Run) -> Schedule {
    let Problem { size, remote, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    // Rank i starts with rank i of the other group, so few ranks are the target of two first messages.
    let first = problem.local() + rank % remote;
    let partners = || [first..size, problem.local()..first];
    for sources in partners() {
        program.repeat(sources, |program, source| {
            program.receive(source, Recv.block(source));
        });
    }
    for targets in partners() {
        program.repeat(targets, |program, target| {
            program.send(target, sent(target));
        });
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_message_for_each_pair_and_direction() {
        let problem = Problem::between(3, 5);
        let sent: usize =
            (0..problem.size).map(|rank| ALGORITHM.program(&problem, rank).messages_sent()).sum();
        assert_eq!(sent, 2 * 3 * 5);
    }
}
