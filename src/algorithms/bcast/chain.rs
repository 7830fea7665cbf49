//! Chain for MPI_Bcast: every rank passes segment after segment on to the next.
//!
//! With k segments k + p − 2 rounds of one segment.

use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "chain",
    aliases: &["pipeline"],
    source: "the pipeline of van de Geijn; Open MPI's chain of fan-out one",
    idea: "The vector is cut into segments, and every rank passes one segment after the other on to the next \
            rank.",
    avoid_when: "vectors are short or ranks many, for the last rank waits for all others.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let rank = problem.relative(rank);
    let next = Some(rank + 1).filter(|&next| next < size);
    tree_broadcast(rank, size, segments, rank.checked_sub(1), next).relabel(root)
}
