//! Linear algorithm for MPI_Allreduce: rank 0 receives from all others in turn, reduces, and sends the result to all.
//!
//! p − 1 messages of the whole vector up, then as many down. Keeps the order of operands.

use super::contribution;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "linear",
    aliases: &["basic_linear"],
    source: "Open MPI (basic_linear)",
    idea: "Rank 0 receives the vectors of all others, combines them in their order, and sends the result to \
            everybody.",
    avoid_when: "there are more than a few ranks.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let (parent, children) = if rank == 0 { (None, 1..size) } else { (Some(0), 0..0) };
    tree_reduce(rank, size, 1, contribution(problem), parent, children.clone())
        .then(tree_broadcast(rank, size, 1, parent, children))
}
