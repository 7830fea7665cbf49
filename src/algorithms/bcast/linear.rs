//! Linear broadcast: the root sends its vector to every other rank.
//!
//! One round of p − 1 messages; the root sends p − 1 vectors.

use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "linear",
    aliases: &["basic_linear"],
    source: "the definition of MPI_Bcast",
    idea: "The root sends its vector to each of the others.",
    avoid_when: "there are more than a few ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, .. } = *problem;
    match problem.relative(rank) {
        0 => tree_broadcast(0, size, 1, None, 1..size),
        rank => tree_broadcast(rank, size, 1, Some(0), []),
    }
    .relabel(root)
}
