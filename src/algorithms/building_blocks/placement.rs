//! Which ranks share a node, and which of them leads it.

use crate::algorithms::{Nodes, Problem};
use crate::schedule::{Buffer, Schedule, Strided};
use std::cmp::Ordering;
use std::ops::Range;

pub use crate::algorithms::nodes::Place;

/// The ranks of every node. The root's node is the first; the others follow by their lowest ranks. A node is
/// led by its first rank: the root, or the lowest rank.
///
/// Positions number the ranks node by node, so the ranks of a node have consecutive positions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// The nodes as they are if rank 0 is the root.
    nodes: Nodes,
    /// The place of the root in `nodes`.
    root: Place,
}

impl Placement {
    /// Returns the placement of a problem's ranks. If its nodes are unknown, all ranks are on one node.
    pub fn of(problem: &Problem) -> Placement {
        let is_known = !problem.nodes.is_empty();
        let nodes = if is_known { problem.nodes.clone() } else { Nodes::one(problem.size) };
        Placement { root: nodes.place(problem.root), nodes }
    }

    pub fn nodes(&self) -> usize {
        self.nodes.number()
    }

    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the place of a rank. A leader's number on its node is 0.
    pub fn place(&self, rank: usize) -> Place {
        let Place { node, local } = self.nodes.place(rank);
        match node == self.root.node {
            true => Place { node: 0, local: with_first(self.root.local, local) },
            false => Place { node: with_first(self.root.node, node), local },
        }
    }

    /// Returns the rank at a place.
    pub fn member(&self, Place { node, local }: Place) -> usize {
        let local = if node == 0 { without_first(self.root.local, local) } else { local };
        self.nodes.member(Place { node: without_first(self.root.node, node), local })
    }

    /// Returns the ranks of a node, its leader first.
    pub fn members(&self, node: usize) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_> {
        (0..self.population(node)).map(move |local| self.member(Place { node, local }))
    }

    /// Returns the ranks of some nodes as ranges, those of the first node first.
    pub fn runs(&self, nodes: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
        let runs = nodes.flat_map(|node| self.nodes.runs(without_first(self.root.node, node)));
        runs.fold(Vec::new(), |mut joined: Vec<Range<usize>>, run| {
            match joined.last_mut().filter(|last| last.end == run.start) {
                Some(last) => last.end = run.end,
                None => joined.push(run),
            }
            joined
        })
    }

    /// Returns the blocks with the numbers of a node's ranks, the leader's first.
    pub fn blocks_of_node(&self, buffer: Buffer, node: usize) -> Vec<Strided> {
        match node == 0 && self.root.local > 0 {
            true => self.members(node).map(|rank| buffer.block(rank).into()).collect(),
            false => self.nodes.blocks_of_node(buffer, without_first(self.root.node, node)),
        }
    }

    /// Returns the blocks with the numbers of the ranks that have number `local` on their nodes, the first
    /// node's first.
    pub fn blocks_of_local(&self, buffer: Buffer, local: usize) -> Vec<Strided> {
        if self.root == (Place { node: 0, local: 0 }) {
            return self.nodes.blocks_of_local(buffer, local);
        }
        let have_it = (0..self.nodes()).filter(|&node| self.population(node) > local);
        have_it.map(|node| buffer.block(self.member(Place { node, local })).into()).collect()
    }

    /// Returns the number of ranks on a node.
    pub fn population(&self, node: usize) -> usize {
        self.nodes.population(without_first(self.root.node, node))
    }

