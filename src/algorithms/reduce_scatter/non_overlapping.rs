//! Reduce and scatter for MPI_Reduce_scatter, both along the binomial tree of rank 0. Blocks of the scatter
//! keep their lengths, as in MPI_Scatterv.
//!
//! 2 ceil(log2 p) rounds; rank 0 receives and reduces ceil(log2 p) whole vectors and sends p − 1 blocks.
//! Keeps the order of operands.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::binomial_tree::{nearest_first, parent, scatter};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Send, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "non_overlapping",
    aliases: &["non-overlapping"],
    source: "Open MPI (non-overlapping); the guideline MPI_Reduce_scatter_block ⪯ MPI_Reduce + MPI_Scatter \
            (Hunold, Carpen-Amarie 2018, PGMPITuneLib)",
    idea: "Rank 0 reduces along a binomial tree and scatters the result along it.",
    avoid_when: "nearly any other algorithm is available, because this one is the baseline for the others.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    // The child with the smallest subtree is the next rank.
    let reduced = tree_reduce(rank, size, 1, Send, parent(rank), nearest_first(rank, size));
    deliver_own_block(reduced.refine(size, |block| block * size).then(scatter(rank, size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_edge_carries_one_message_each_way() {
        for size in 1..40 {
            let sent: usize = (0..size).map(|rank| schedule(&Problem::new(size), rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (size - 1));
        }
    }
}
