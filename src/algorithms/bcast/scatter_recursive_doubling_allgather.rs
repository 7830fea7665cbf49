//! Scatter and recursive-doubling allgather for MPI_Bcast.
//!
//! p a power of two: 2 log2(p) rounds, 2n(p−1)/p bytes sent by the root. Otherwise the first 2^floor(log2 p) ranks,
//! counted from the root, do this. Then each other rank gets the whole vector from one of them, in one more round.

use crate::algorithms::building_blocks::binomial_tree::scatter;
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::recursive_halving::allgather;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "scatter_recursive_doubling_allgather",
    aliases: &["scatter_allgather"],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.2",
    idea: "The root scatters the vector along a binomial tree, and the ranks collect its blocks again by \
            recursive doubling.",
    avoid_when: "vectors are long and partners far apart, or the number of ranks is no power of two.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let (rank, size) = (problem.relative(rank), problem.size);
    let participants = 1 << size.ilog2();
    let vector = Recv.blocks(0..participants);
    let mut last = Builder::new(rank, size, participants);
    if rank >= participants {
        last.receive(rank - participants, vector);
        return last.build().relabel(problem.root);
    }
    if rank + participants < size {
        last.send(rank + participants, vector);
    }
    scatter(rank, participants)
        .then(allgather(Butterfly::farthest_first(participants), rank, participants))
        .embed(size, |rank| rank)
        .then(last.build())
        .relabel(problem.root)
}