    /// Returns the other ranks of a rank's node, from the next one on.
    pub fn neighbours(&self, Place { node, local }: Place) -> impl Iterator<Item = usize> + use<'_> {
        self.members(node).skip(local + 1).chain(self.members(node).take(local))
    }

    pub fn leader(&self, node: usize) -> usize {
        self.member(Place { node, local: 0 })
    }

    /// Returns the number of ranks on the fullest node.
    pub fn most_members(&self) -> usize {
        *self.nodes.populations().end()
    }

    /// Returns the number of ranks on the emptiest node.
    pub fn fewest_members(&self) -> usize {
        *self.nodes.populations().start()
    }

    /// Returns the number of slices of a vector, which the ranks of each node own in turn. It is the number of ranks on the
    /// fullest node, but at most four for each rank of the emptiest node. There are at most two for each rank of a node on
    /// average: if a slice has a block for each node, two blocks for each rank.
    pub fn slices(&self) -> usize {
        let most_on_average = 2 * self.size() / self.nodes();
        self.most_members().min(4 * self.fewest_members()).min(most_on_average)
    }

    /// Returns the number of ranks on each node if all nodes have equally many.
    pub fn common_population(&self) -> Option<usize> {
        (self.fewest_members() == self.most_members()).then_some(self.most_members())
    }

    /// Returns the position of a node's leader; for the number of nodes, the number of ranks.
    fn start(&self, node: usize) -> usize {
        match node {
            0 => 0,
            _ if node > self.root.node => self.nodes.before(node),
            _ => self.nodes.population(self.root.node) + self.nodes.before(node - 1),
        }
    }

    /// Returns the ranks in the order of their positions.
    fn order(&self) -> Vec<usize> {
        (0..self.nodes()).flat_map(|node| self.members(node)).collect()
    }

    /// Turns a program of a rank's number on its node into one of all ranks.
    pub fn within(&self, node: usize, program: Schedule) -> Schedule {
        program.embed(self.size(), |local| self.member(Place { node, local }))
    }

    /// Turns a program of the leaders, written for node numbers, into one of all ranks.
    pub fn between(&self, program: Schedule) -> Schedule {
        program.embed(self.size(), |node| self.leader(node))
    }

    /// Returns a program for each slice that the rank at a place owns: `program` among the owners of that
    /// slice on all nodes. `program` is written for node numbers and one slice. The results are programs of
    /// all ranks, over all `slices` slices. The ranks of a node own slices in turn.
    pub fn among_owners<'a>(
        &'a self,
        Place { node, local }: Place,
        slices: usize,
        program: &'a Schedule,
    ) -> impl Iterator<Item = Schedule> + use<'a> {
        let width = program.blocks;
        (local..slices).step_by(self.population(node)).map(move |slice| {
            let owner = |node| self.member(Place { node, local: slice % self.population(node) });
            program.clone().shift_blocks(slices * width, slice * width).embed(self.size(), owner)
        })
    }

    /// Turns a program with one block for each node into one with one block for each rank.
    pub fn with_blocks_of_nodes(&self, program: Schedule) -> Schedule {
        self.with_blocks_of_positions(
            program.refine(self.size(), |node| {
                self.start(node % self.nodes()) + node / self.nodes() * self.size()
            }),
        )
    }

    /// Turns a program with one block for each rank of a node into one with one block for each of all ranks.
    pub fn with_blocks_of_members(&self, node: usize, program: Schedule) -> Schedule {
        program.rename_blocks(self.size(), |local| self.member(Place { node, local }))
    }

    fn with_blocks_of_positions(&self, program: Schedule) -> Schedule {
        if self.nodes.is_in_order() && self.root == (Place { node: 0, local: 0 }) {
            return program;
        }
        let order = self.order();
        program.rename_blocks(self.size(), |position| order[position])
    }
}

/// Returns the new number of `number` after `first` has moved to the front.
fn with_first(first: usize, number: usize) -> usize {
    match number.cmp(&first) {
        Ordering::Less => number + 1,
        Ordering::Equal => 0,
        Ordering::Greater => number,
    }
}

/// Returns the number that [`with_first`] turns into `number`.
fn without_first(first: usize, number: usize) -> usize {
    match number {
        0 => first,
        _ if number <= first => number - 1,
        _ => number,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Run;
    use std::collections::BTreeSet;

    /// Three nodes of 3, 3 and 2 ranks; the root is rank 6.
    fn placement() -> Placement {
        Placement::of(&Problem { root: 6, nodes: [4, 7, 4, 4, 7, 9, 9, 9].into(), ..Problem::new(8) })
    }

    #[test]
    fn the_root_leads_its_node_and_the_lowest_rank_any_other() {
        let placement = placement();
        let members = [0, 1, 2].map(|node| placement.members(node).collect::<Vec<_>>());
        assert_eq!(members, [&[6, 5, 7][..], &[0, 2, 3], &[1, 4]]);
        assert_eq!(placement.place(3), Place { node: 1, local: 2 });
        assert_eq!((placement.nodes(), placement.size(), placement.most_members()), (3, 8, 3));
    }

    #[test]
    fn the_ranks_of_a_node_have_consecutive_positions() {
        assert_eq!(placement().start(1), 3);
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
    fn every_rank_is_where_its_place_says() {
        for root in 0..8 {
            let placement =
                Placement::of(&Problem { root, nodes: [4, 7, 4, 4, 7, 9, 9, 9].into(), ..Problem::new(8) });
            assert_eq!(placement.place(root), Place { node: 0, local: 0 });
            for rank in 0..8 {
                assert_eq!(placement.member(placement.place(rank)), rank);
            }
            let runs = placement.runs([2, 0].into_iter()).into_iter().flatten().collect::<Vec<_>>();
            let members = |node| placement.members(node).collect::<BTreeSet<_>>();
            assert!(runs.iter().copied().eq(members(2).into_iter().chain(members(0))));
            let ranks =
                |blocks: Vec<Strided>| blocks.into_iter().flat_map(Strided::runs).flat_map(Run::indices);
            for node in 0..3 {
                let blocks = placement.blocks_of_node(Buffer::Recv, node);
                assert!(ranks(blocks).eq(placement.members(node)));
            }
            for local in 0..3 {
                let have_it = (0..3).filter(|&node| placement.population(node) > local);
                let members = have_it.map(|node| placement.member(Place { node, local }));
                assert!(ranks(placement.blocks_of_local(Buffer::Recv, local)).eq(members));
            }
            for (position, rank) in placement.order().into_iter().enumerate() {
                let Place { node, local } = placement.place(rank);
                assert_eq!(placement.start(node) + local, position);
            }
        }
    }
}
