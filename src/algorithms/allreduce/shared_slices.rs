//! Allreduce of long vectors in shared memory: every rank combines its slice of all vectors, then copies the others'.
//!
//! A rank publishes n bytes, combines p − 1 slices of n/p bytes, and copies as many. It awaits two flags of each
//! other rank. Keeps the order of operands. One rank computes each slice, so all ranks agree bit for bit.

use super::{alone, contribution};
use crate::algorithms::building_blocks::slots::{Contributions, collect, show_parts};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "shared_slices",
    aliases: &[],
    source: "Graham, Shipman 2008: a reduce-scatter and an allgather in shared memory",
    idea: "In memory that the node shares every rank combines its slice of all vectors, and copies the slices \
            that the others have combined.",
    avoid_when: "vectors are short, for ranks wait for each other twice.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone(problem);
    }
    let mut program = Builder::new(rank, size, size).slots(size);
    let (input, result) = (contribution(problem), Buffer::of_rank(rank).block(rank));
    show_parts((rank, size), input, &mut program);
    // In place the sum would overwrite the rank's own contribution.
    let sum = if problem.in_place { Scratch } else { Recv };
    let contributions = Contributions { rank, own: input.block(rank), slot: rank };
    contributions.combine(0..size, sum.block(rank), result, &mut program);
    program.notify(rank);
    program.copy(result, Recv.block(rank));
    collect((rank, size), |owner| owner, Recv, &mut program);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn a_rank_combines_no_slice_but_its_own() {
        for in_place in [false, true] {
            let program = schedule(&Problem { in_place, ..Problem::new(6) }, 2);
            assert_eq!((program.blocks, program.blocks_reduced(), program.slots), (6, 5, 6));
            let targets = program.steps.iter().filter_map(|step| match step {
                Step::Reduce { target, .. } => Some(target.first),
                _ => None,
            });
            assert!(targets.into_iter().all(|block| block == 2));
        }
    }

    #[test]
    fn others_hear_of_a_result_before_its_owner_copies_it() {
        let program = schedule(&Problem::new(3), 1);
        let result = Buffer::of_rank(1).block(1);
        let place = |wanted: Step| program.steps.iter().position(|step| *step == wanted).unwrap();
        assert!(
            place(Step::Notify { slot: 1 }) < place(Step::Copy { source: result, target: Recv.block(1) })
        );
    }
}
