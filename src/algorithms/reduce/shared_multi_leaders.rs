//! Reduce for long vectors on several nodes. Each rank combines a slice of what all ranks of its node show, then
//! combines the slice with the ranks of its number on the other nodes. The root collects the slices of its node.
//!
//! With m nodes of q ranks: 2 log2(m) rounds between the nodes. In halving a rank sends (m−1)/m of a slice of n/q
//! bytes, in gathering at most half of it. A rank reduces (q−1)/q of a vector on its node. Slices are cut as in
//! allreduce's `shared_multi_leaders`. Ranks of a node are combined first, so the operator must commute.

use super::rabenseifner::halve_and_gather_of;
use super::{at_root, combined, contribution, shared_leaders};
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{collect_slices, combine_slices, with_slots_of_slices};
use crate::algorithms::{Algorithm, Body, Problem};
use crate::schedule::{Buffer, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders",
    source: "the multi-leader designs of Bayatpour et al. 2017; between the nodes as in `rabenseifner`",
    idea: "Each rank combines a slice of what its node shows in shared memory, then with one rank of every other node. The root \
            collects the slices.",
    avoid_when: "vectors are short, or each rank has a node of its own, or all share one.",
    parameters: &[],
    body: Body::Messages(schedule),
    ..shared_leaders::ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    through_owners(problem, rank, |node, nodes, combined| {
        halve_and_gather_of(&Problem::new(nodes), node, combined, Butterfly::nearest_first)
    })
}

/// Reduces with slices that the ranks of a node own. `between(node, nodes, combined)` returns the program
/// among the owners of a slice on `nodes` nodes; the buffer `combined` holds the node's result.
pub fn through_owners(
    problem: &Problem,
    rank: usize,
    between: impl Fn(usize, usize, Buffer) -> Schedule,
) -> Schedule {
    let placement = Placement::of(problem);
    let place @ Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let slices = placement.slices();
    let contribution = contribution(problem, rank);
    let among_owners = between(node, placement.nodes(), combined(contribution, population));
    let width = among_owners.blocks;
    let up = placement.within(node, combine_slices(local, population, slices, width, contribution));
    let mut program = placement.among_owners(place, slices, &among_owners).fold(up, Schedule::then);
    if node == 0 {
        program = program.then(placement.within(node, collect_slices(local, population, slices, width)));
    }
    with_slots_of_slices(width, placement.most_members(), at_root(problem, program))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_sends_its_slice_once_and_the_root_gets_those_of_its_node() {
        // Four nodes of four ranks: 16 blocks, four of them in a rank's slice.
        let problem = Problem { root: 5, nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let program = schedule(&problem, rank);
            assert_eq!((program.blocks, program.slots), (16, 16));
            assert_eq!(program.blocks_reduced(), 3 * 4 + 3);
            // Three in halving. In gathering the ranks of the root's node send none, the others one or two.
            let gathered = program.blocks_sent() - 3;
            assert_eq!(gathered > 0, rank / 4 != 1);
            assert!(gathered <= 2);
        }
    }
}
