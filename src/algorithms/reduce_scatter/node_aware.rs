//! Node-aware reduce-scatter: reduce on every node, reduce-scatter of the nodes' blocks between them, scatter on every node.
//!
//! With m nodes of up to q ranks: 2 ceil(log_k q) rounds on the nodes, ceil(log_k m) between them. A node of
//! q ranks sends (m − 1)q blocks if all nodes are alike. On each node one rank reduces the whole vector.
//! Ranks of a node are combined first, so the operator must commute.

use super::{alone, deliver_own_block};
use crate::algorithms::building_blocks::circulant::{of_rank, reduce_scatter};
use crate::algorithms::building_blocks::knomial_tree::{nearest_first, parent, scatter};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer::*, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "node_aware",
    aliases: &[],
    source: "the hierarchical collectives of Open MPI (han), MVAPICH; between the nodes as in `circulant`, on \
            them along k-nomial trees",
    idea: "Each node reduces to one of its ranks, these reduce and scatter the nodes' blocks among themselves, \
            and each scatters on its node.",
    avoid_when: "each rank has a node of its own, or all share one, or vectors are very long.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    if size == 1 {
        return alone();
    }
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let population = placement.population(node);
    let contribution = if population == 1 { Send } else { Recv };
    let between_radix = legal_radix(radix, placement.nodes());
    let among_leaders = of_rank(node, reduce_scatter(placement.nodes(), between_radix, contribution));
    let between = placement.between(placement.with_blocks_of_nodes(among_leaders));
    if population == 1 {
        return deliver_own_block(between);
    }
    let first_ready = nearest_first(local, population, radix);
    let up = tree_reduce(local, population, 1, Send, parent(local, radix), first_ready);
    let up = placement.within(node, up.refine(size, |vector| vector * size));
    let down =
        placement.within(node, placement.with_blocks_of_members(node, scatter(local, population, radix)));
    deliver_own_block(if local == 0 { up.then(between).then(down) } else { up.then(down) })
}
