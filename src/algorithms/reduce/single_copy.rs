//! Reduce by single copies: the root copies each vector from the rank's own memory, and combines them.
//!
//! p − 1 copies of the whole vector, one after the other. At the end each rank waits until the root has copied its
//! vector. Keeps the order of operands for every root.

use super::{contribution, contribution_beside_result};
use crate::algorithms::building_blocks::slots::{SOURCE_OF_SINGLE_COPIES, lent};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "single_copy",
    aliases: &[],
    source: SOURCE_OF_SINGLE_COPIES,
    idea: "All others tell the root where their vectors lie, and the root copies them from there and combines them.",
    avoid_when: "there are more than two ranks, for then sharing out the work pays; or vectors are short, for each copy \
            is a call of the system.",
    parameters: &[],
    requires: &[
        Requirement::OneNode,
        Requirement::SharedMemory,
        Requirement::SingleCopy,
        Requirement::Predefined,
    ],
    body: Body::Messages(schedule),
};

/// The scratch block that holds a copied left operand.
const LEFT: usize = 1;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    let mut program = Builder::new(rank, size, 1).slots(1);
    if rank != root {
        program.publish(contribution(problem, rank).block(0), 0);
        return lent(program.build());
    }
    let (own, result) = (contribution_beside_result(problem, 0, &mut program), Recv.block(0));
    let operand = |other: usize, copied: Run, program: &mut Builder| {
        if other == root {
            return own;
        }
        let shown = program.await_slot(other, 0);
        program.copy(shown, copied);
        copied
    };
    // Operators leave their result where the right operand was.
    let mut right = operand(size - 1, result, &mut program);
    for other in (0..size - 1).rev() {
        let left = operand(other, Scratch.block(LEFT), &mut program);
        program.reduce(left, right, result);
        right = result;
    }
    program.copy(right, result);
    lent(program.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_ranks_the_first_needs_no_scratch_memory() {
        for (root, in_place, blocks) in [(0, false, 0), (0, true, 1), (1, false, 2), (1, true, 2)] {
            let problem = Problem { root, in_place, ..Problem::new(2) };
            assert_eq!(schedule(&problem, root).scratch_blocks(), blocks, "root {root}, in place {in_place}");
        }
    }
}
