//! Bine tree for MPI_Gather: the tree whose edges have the negabinary lengths 1, −1, 3, −5, 11, ….
//!
//! Every rank collects the blocks of its subtree, then sends them on together. The ranks of a subtree are consecutive
//! modulo p, so their blocks are one run or two. Rounds and volume as in `binomial`: ceil(log2 p) rounds, and if p is a
//! power of two, (p/2)·log2 p blocks in all. Edges are a third shorter.

use super::binomial::collect;
use crate::algorithms::building_blocks::bine::Tree;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Gather],
    name: "bine",
    aliases: &[],
    source: "De Sensi et al. 2025 (Bine trees, arXiv 2508.17311)",
    idea: "Every rank collects the blocks of its subtree and sends them on together. In the tree ranks are at distance 1, 1, 3, 5, 11, …, \
            to the right and to the left in turn.",
    avoid_when: "blocks are large, because ranks pass them on instead of sending them straight to the root.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (relative, tree) = (problem.relative(rank), Tree::new(problem.size));
    collect(problem, rank, tree.population(relative), tree.gather(relative, problem.size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_powers_of_two() {
        for exponent in 0..7 {
            let problem = Problem { root: (1 << exponent) / 3, ..Problem::new(1 << exponent) };
            let blocks: usize = (0..problem.size).map(|rank| schedule(&problem, rank).blocks_sent()).sum();
            assert_eq!(blocks, problem.size / 2 * exponent);
        }
    }

    #[test]
    fn one_message_for_each_rank_but_the_root() {
        for size in 1..40_usize {
            let problem = Problem { root: size / 3, ..Problem::new(size) };
            let sent = (0..size).map(|rank| schedule(&problem, rank).messages_sent());
            assert_eq!(sent.sum::<usize>(), size - 1);
        }
    }
}
