//! Algorithms for several nodes: phases on the nodes, and between them.

use super::super::numbers::{count, listed};
use super::super::pattern::with_others;
use super::super::scene::Scene;
use super::{Family, Phase};
use crate::trace::Sentence;
use rustcoll::algorithms::Collective::*;
use rustcoll::algorithms::Cut;
use rustcoll::trace::Travel;
use std::collections::BTreeMap;

pub const FAMILY: Family = Family { phase, facts, ..Family::NONE };

fn node(scene: &Scene, rank: usize) -> u32 {
    scene.problem().nodes.of(rank)
}

fn phase(scene: &Scene, travel: &Travel) -> Option<Phase> {
    let own = node(scene, travel.source);
    if own != node(scene, travel.target) {
        return Some(Phase::new("Between nodes", Sentence::plain(between(scene))));
    }
    let has_come = |travel: &Travel| node(scene, travel.target) == own && node(scene, travel.source) != own;
    let has_gone = |travel: &Travel| node(scene, travel.source) == own && node(scene, travel.target) != own;
    let is_between = |travel: &Travel| node(scene, travel.source) != node(scene, travel.target);
    if !scene.all().flatten().any(is_between) {
        return None;
    }
    let is_finished = scene.collective().reduces() && scene.contributors(travel) == Some(scene.size());
    let is_after =
        is_finished || scene.earlier().flatten().any(|travel| has_come(travel) || has_gone(travel));
    let text = if is_after || scene.collective() == Bcast { after(scene) } else { before(scene) };
    Some(Phase::new("On the nodes", Sentence::plain(text)))
}

fn before(scene: &Scene) -> &'static str {
    match scene.collective() {
        Allgather | Allgatherv => "On each node blocks are gathered at the rank that stands for it.",
        Alltoall | Alltoallv | Alltoallw => {
            "On each node the ranks give each other blocks, and those that the other one sends on to another node."
        }
        collective if collective.cut() == Cut::Edges => {
            "On each node blocks go to the rank that sends them to another node, or straight to neighbours."
        }
        _ if splits(scene) => "On each node the ranks combine the vector, each a part of it.",
        _ => "On each node vectors are combined at the rank that stands for it.",
    }
}

fn between(scene: &Scene) -> &'static str {
    match scene.collective() {
        _ if splits(scene) => "Ranks of different nodes that have the same part combine it.",
        Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw => {
            "Ranks that stand for their nodes exchange what these have to send."
        }
        collective if collective.cut() == Cut::Edges => {
            "From a node to each other node with neighbours goes one message."
        }
        Barrier => "Ranks that stand for their nodes tell each other who has come.",
        Bcast => "The vector, or a part of it, goes from node to node.",
        _ => "Ranks that stand for their nodes combine what these have combined.",
    }
}

fn after(scene: &Scene) -> &'static str {
    match scene.collective() {
        // Ranks of a node need not begin the second phase together.
        Alltoall | Alltoallv | Alltoallw => before(scene),
        ReduceScatter | ReduceScatterBlock => {
            "On each node the results are scattered from the rank that stands for it."
        }
        Bcast => "On each node the vector, or a part of it, is passed on.",
        Reduce => "On each node vectors are combined at the rank that stands for it.",
        _ if splits(scene) => "On each node the ranks collect the finished parts from each other.",
        _ => "On each node what has come is passed on from the rank that stands for it.",
    }
}

/// Whether each rank communicates with other nodes for its own part of the vector. This needs equal nodes.
fn splits(scene: &Scene) -> bool {
    let name = scene.subjects.algorithm.map_or("", |algorithm| algorithm.name);
    let is_multi_leader = name.starts_with("shared_multi_leaders") && scene.collective() == Allreduce;
    let is_such = name == "node_aware_circulant" || is_multi_leader;
    let nodes = nodes(scene);
    is_such && nodes.iter().all(|ranks| ranks.len() == nodes[0].len())
}

/// Returns the ranks of each node.
fn nodes(scene: &Scene) -> Vec<Vec<usize>> {
    let mut nodes: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for rank in 0..scene.size() {
        nodes.entry(node(scene, rank)).or_default().push(rank);
    }
    nodes.into_values().collect()
}

fn facts(scene: &Scene) -> Vec<String> {
    let nodes = nodes(scene);
    let ranks: Vec<String> = nodes.iter().map(|ranks| format!("({})", listed(ranks))).collect();
    let verb = if nodes.len() == 1 { "has" } else { "have" };
    vec![format!("{} {verb} the ranks {}.", count(nodes.len(), "node"), with_others(ranks))]
}

