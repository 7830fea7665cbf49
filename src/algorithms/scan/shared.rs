//! Scans in shared memory: every rank shows its vector to the ranks above, and combines the vectors of the ranks below.
//!
//! A rank awaits a flag of each rank below and reads its vector, all ranks at once. Keeps the order of operands.

use super::contribution;
use crate::algorithms::building_blocks::slots::Contributions;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "shared",
    aliases: &[],
    source: "the definition of MPI_Scan",
    idea: "Every rank shows its vector in memory that the node shares, and combines those of the ranks below.",
    avoid_when: "there are many ranks, for the last one combines the vectors of all.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::OneNode, Requirement::SharedMemory, Requirement::Predefined],
    body: Body::Messages(|problem, rank| schedule(problem, rank, rank + 1)),
};

pub const EXSCAN: Algorithm = Algorithm {
    collectives: &[Collective::Exscan],
    body: Body::Messages(|problem, rank| schedule(problem, rank, rank)),
    ..SCAN
};

/// Returns the program of a rank that combines the contributions of the first `combined` ranks.
fn schedule(problem: &Problem, rank: usize, combined: usize) -> Schedule {
    let own = contribution(problem).block(0);
    let mut program = Builder::new(rank, problem.size, 1).slots(1);
    if rank + 1 < problem.size {
        program.publish(own, 0);
    }
    if combined > 0 {
        let contributions = Contributions { rank, own, slot: 0 };
        contributions.combine(0..combined, Recv.block(0), Recv.block(0), &mut program);
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn nobody_waits_for_ranks_above() {
        for algorithm in [SCAN, EXSCAN] {
            for rank in 0..5 {
                let program = algorithm.schedule(&Problem::new(5), rank);
                let awaited = program.steps.iter().filter_map(|step| match step {
                    Step::Await { rank, .. } => Some(*rank as usize),
                    _ => None,
                });
                assert_eq!(awaited.collect::<Vec<_>>(), (0..rank).rev().collect::<Vec<_>>());
            }
        }
    }
}
