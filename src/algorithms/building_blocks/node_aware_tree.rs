//! Trees in which only one rank of each node communicates with other nodes: a tree of leaders, and below each
//! leader a k-nomial tree.

use super::knomial_tree;
use super::placement::{Place, Placement};
#[cfg(test)]
use crate::algorithms::Problem;
#[cfg(test)]
use crate::schedule::{Schedule, Step};

/// The tree of the leaders; node numbers are its ranks.
#[derive(Clone, Copy, Debug)]
pub enum Leaders {
    Knomial(usize),
    Chain,
}

/// Returns a rank's parent and its children: first those on other nodes, then those on its own node. Among
/// each, the largest subtrees come first. `radix` is that of the trees on the nodes.
pub fn neighbors(
    placement: &Placement,
    leaders: Leaders,
    radix: usize,
    rank: usize,
) -> (Option<usize>, Vec<usize>) {
    let Place { node, local } = placement.place(rank);
    let member = |local| placement.member(Place { node, local });
    let parent = match local {
        0 => leaders.parent(node).map(|node| placement.leader(node)),
        _ => knomial_tree::parent(local, radix).map(member),
    };
    let outside = if local == 0 { leaders.children(node, placement.nodes()) } else { Vec::new() };
    let outside = outside.into_iter().map(|node| placement.leader(node));
    let inside = knomial_tree::children(local, placement.population(node), radix).map(member);
    (parent, outside.chain(inside).collect())
}

impl Leaders {
    fn parent(self, node: usize) -> Option<usize> {
        match self {
            Leaders::Knomial(radix) => knomial_tree::parent(node, radix),
            Leaders::Chain => node.checked_sub(1),
        }
    }

    fn children(self, node: usize, nodes: usize) -> Vec<usize> {
        match self {
            Leaders::Knomial(radix) => knomial_tree::children(node, nodes, radix).collect(),
            Leaders::Chain => (node + 1..nodes).take(1).collect(),
        }
    }
}

/// Returns the receivers and the senders of messages between nodes, a rank for each message: ten ranks are
/// placed on three nodes in turn. The root is rank 7; ranks 0 and 2 lead the other nodes.
#[cfg(test)]
pub fn crossing(schedule: fn(&Problem, usize) -> Schedule) -> (Vec<usize>, Vec<usize>) {
    let problem = Problem { root: 7, nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
    let (mut receivers, mut senders) = (Vec::new(), Vec::new());
    for rank in 0..10 {
        let is_outside = |peer: u32| peer as usize % 3 != rank % 3;
        for step in schedule(&problem, rank).steps {
            match step {
                Step::Receive { peer, .. } if is_outside(peer) => receivers.push(rank),
                Step::Send { peer, .. } if is_outside(peer) => senders.push(rank),
                _ => {}
            }
        }
    }
    (receivers, senders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_know_their_parents_and_each_node_hears_of_others_once() {
        for size in 1..30 {
            let nodes: crate::algorithms::Nodes = (0..size as u32).map(|rank| rank % 5).collect();
            let problem = Problem { root: size / 2, nodes: nodes.clone(), ..Problem::new(size) };
            let placement = Placement::of(&problem);
            for leaders in [Leaders::Knomial(2), Leaders::Knomial(3), Leaders::Chain] {
                let parent = |rank| neighbors(&placement, leaders, 3, rank).0;
                for rank in 0..size {
                    let (_, children) = neighbors(&placement, leaders, 3, rank);
                    assert!(children.into_iter().all(|child| parent(child) == Some(rank)));
                }
                let crosses =
                    |rank: usize| parent(rank).is_some_and(|parent| nodes.of(parent) != nodes.of(rank));
                assert_eq!((0..size).filter(|&rank| crosses(rank)).count(), placement.nodes() - 1);
                assert_eq!(parent(problem.root), None);
            }
        }
    }
}
