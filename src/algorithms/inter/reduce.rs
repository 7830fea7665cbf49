//! Reduction of the other group: that group reduces along the binomial tree to its leader, which sends to the root.
//!
//! ceil(log2 b) + 1 rounds of the whole vector, where b ranks contribute. Keeps the order of operands.

use super::{has_root, reduce_to_leader};

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "inter_leaders",
    aliases: &[],
    source: "Open MPI (`coll/inter`)",
    idea: "The other group reduces to its leader along a binomial tree, and the leader sends the result to the \
            root.",
    avoid_when: "vectors are long.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, 1);
    if has_root(problem) {
        if rank == problem.root {
            program.receive(problem.local(), Recv.block(0));
        }
        return program.build();
    }
    let (reduction, result) = reduce_to_leader(problem, rank);
    if rank == 0 {
        program.send(problem.root, result);
    }
    reduction.then(program.build())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_group_s_leader_reduces_for_the_root() {
        let problem = Problem { root: 11, ..Problem::between(8, 4) };
        let reduced = |rank| ALGORITHM.program(&problem, rank).blocks_reduced();
        assert_eq!(reduced(0), 3);
        assert_eq!((8..12).map(reduced).sum::<usize>(), 0);
    }
}
