//! Reduce of short vectors in shared memory: all other ranks show their contributions to the root, which combines them.
//!
//! The root awaits a flag of each other rank and reads p − 1 vectors. Meanwhile the other ranks go on. Keeps the order
//! of operands for every root.

use super::{contribution, contribution_beside_result};
use crate::algorithms::building_blocks::slots::Contributions;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "shared_flat",
    aliases: &[],
    source: "the flat algorithms of shared-memory components, such as Open MPI's sm",
    idea: "All others show their vectors to the root in memory that the node shares, and the root combines \
            them.",
    avoid_when: "vectors are long and there are more than two ranks, for then sharing out the work pays.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    let mut program = Builder::new(rank, size, 1).slots(1);
    if rank == root {
        let own = contribution_beside_result(problem, 0, &mut program);
        let contributions = Contributions { rank, own, slot: 0 };
        contributions.combine(0..size, Recv.block(0), Recv.block(0), &mut program);
    } else {
        program.publish(contribution(problem, rank).block(0), 0);
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn only_the_root_waits_and_reduces() {
        let problem = Problem { root: 2, ..Problem::new(5) };
        for rank in 0..5 {
            let program = schedule(&problem, rank);
            let awaits = program.steps.iter().filter(|step| matches!(step, Step::Await { .. })).count();
            let expected = if rank == 2 { 4 } else { 0 };
            assert_eq!((awaits, program.blocks_reduced()), (expected, expected));
        }
    }

    #[test]
    fn in_place_the_root_saves_its_contribution_unless_it_is_the_last() {
        let scratch =
            |root| schedule(&Problem { root, in_place: true, ..Problem::new(4) }, root).scratch_blocks();
        assert_eq!([0, 1, 2, 3].map(scratch), [1, 1, 1, 0]);
    }
}
