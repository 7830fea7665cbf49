//! Pairwise exchange for MPI_Reduce_scatter: every rank sends each other one its block, one at a time.
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.4.
//! p − 1 rounds of one block each; needs no more scratch than one block.
//! Combines contributions in ring order, so the operator must commute. Loses when: blocks are small; to `ring`, where
//! far partners cost more than near ones.

use super::alone;
use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const REDUCE_SCATTER: Algorithm = Algorithm {
    collective: Collective::ReduceScatter,
    name: "pairwise",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.4",
    parameters: &[],
    requires: &[Requirement::Commutative],
    schedule,
};

pub const REDUCE_SCATTER_BLOCK: Algorithm =
    Algorithm { collective: Collective::ReduceScatterBlock, ..REDUCE_SCATTER };

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let mut program = Builder::new(rank, size, size);
    for round in 1..size {
        let (target, source) = ((rank + round) % size, (rank + size - round) % size);
        let (reduced, incoming) = if round == 1 { (Send, Recv) } else { (Recv, Scratch) };
        program.exchange((target, Send.block(target)), (source, incoming.block(rank)));
        program.reduce(incoming.block(rank), reduced.block(rank), Recv.block(rank));
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume() {
        for size in 2..20 {
            let program = schedule(&Problem::new(size), size - 1);
            assert_eq!(program.rounds(), size - 1);
            assert_eq!(program.blocks_sent(), size - 1);
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }
}
