//! Which ranks share a node, and who stands for it.

use crate::algorithms::Problem;
use crate::schedule::Schedule;
use std::collections::BTreeMap;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// The ranks of every node. The root's node is the first, the others follow by their lowest ranks. The first rank of a
/// node leads it: the root, or the lowest one.
///
/// Ranks in the order of their nodes have positions, so that those of a node are consecutive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The ranks by position.
    order: Vec<usize>,
    /// The first position of each node, and at last the number of ranks.
    starts: Vec<usize>,
    /// Where each rank is.
    places: Vec<Place>,
    /// The fewest and the most ranks on a node.
    populations: RangeInclusive<usize>,
}

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The number of its node.
    pub node: usize,
    /// Its number on its node; the leader's is 0.
    pub local: usize,
}

impl Placement {
    /// Who is where. If nothing is known of nodes, all ranks are on one. Ranks whose schedules are made in one place share it if the problem's
    /// nodes say so: [`Nodes::for_all_ranks`](crate::algorithms::Nodes::for_all_ranks).
    pub fn of(problem: &Problem) -> Arc<Placement> {
        let find = || Arc::new(Placement::find(problem));
        let known = problem.nodes.placement().map(|known| known.get_or_init(find));
        known.filter(|known| known.is_of(problem)).cloned().unwrap_or_else(find)
    }

    fn find(problem: &Problem) -> Placement {
        #[cfg(test)]
        FOUND.set(FOUND.get() + 1);
        let Problem { size, root, ref nodes, .. } = *problem;
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut places = vec![Place { node: 0, local: 0 }; size];
        let mut known: BTreeMap<u32, usize> = BTreeMap::new();
        // That of the rank before, which mostly is this one's as well: jobs are large.
        let mut last: Option<(u32, usize)> = None;
        let others = (0..size).filter(|&rank| rank != root);
        for rank in [root].into_iter().chain(others) {
            let name = nodes.get(rank).copied().unwrap_or(0);
            let node = match last {
                Some((known, node)) if known == name => node,
                _ => *known.entry(name).or_insert(members.len()),
            };
            last = Some((name, node));
            if node == members.len() {
                members.push(Vec::new());
            }
            places[rank] = Place { node, local: members[node].len() };
            members[node].push(rank);
        }
        let ends = members.iter().scan(0, |end, members| {
            *end += members.len();
            Some(*end)
        });
        let starts = [0].into_iter().chain(ends).collect();
        let populations = || members.iter().map(Vec::len);
        let populations = populations().min().unwrap_or(0)..=populations().max().unwrap_or(0);
        Placement { order: members.concat(), starts, places, populations }
    }

    fn is_of(&self, problem: &Problem) -> bool {
        self.size() == problem.size && self.order[0] == problem.root
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.order.len()
    }

    /// Where a rank is.
    pub fn place(&self, rank: usize) -> Place {
        self.places[rank]
    }

    /// The ranks of a node, its leader first.
    pub fn members(&self, node: usize) -> &[usize] {
        &self.order[self.positions(node)]
    }

    /// The other ranks of a rank's node, from the next one on.
    pub fn neighbours(&self, Place { node, local }: Place) -> impl Iterator<Item = usize> + use<'_> {
        let members = self.members(node);
        members[local + 1..].iter().chain(&members[..local]).copied()
    }

    /// The rank that leads a node.
    pub fn leader(&self, node: usize) -> usize {
        self.members(node)[0]
    }

    /// The most ranks on a node.
    pub fn most_members(&self) -> usize {
        *self.populations.end()
    }

    /// The fewest ranks on a node.
    pub fn fewest_members(&self) -> usize {
        *self.populations.start()
    }

    /// How many ranks each node has, if all have equally many.
    pub fn common_population(&self) -> Option<usize> {
        (self.fewest_members() == self.most_members()).then_some(self.most_members())
    }

    /// The positions of a node's ranks.
    pub fn positions(&self, node: usize) -> Range<usize> {
        self.starts[node]..self.starts[node + 1]
    }

    /// The ranks in the order of their positions.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// The program of a node's rank, written for its number there, as one of all ranks.
    pub fn within(&self, node: usize, program: Schedule) -> Schedule {
        program.embed(self.size(), |local| self.members(node)[local])
    }

    /// The program of a leader, written for the number of its node, as one of all ranks.
    pub fn between(&self, program: Schedule) -> Schedule {
        program.embed(self.size(), |node| self.leader(node))
    }

    /// The program of a rank among those that own the same slice on the other nodes, written for the number of its node and for that slice,
    /// as one of all ranks and for all slices of the vector. The ranks of a node own slices in turn.
    pub fn among_owners(&self, slice: usize, slices: usize, program: Schedule) -> Schedule {
        let width = program.blocks;
        program
            .rename_blocks(slices * width, |block| slice * width + block)
            .embed(self.size(), |node| self.members(node)[slice % self.members(node).len()])
    }

    /// A program whose blocks are those of nodes, as one whose blocks are those of ranks.
    pub fn with_blocks_of_nodes(&self, program: Schedule) -> Schedule {
        self.with_blocks_of_positions(
            program.refine(self.size(), |node| {
                self.starts[node % self.nodes()] + node / self.nodes() * self.size()
            }),
        )
    }

    /// A program whose blocks are those of a node's ranks, as one whose blocks are those of all ranks.
    pub fn with_blocks_of_members(&self, node: usize, program: Schedule) -> Schedule {
        program.rename_blocks(self.size(), |local| self.members(node)[local])
    }

    fn with_blocks_of_positions(&self, program: Schedule) -> Schedule {
        program.rename_blocks(self.size(), |position| self.order[position])
    }
}

#[cfg(test)]
thread_local! {
    /// How many times this thread has found out who is where.
    pub static FOUND: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Three nodes of 3, 3 and 2 ranks, from rank 6.
    fn placement() -> Arc<Placement> {
        Placement::of(&Problem { root: 6, nodes: [4, 7, 4, 4, 7, 9, 9, 9].into(), ..Problem::new(8) })
    }

    #[test]
    fn the_root_leads_its_node_and_the_lowest_rank_any_other() {
        let placement = placement();
        assert_eq!([0, 1, 2].map(|node| placement.members(node)), [&[6, 5, 7][..], &[0, 2, 3], &[1, 4]]);
        assert_eq!(placement.place(3), Place { node: 1, local: 2 });
        assert_eq!((placement.nodes(), placement.size(), placement.most_members()), (3, 8, 3));
    }

    #[test]
    fn the_ranks_of_a_node_have_consecutive_positions() {
        assert_eq!(placement().positions(1), 3..6);
        assert_eq!(placement().order(), [6, 5, 7, 0, 2, 3, 1, 4]);
    }

    #[test]
    fn only_even_nodes_have_a_common_population() {
        let even = Problem { nodes: [1, 2, 1, 2].into(), ..Problem::new(4) };
        assert_eq!(Placement::of(&even).common_population(), Some(2));
        assert_eq!(placement().common_population(), None);
        assert_eq!(Placement::of(&Problem::new(5)).common_population(), Some(5));
    }

    #[test]
    fn all_ranks_share_who_is_where_and_another_root_does_not() {
        let problem = Problem { nodes: [1, 2, 1, 2].into(), ..Problem::new(4) }.for_all_ranks();
        let placement = Placement::of(&problem);
        assert!(Arc::ptr_eq(&placement, &Placement::of(&problem.known_to(3))));
        let other = Problem { root: 1, ..problem };
        assert_eq!(Placement::of(&other).order(), [1, 3, 0, 2]);
        assert_eq!(placement.order(), [0, 2, 1, 3]);
    }
}
