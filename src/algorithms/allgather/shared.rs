//! Allgather in shared memory: every rank publishes its block in a slot, and copies the blocks of the others.
//!
//! A rank writes its block once. It awaits one flag of each other rank, and reads that rank's block once.

use crate::algorithms::building_blocks::slots::collect;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "shared",
    aliases: &[],
    source: "as `linear`, with slots in place of messages",
    idea: "Every rank shows its block in memory that the node shares, and copies the blocks of the others.",
    avoid_when: "there are so many ranks that waiting for a flag of each of them costs more than some rounds.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

pub(super) fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let own = if problem.in_place { Recv } else { Send }.block(rank);
    let mut program = Builder::new(rank, size, size).slots(1);
    if size > 1 {
        program.publish(own, 0);
    }
    program.copy(own, Recv.block(rank));
    collect((rank, size), |_| 0, Recv, &mut program);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn a_rank_writes_its_block_once_and_starts_with_the_next_rank() {
        let program = schedule(&Problem::new(4), 2);
        let first = program.steps.iter().position(|step| matches!(step, Step::Await { .. })).unwrap();
        assert_eq!(program.steps[first], Step::Await { rank: 3, slot: 0, times: 1 });
        let notified = program.steps.iter().filter(|step| matches!(step, Step::Notify { .. })).count();
        assert_eq!((notified, program.slots), (1, 1));
    }
}
