//! Reduce-scatter in shared memory: every rank shows all others their blocks, and combines its own block of all.
//!
//! A rank awaits one flag of each other rank, writes p − 1 blocks and combines as many. Keeps the order of operands.

use crate::algorithms::building_blocks::slots::{Contributions, show_parts};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "shared",
    aliases: &[],
    source: "Graham, Shipman 2008, as the first half of an allreduce",
    idea: "Every rank shows the others their blocks in memory that the node shares, and combines what they show \
            of its own block.",
    avoid_when: "there are so many ranks that waiting for a flag of each of them costs more than some rounds.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size).slots(size);
    show_parts((rank, size), Send, &mut program);
    let contributions = Contributions { rank, own: Send.block(rank), slot: rank };
    contributions.combine(0..size, Recv.block(rank), Recv.block(rank), &mut program);
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_stand_where_the_result_will() {
        let program = schedule(&Problem::new(5), 2);
        assert_eq!((program.scratch_blocks(), program.blocks_reduced(), program.slots), (0, 4, 5));
    }
}
