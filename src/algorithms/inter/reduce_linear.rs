//! Every rank of the other group sends its vector straight to the root, which combines them in the order of ranks.
//!
//! One round of b messages, where b ranks contribute; the root receives b vectors and combines them with b − 1
//! operations. Keeps the order of operands.

use super::{combine_others, has_root};
use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Send, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "inter_linear",
    aliases: &[],
    source: "the definition of MPI_Reduce; Open MPI (`coll/libnbc`)",
    idea: "Every rank of the other group sends its vector straight to the root, which combines them.",
    avoid_when: "the other group is large, or vectors are long, for all of them arrive at the root.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, 1);
    match has_root(problem) {
        true if rank == problem.root => combine_others(&mut program, problem),
        true => {}
        false => {
            program.send(problem.root, Send.block(0));
        }
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_combines_alone() {
        let problem = Problem { root: 11, ..Problem::between(8, 4) };
        let reduced = |rank| ALGORITHM.program(&problem, rank).blocks_reduced();
        assert_eq!((0..11).map(reduced).sum::<usize>(), 0);
        assert_eq!(reduced(11), 7);
    }
}
