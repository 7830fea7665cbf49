//! Reduce of long vectors in shared memory: every rank combines its slice of all, then the root copies the slices.
//!
//! A rank writes n bytes for others and combines p − 1 slices of n/p. The root also copies p − 1 slices. Ranks wait for
//! flags twice. Keeps the order of operands for every root.

use super::{contribution, contribution_beside_result};
use crate::algorithms::building_blocks::slots::{Contributions, collect, show_parts};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "shared_slices",
    aliases: &[],
    source: "Graham, Shipman 2008, who part an allreduce so",
    idea: "In memory that the node shares every rank combines its slice of all vectors, and the root copies the \
            slices of the others.",
    avoid_when: "vectors are short, for ranks wait for each other twice.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    let mut program = Builder::new(rank, size, size).slots(size);
    show_parts((rank, size), contribution(problem, rank), &mut program);
    if rank == root {
        let own = contribution_beside_result(problem, rank, &mut program);
        let contributions = Contributions { rank, own, slot: rank };
        contributions.combine(0..size, Recv.block(rank), Recv.block(rank), &mut program);
        collect((rank, size), |owner| owner, Recv, &mut program);
    } else {
        let contributions = Contributions { rank, own: Send.block(rank), slot: rank };
        let result = Buffer::of_rank(rank).block(rank);
        contributions.combine(0..size, Scratch.block(rank), result, &mut program);
        program.notify(rank);
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_combines_one_slice_and_the_root_copies_the_others() {
        let problem = Problem { root: 1, ..Problem::new(5) };
        for rank in 0..5 {
            let program = schedule(&problem, rank);
            assert_eq!((program.blocks, program.blocks_reduced()), (5, 4));
            let into_recv = |target| program.steps.iter().any(|step| step.runs().contains(&target));
            assert_eq!((0..5).all(|block| into_recv(Recv.block(block))), rank == 1);
        }
    }

    #[test]
    fn two_ranks_need_no_scratch() {
        for rank in 0..2 {
            assert_eq!(schedule(&Problem::new(2), rank).scratch_blocks(), 0);
        }
    }
}
