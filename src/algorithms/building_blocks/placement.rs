//! Which ranks share a node, and who stands for it.

use crate::algorithms::{Nodes, Problem};
use crate::schedule::{Buffer, Schedule, Strided};
use std::cmp::Ordering;
use std::ops::Range;

pub use crate::algorithms::nodes::Place;

/// The ranks of every node. The root's node is the first, the others follow by their lowest ranks. The first rank of a
/// node leads it: the root, or the lowest one.
///
/// Ranks in the order of their nodes have positions, so that those of a node are consecutive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    /// As they are with rank 0 as the root.
    nodes: Nodes,
    /// Where the root is there.
    root: Place,
}

impl Placement {
    /// Who is where. If nothing is known of nodes, all ranks are on one.
    pub fn of(problem: &Problem) -> Placement {
        let is_known = !problem.nodes.is_empty();
        let nodes = if is_known { problem.nodes.clone() } else { Nodes::one(problem.size) };
        Placement { root: nodes.place(problem.root), nodes }
    }

    /// How many nodes there are.
    pub fn nodes(&self) -> usize {
        self.nodes.number()
    }

    /// How many ranks there are.
    pub fn size(&self) -> usize {
        self.nodes.len()
    }

    /// Where a rank is; a leader's number on its node is 0.
    pub fn place(&self, rank: usize) -> Place {
        let Place { node, local } = self.nodes.place(rank);
        match node == self.root.node {
            true => Place { node: 0, local: with_first(self.root.local, local) },
            false => Place { node: with_first(self.root.node, node), local },
        }
    }

    /// The rank at a place.
    pub fn member(&self, Place { node, local }: Place) -> usize {
        let local = if node == 0 { without_first(self.root.local, local) } else { local };
        self.nodes.member(Place { node: without_first(self.root.node, node), local })
    }

    /// The ranks of a node, its leader first.
    pub fn members(&self, node: usize) -> impl ExactSizeIterator<Item = usize> + Clone + use<'_> {
        (0..self.population(node)).map(move |local| self.member(Place { node, local }))
    }

    /// The ranks of some nodes, as ranges, those of the first node first.
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

    /// The blocks that bear the numbers of a node's ranks, its leader's first.
    pub fn blocks_of_node(&self, buffer: Buffer, node: usize) -> Vec<Strided> {
        match node == 0 && self.root.local > 0 {
            true => self.members(node).map(|rank| buffer.block(rank).into()).collect(),
            false => self.nodes.blocks_of_node(buffer, without_first(self.root.node, node)),
        }
    }

    /// The blocks that bear the numbers of the ranks with a number on their nodes, the first node's first.
    pub fn blocks_of_local(&self, buffer: Buffer, local: usize) -> Vec<Strided> {
        if self.root == (Place { node: 0, local: 0 }) {
            return self.nodes.blocks_of_local(buffer, local);
        }
        let have_it = (0..self.nodes()).filter(|&node| self.population(node) > local);
        have_it.map(|node| buffer.block(self.member(Place { node, local })).into()).collect()
    }

    /// How many ranks a node has.
    pub fn population(&self, node: usize) -> usize {
        self.nodes.population(without_first(self.root.node, node))
    }

    /// The other ranks of a rank's node, from the next one on.
    pub fn neighbours(&self, Place { node, local }: Place) -> impl Iterator<Item = usize> + use<'_> {
        self.members(node).skip(local + 1).chain(self.members(node).take(local))
    }

    /// The rank that leads a node.
    pub fn leader(&self, node: usize) -> usize {
        self.member(Place { node, local: 0 })
    }

    /// The most ranks on a node.
    pub fn most_members(&self) -> usize {
        *self.nodes.populations().end()
    }

    /// The fewest ranks on a node.
    pub fn fewest_members(&self) -> usize {
        *self.nodes.populations().start()
    }

    /// The number of slices of a vector. The ranks of each node own them in turn. There are as many as ranks on the fullest node, but at most four
    /// for each rank of the emptiest.
    pub fn slices(&self) -> usize {
        self.most_members().min(4 * self.fewest_members())
    }

    /// How many ranks each node has, if all have equally many.
    pub fn common_population(&self) -> Option<usize> {
        (self.fewest_members() == self.most_members()).then_some(self.most_members())
    }

    /// The position of a node's leader; of the number of nodes, that of ranks.
    fn start(&self, node: usize) -> usize {
        match node {
            0 => 0,
            _ if node > self.root.node => self.nodes.before(node),
            _ => self.nodes.population(self.root.node) + self.nodes.before(node - 1),
        }
    }

    /// The ranks in the order of their positions.
    fn order(&self) -> Vec<usize> {
        (0..self.nodes()).flat_map(|node| self.members(node)).collect()
    }

    /// The program of a node's rank, written for its number there, as one of all ranks.
    pub fn within(&self, node: usize, program: Schedule) -> Schedule {
        program.embed(self.size(), |local| self.member(Place { node, local }))
    }

    /// The program of a leader, written for the number of its node, as one of all ranks.
    pub fn between(&self, program: Schedule) -> Schedule {
        program.embed(self.size(), |node| self.leader(node))
    }

    /// What the rank of a place does for each of its slices, among those that own the same slice on the other nodes. The program is written for
    /// the number of its node and for one slice; these are ones of all ranks and for all slices of the vector. The ranks of a node own slices in
    /// turn.
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

    /// A program whose blocks are those of nodes, as one whose blocks are those of ranks.
    pub fn with_blocks_of_nodes(&self, program: Schedule) -> Schedule {
        self.with_blocks_of_positions(
            program.refine(self.size(), |node| {
                self.start(node % self.nodes()) + node / self.nodes() * self.size()
            }),
        )
    }

    /// A program whose blocks are those of a node's ranks, as one whose blocks are those of all ranks.
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

/// What number `number` has after `first` has become the first of all.
fn with_first(first: usize, number: usize) -> usize {
    match number.cmp(&first) {
        Ordering::Less => number + 1,
        Ordering::Equal => 0,
        Ordering::Greater => number,
    }
}

/// The number that has become `number` since `first` is the first of all.
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

    /// Three nodes of 3, 3 and 2 ranks, from rank 6.
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