#[cfg(test)]
mod tests {
    use super::super::testing::{of_run, step, titles};
    use rustcoll::algorithms::Collective::{Allreduce, Alltoall, NeighborAlltoall};
    use rustcoll::algorithms::{Dimension, Graph, Problem};

    fn problem() -> Problem {
        Problem { nodes: [0, 0, 0, 1, 1, 1].into(), ..Problem::new(6) }
    }

    #[test]
    fn neighbours_on_other_nodes_are_reached_by_one_message() {
        let graph = Graph::grid(&[Dimension { length: 6, periodic: true }]);
        let problem = Problem { graph, ..problem() };
        let said = |number| step(NeighborAlltoall, "node_aware", &problem, number)[1].clone();
        assert_eq!(
            said(0),
            "On each node blocks go to the rank that sends them to another node, or straight to neighbours."
        );
        let all = titles(NeighborAlltoall, "node_aware", &problem);
        assert!(all.iter().any(|title| title == "Between nodes"), "{all:?}");
    }

    #[test]
    fn messages_stay_on_nodes_or_do_not() {
        assert_eq!(of_run(Allreduce, "node_aware", &problem()), ["2 nodes have the ranks (0–2), (3–5)."]);
        assert_eq!(
            step(Allreduce, "node_aware", &problem(), 0),
            [
                "On the nodes",
                "On each node vectors are combined at the rank that stands for it.",
                "Ranks i = 2, 5 send to rank i − 2. | i − 2; rank 2: 2 − 2 = 0",
                "Each message has 1 block; rank 2 sends block 0 of its send buffer. | block 0 of rank 2",
            ]
        );
        assert_eq!(
            step(Allreduce, "node_aware", &problem(), 4)[..3],
            [
                "Between nodes",
                "Ranks that stand for their nodes combine what these have combined.",
                "Ranks 0 and 3 exchange messages."
            ]
        );
        assert_eq!(
            step(Allreduce, "node_aware", &problem(), 6)[1],
            "On each node what has come is passed on from the rank that stands for it."
        );
        assert_eq!(
            step(Alltoall, "node_aware", &problem(), 0)[..2],
            [
                "On the nodes",
                "On each node the ranks give each other blocks, and those that the other one sends on to another node."
            ]
        );
        assert_eq!(
            step(Alltoall, "node_aware", &problem(), 2)[..2],
            ["Between nodes", "Ranks that stand for their nodes exchange what these have to send."]
        );
    }

    #[test]
    fn of_many_nodes_the_first_are_named() {
        let problem = Problem { nodes: (0..16).map(|rank| rank / 2).collect(), ..Problem::new(16) };
        assert_eq!(
            of_run(Allreduce, "node_aware", &problem),
            ["8 nodes have the ranks (0, 1), (2, 3), (4, 5), (6, 7) and 4 others."]
        );
    }

    #[test]
    fn ranks_of_nodes_are_numbered() {
        assert_eq!(
            step(Allreduce, "node_aware_circulant", &problem(), 0)[1..3],
            [
                "On each node the ranks combine the vector, each a part of it.",
                "On every node rank number j of it sends to number (j − 1) mod 3. | rank 3 is number 0: (0 − 1) mod 3 = 2, which is rank 5",
            ]
        );
    }

    #[test]
    fn of_one_node_and_of_uneven_ones_no_more_is_said_than_fits() {
        let one = Problem { nodes: [0, 0, 0].into(), ..Problem::new(3) };
        assert_eq!(titles(Allreduce, "node_aware", &one)[0], "Communication step 0");
        let uneven = Problem { nodes: [0, 0, 0, 1, 1].into(), ..Problem::new(5) };
        assert_eq!(
            step(Allreduce, "node_aware_circulant", &uneven, 0)[1],
            "On each node vectors are combined at the rank that stands for it."
        );
    }

    #[test]
    fn shared_memory_is_told_by_its_works() {
        assert_eq!(
            titles(Allreduce, "shared_leaders", &problem()),
            [
                "Shared memory",
                "Reduction in shared memory",
                "Between nodes",
                "Reduction in shared memory",
                "Shared memory"
            ]
        );
        assert_eq!(
            step(Allreduce, "shared_leaders", &problem(), 0),
            [
                "Shared memory",
                "Ranks 1, 2, 4, 5 write 1 block each into their own slots, where the node can read.",
                "Ranks 1, 2, 4, 5 raise 1 flag each for what others may now read.",
            ]
        );
        assert_eq!(
            step(Allreduce, "shared_leaders", &problem(), 4),
            [
                "Shared memory",
                "Ranks 1, 2, 4, 5 see 1 flag each that others have raised.",
                "Ranks 1, 2, 4, 5 copy 1 block each out of slots of others.",
            ]
        );
    }
}
