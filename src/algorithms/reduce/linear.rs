//! Linear algorithm for MPI_Reduce: the root receives from all others in turn.
//!
//! p − 1 rounds of the whole vector. Keeps the order of operands for every root: its own vector first, then those of
//! the ranks below from the nearest down, then those above.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "linear",
    aliases: &[],
    source: "Open MPI (linear)",
    idea: "The root receives the vectors of the others one after the other and combines them.",
    avoid_when: "there are more than a few ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    let contribution = contribution(problem, rank);
    if rank == root {
        tree_reduce(rank, size, 1, contribution, None, (0..root).rev().chain(root + 1..size))
    } else {
        at_root(problem, tree_reduce(rank, size, 1, contribution, Some(root), []))
    }
}
