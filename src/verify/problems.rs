//! The problems for which an algorithm is verified.

use super::graphs::graphs;
use crate::algorithms::{Algorithm, Cut, Graph, Nodes, Parameter, Problem};
use crate::engine::SlotBounds;

/// Numbers of segments that are tried: none, even, odd, and more than a pipeline holds at a time.
const SEGMENTS: [usize; 4] = [1, 2, 3, 5];

/// Values of [`Problem::window`] that are tried.
const WINDOWS: [usize; 4] = [32, 1, 2, 5];

/// Up to so many ranks, every split into two groups is tried; beyond, a selection.
const EVERY_SPLIT: usize = 20;

/// Up to so many ranks, every radix and number of segments is tried for algorithms that take nodes; beyond, a
/// selection.
const EVERY_PARAMETER_ON_NODES: usize = 16;

/// Returns every problem of `size` ranks that has a schedule of its own: each root, in place and not, each
/// radix, several numbers of segments and topologies, as far as the algorithm distinguishes them. For
/// inter-communicators, each split of the ranks into two groups, or a selection.
pub fn problems(algorithm: &Algorithm, size: usize) -> Vec<Problem> {
    match algorithm.is_for_two_groups() {
        true => splits(size).flat_map(|remote| problems_between(algorithm, size, remote)).collect(),
        false => problems_between(algorithm, size, 0),
    }
}

/// Returns numbers of ranks in the second group, which is never the larger one: a second group runs the
/// programs of a first group, translated ([`Algorithm::program`]).
fn splits(size: usize) -> impl Iterator<Item = usize> {
    let is_selected = move |remote: &usize| size <= EVERY_SPLIT || [1, size / 3, size / 2].contains(remote);
    (1..=size / 2).filter(is_selected)
}

fn problems_between(algorithm: &Algorithm, size: usize, remote: usize) -> Vec<Problem> {
    if algorithm.serves(size, remote, true).is_err() {
        return Vec::new();
    }
    let takes = |parameter| algorithm.parameters.contains(&parameter);
    let base = Problem { remote, ..Problem::new(size) };

    let node_maps = node_maps(algorithm, size);
    if algorithm.contract().cut() == Cut::Edges {
        let is_served = |graph: &Graph| {
            let has_slots = !algorithm.takes_shared_memory() || graph.most_sent() <= SlotBounds::slots(size);
            has_slots && (graph.stencil().is_some() || !algorithm.takes_stencil())
        };
        let on_nodes = |graph: Graph| {
            let problem = Problem { graph, ..base.clone() };
            node_maps.iter().map(move |nodes| Problem { nodes: nodes.clone(), ..problem.clone() })
        };
        return graphs(size).into_iter().filter(is_served).flat_map(on_nodes).collect();
    }
    let mut problems = Vec::new();
    for root in if algorithm.contract().is_rooted() { 0..size } else { 0..1 } {
        // Inter-communicators have no calls in place.
        let may_be_in_place = algorithm.contract().has_in_place() && remote == 0;
        for in_place in [false, true].into_iter().take(1 + usize::from(may_be_in_place)) {
            for radix in radices(algorithm, &base) {
                for segments in segment_counts(algorithm, size) {
                    for &window in if takes(Parameter::Window) { &WINDOWS[..] } else { &WINDOWS[..1] } {
                        for nodes in &node_maps {
                            let (nodes, base) = (nodes.clone(), base.clone());
                            problems.push(Problem { root, in_place, radix, segments, window, nodes, ..base });
                        }
                    }
                }
            }
        }
    }
    problems
}

fn has_selected_parameters(algorithm: &Algorithm, size: usize) -> bool {
    algorithm.takes_nodes() && size > EVERY_PARAMETER_ON_NODES
}

/// Returns the radices that are tried.
fn radices(algorithm: &Algorithm, base: &Problem) -> Vec<usize> {
    let size = base.size;
    match algorithm.parameters.contains(&Parameter::Radix) {
        true if has_selected_parameters(algorithm, size) => vec![2, base.radix, size],
        true => (2..=size.max(2)).collect(),
        false => vec![base.radix],
    }
}

/// Returns the numbers of segments that are tried.
fn segment_counts(algorithm: &Algorithm, size: usize) -> Vec<usize> {
    match algorithm.cuts_segments() {
        true if has_selected_parameters(algorithm, size) => vec![1, 5],
        // Where each rank's part of a vector is cut, segments only matter beyond the number of ranks.
        true => SEGMENTS.into_iter().chain((size <= 16).then_some(size + 1)).collect(),
        false => vec![1],
    }
}

/// Returns placements of ranks on nodes, for algorithms that take nodes: all on one, each on its own, several
/// neighbours on each, in turn, and ever more neighbours.
fn node_maps(algorithm: &Algorithm, size: usize) -> Vec<Nodes> {
    let node_of: [fn(usize) -> usize; 6] =
        [|rank| rank, |rank| rank / 2, |rank| rank / 3, |rank| rank / 4, |rank| rank % 3, usize::isqrt];
    let map = |node: fn(usize) -> usize| (0..size).map(|rank| node(rank) as u32).collect();
    let taken = if algorithm.takes_nodes() { &node_of[..] } else { &[] };
    [Nodes::default()].into_iter().chain(taken.iter().copied().map(map)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;

    fn count(collective: Collective, name: &str, size: usize) -> usize {
        problems(collective.algorithm(name).unwrap(), size).len()
    }

    #[test]
    fn every_choice_is_a_problem() {
        assert_eq!(count(Collective::Allreduce, "ring", 10), 2);
        assert_eq!(count(Collective::Alltoall, "bruck", 10), 2 * 9);
        assert_eq!(count(Collective::Alltoall, "bruck", 1), 2);
        assert_eq!(count(Collective::Bcast, "binomial", 10), 10 * 5);
        assert_eq!(count(Collective::Bcast, "scatter_ring_allgather", 10), 10);
        assert_eq!(count(Collective::Bcast, "node_aware", 10), 10 * 7);
        assert_eq!(count(Collective::Bcast, "node_aware_chain", 10), 10 * 5 * 7);
        assert_eq!(count(Collective::Bcast, "node_aware_chain", 20), 20 * 2 * 7);
        assert_eq!(count(Collective::Bcast, "shared", 10), 10);
        assert_eq!(count(Collective::Allreduce, "shared_flat", 10), 2);
        assert_eq!(count(Collective::Bcast, "node_aware_knomial", 10), 10 * 7 * 9);
        assert_eq!(count(Collective::Bcast, "node_aware_knomial", 20), 20 * 7 * 3);
        assert_eq!(count(Collective::Allreduce, "node_aware", 16), 2 * 7 * 15);
        assert_eq!(count(Collective::Allreduce, "node_aware", 64), 2 * 7 * 3);
        let graphs = count(Collective::NeighborAlltoall, "linear", 10);
        assert_eq!(count(Collective::NeighborAlltoall, "node_aware", 10), 7 * graphs);
        assert_eq!(count(Collective::Bcast, "inter_leaders", 10), 5 * 10);
        assert_eq!(count(Collective::Allgather, "inter_leaders", 1), 0);
        assert_eq!(count(Collective::Allgather, "inter_leaders", 60), 3);
    }
}
