//! Node-aware allreduce for long vectors: reduce-scatter on every node, allreduces between the nodes, allgather on every
//! node.
//!
//! With m nodes of q ranks each rank is left with 1/q of the vector. It reduces this part with the ranks that have
//! the same local number on the other nodes. There are 2 ceil(log2 q) rounds on the nodes and 2 ceil(log_k m) between
//! them. A node sends 2n(m−1)/m bytes. If nodes differ in size, one rank acts for each node, as in `node_aware`.
//! The values of a node's ranks are combined first, so the operator must commute.

use super::circulant;
use super::contribution;
use super::node_aware::{among_nodes, through_leaders};
use crate::algorithms::building_blocks::circulant::{allgather, of_rank, reduce_scatter};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "node_aware_circulant",
    aliases: &[],
    source: "the multi-leader designs of Bayatpour et al. 2017; on the nodes and between them as in `circulant`",
    idea: "The ranks of a node share out the vector: each combines its part of it, then with ranks on the other \
            nodes, and all collect the parts.",
    avoid_when: "vectors are short, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages(schedule),
};

/// The algorithm between the ranks with the same local number on all nodes.
const BETWEEN: Algorithm = circulant::ALGORITHM;

/// The radix on the nodes, where rounds are cheap.
const WITHIN: usize = 2;

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    match placement.common_population() {
        Some(population) => by_slices(problem, &placement, rank, population),
        None => through_leaders(problem, rank, &BETWEEN),
    }
}

/// Returns the program in which each rank acts for its node with one slice of the vector.
fn by_slices(problem: &Problem, placement: &Placement, rank: usize, population: usize) -> Schedule {
    let place @ Place { node, local } = placement.place(rank);
    let slice = BETWEEN.schedule(&among_nodes(problem, placement, population == 1), node);
    let width = slice.blocks;
    let within =
        |program: Schedule| placement.within(node, program.refine(population * width, |slice| slice * width));
    let up = within(of_rank(local, reduce_scatter(population, WITHIN, contribution(problem))));
    placement
        .among_owners(place, population, &slice)
        .fold(up, Schedule::then)
        .then(within(of_rank(local, allgather(population, WITHIN))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_sends_its_slice_to_other_nodes() {
        // Four nodes of four: 16 blocks. A rank's slice has 4 of them; the rank sends 2(4 − 1) blocks to its peers.
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!(schedule.blocks, 16);
            assert_eq!(schedule.blocks_sent(), 2 * (16 - 4) + 2 * (4 - 1));
        }
    }
}
