//! Reduce for short vectors along two k-nomial trees: on each node in shared memory up to its leader, then by messages
//! between the leaders. On one node, the root is the leader.
//!
//! With m nodes of up to q ranks the root receives w(k−1) − floor((k^w − m)/k^(w−1)) messages of the whole vector,
//! where w = ceil(log_k m). If k ≥ m, there is one round. On a node the leader reads as many vectors, with q for m; if
//! k ≥ q, it reads them all.
//! Ranks of a node are combined first, so the operator must commute.

use super::{at_root, combined, contribution};
use crate::algorithms::building_blocks::knomial_tree::{nearest_first, parent};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::shared_node::{combine_at_leader, groups, with_slots_of_blocks};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han), the k-nomial trees of both, and the trees in shared memory of \
            Open MPI (sm) and MPICH (release-gather)",
    idea: "The ranks of a node combine what they show each other in shared memory, up a k-nomial tree. One rank of each \
            node passes the sum on, up another such tree.",
    avoid_when: "vectors are long, for the root receives them from several nodes.",
    parameters: &[Parameter::Radix],
    requires: &[
        Requirement::Nodes,
        Requirement::SharedMemory,
        Requirement::Predefined,
        Requirement::Commutative,
    ],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let radix = problem.radix;
    through_leaders(problem, rank, 1, |node, nodes, combined| {
        tree_reduce(node, nodes, 1, combined, parent(node, radix), nearest_first(node, nodes, radix))
    })
}

/// Reduces `blocks` blocks on each node at its leader, then among the leaders. `between(node, nodes, combined)` returns the
/// program of a node's leader among `nodes` leaders; the buffer `combined` holds the node's result.
pub fn through_leaders(
    problem: &Problem,
    rank: usize,
    blocks: usize,
    between: impl Fn(usize, usize, Buffer) -> Schedule,
) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let contribution = contribution(problem, rank);
    let to_leader = combine_at_leader(local, population, problem.radix, groups(0..blocks), contribution);
    let up = placement.within(node, to_leader);
    let among_leaders = || between(node, placement.nodes(), combined(contribution, population));
    let program = if local == 0 { up.then(placement.between(among_leaders())) } else { up };
    with_slots_of_blocks(placement.most_members(), at_root(problem, program))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn on_one_node_each_rank_awaits_its_children_in_the_tree() {
        let awaits = |radix: usize, rank: usize| {
            let problem = Problem { root: 2, radix, nodes: vec![0; 16].into(), ..Problem::new(16) };
            let program = schedule(&problem, rank);
            assert_eq!(program.messages_sent(), 0);
            program.steps.iter().filter(|step| matches!(step, Step::Await { .. })).count()
        };
        assert_eq!([2, 4, 8, 12, 3].map(|rank| awaits(4, rank)), [6, 3, 3, 3, 0]);
        assert_eq!([2, 4, 8, 12, 3].map(|rank| awaits(16, rank)), [15, 0, 0, 0, 0]);
    }

    #[test]
    fn leaders_alone_send_and_each_once() {
        let problem = Problem { root: 7, nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
        let sent: Vec<usize> = (0..10).map(|rank| schedule(&problem, rank).messages_sent()).collect();
        // The root is on node 1; ranks 0 and 2 lead the other nodes.
        assert_eq!(sent, [1, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    }
}
