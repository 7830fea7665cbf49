//! Binomial tree in the order of ranks for MPI_Reduce, whole or in segments. Ranks are not rotated but mirrored, so
//! each subtree is a range of ranks for every root.
//!
//! p a power of two: log2(p) rounds of the whole vector. Otherwise the ranks beyond a power of two are folded, which
//! adds a round; the root is never folded. With k segments a rank reduces a segment while the next one arrives: k
//! log2(p) rounds. Folding adds k rounds if the root acts for a folded rank, and otherwise at most one.
//! Keeps the order of operands for every root.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::binomial_tree::{nearest_first, parent};
use crate::algorithms::building_blocks::fold::{Fold, Role};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "binomial_in_order",
    aliases: &[],
    source: "the tree along which the halving of Rabenseifner 2004 combines, with whole vectors",
    idea: "A binomial tree whose subtrees are ranges of ranks, whatever the root, so that the order of operands \
            is kept.",
    avoid_when: "vectors are long, for the root combines one in every round.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, root, .. } = *problem;
    let (parent, children) = neighbors(rank, size, root);
    at_root(problem, tree_reduce(rank, size, segments, contribution(problem, rank), parent, children))
}

/// Returns a rank's parent and its children, in the order in which they are ready: the smallest subtree first.
fn neighbors(rank: usize, size: usize, root: usize) -> (Option<usize>, Vec<usize>) {
    let fold = Fold::keeping(size, root);
    // XOR exchanges halves of aligned ranges of participants: the root gets position 0, and the ranges stay ranges.
    let mirrored = |participant: usize| participant ^ fold.participant(root);
    let member = |position: usize| fold.member(mirrored(position));
    let position = mirrored(fold.participant(rank));
    let below = nearest_first(position, fold.participants).into_iter().map(member);
    match fold.role(rank) {
        Role::Folded => (Some(fold.other(rank)), Vec::new()),
        Role::Single(_) => (parent(position).map(member), below.collect()),
        Role::Keeper(_) => {
            (parent(position).map(member), [fold.other(rank)].into_iter().chain(below).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_know_their_parents() {
        for size in 1..40 {
            for root in 0..size {
                for rank in 0..size {
                    let (_, children) = neighbors(rank, size, root);
                    assert!(children.iter().all(|&child| neighbors(child, size, root).0 == Some(rank)));
                }
                assert_eq!(neighbors(root, size, root).0, None);
            }
        }
    }

    #[test]
    fn the_root_reduces_as_often_as_the_tree_is_deep() {
        for size in 1..70_usize {
            let problem = Problem { root: size / 3, ..Problem::new(size) };
            let folded = problem.root < 2 * (size - (1 << size.ilog2()));
            let expected = size.ilog2() as usize + usize::from(folded);
            assert_eq!(schedule(&problem, problem.root).blocks_reduced(), expected, "p = {size}");
        }
    }
}
