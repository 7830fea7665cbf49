//! Which ranks share a node.

use crate::schedule::{Buffer, Strided};
use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

/// The node of each rank. Nodes are numbered from 0, in the order of their lowest ranks.
///
/// Launchers mostly place ranks evenly: a fixed number of neighbouring ranks on each node, node after node, then from
/// the first node again. The size of such a map does not depend on the number of ranks. Equal maps have equal forms.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Nodes {
    form: Form,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum Form {
    /// Rank `i` is on node `i / neighbours % nodes`.
    Even { ranks: usize, neighbours: usize, nodes: usize },
    /// Any other placement.
    Listed(Arc<ListedNodes>),
}

#[derive(PartialEq, Eq, Hash)]
struct ListedNodes {
    /// Where each rank is.
    places: Vec<Place>,
    /// The ranks of each node.
    members: Vec<Vec<u32>>,
    /// For each node, how many ranks are on the nodes before it; then the number of ranks.
    before: Vec<usize>,
    /// Whether each node has consecutive ranks.
    is_in_order: bool,
}

/// Where a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    pub node: usize,
    /// The rank's number among the ranks of its node.
    pub local: usize,
}

impl Nodes {
    /// Returns a map with `neighbours` consecutive ranks on each of `nodes` nodes, then again from the first node on.
    pub fn even(ranks: usize, neighbours: usize, nodes: usize) -> Nodes {
        let neighbours = neighbours.max(1);
        let nodes = nodes.max(1).min(ranks.div_ceil(neighbours));
        // Without ranks the nodes are unknown. Then any number of ranks are on one node.
        let (neighbours, nodes) = match nodes {
            0 => (usize::MAX, 1),
            1 => (ranks, 1),
            _ => (neighbours, nodes),
        };
        Nodes { form: Form::Even { ranks, neighbours, nodes } }
    }

    /// Returns a map with all ranks on one node.
    pub fn one(ranks: usize) -> Nodes {
        Nodes::even(ranks, ranks, 1)
    }

    /// Returns the map in which ranks with equal names are on the same node.
    pub fn named<Name: Copy + Eq + Hash>(names: impl IntoIterator<Item = Name>) -> Nodes {
        let mut numbers = HashMap::new();
        let mut number = |name| {
            let next = numbers.len() as u32;
            *numbers.entry(name).or_insert(next)
        };
        let of_ranks: Vec<u32> = names.into_iter().map(&mut number).collect();
        let neighbours = of_ranks.iter().take_while(|node| **node == 0).count();
        let even = Nodes::even(of_ranks.len(), neighbours, numbers.len());
        let is_even = even.iter().eq(of_ranks.iter().copied());
        if is_even {
            even
        } else {
            Nodes { form: Form::Listed(Arc::new(ListedNodes::new(&of_ranks, numbers.len()))) }
        }
    }

    /// The number of ranks; 0 if nodes are unknown or do not matter.
    pub fn len(&self) -> usize {
        match &self.form {
            Form::Even { ranks, .. } => *ranks,
            Form::Listed(listed) => listed.places.len(),
        }
    }

    /// Whether nodes are unknown or do not matter.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many nodes there are.
    pub fn number(&self) -> usize {
        match &self.form {
            Form::Even { nodes, .. } => *nodes,
            Form::Listed(listed) => listed.members.len(),
        }
    }

    /// Where a rank is.
    pub fn place(&self, rank: usize) -> Place {
        match &self.form {
            Form::Even { neighbours, nodes, .. } => {
                let (row, column) = (rank / neighbours, rank % neighbours);
                Place { node: row % nodes, local: row / nodes * neighbours + column }
            }
            Form::Listed(listed) => listed.places[rank],
        }
    }

    /// The node of a rank. If nodes are unknown, all ranks are on node 0.
    pub fn of(&self, rank: usize) -> u32 {
        self.place(rank).node as u32
    }

    /// The node of each rank.
    pub fn iter(&self) -> impl Iterator<Item = u32> {
        (0..self.len()).map(|rank| self.of(rank))
    }

    /// How many ranks a node has.
    pub fn population(&self, node: usize) -> usize {
        self.before(node + 1) - self.before(node)
    }

    /// The rank at a place. The local numbers of a node ascend with the ranks.
    pub fn member(&self, Place { node, local }: Place) -> usize {
        match &self.form {
            Form::Even { neighbours, nodes, .. } => {
                (local / neighbours * nodes + node) * neighbours + local % neighbours
            }
            Form::Listed(listed) => listed.members[node][local] as usize,
        }
    }

    /// The ranks of a node, ascending.
    pub fn members(&self, node: usize) -> impl Iterator<Item = usize> {
        (0..self.population(node)).map(move |local| self.member(Place { node, local }))
    }

    /// The ranks of a node, as ascending ranges.
    pub fn runs(&self, node: usize) -> Vec<Range<usize>> {
        match &self.form {
            Form::Even { neighbours, .. } => {
                let population = self.population(node);
                let run = |local: usize| {
                    let first = self.member(Place { node, local });
                    first..first + (population - local).min(*neighbours)
                };
                (0..population).step_by(*neighbours).map(run).collect()
            }
            Form::Listed(listed) => {
                let runs = listed.members[node].chunk_by(|rank, next| rank + 1 == *next);
                runs.map(|run| run[0] as usize..run[0] as usize + run.len()).collect()
            }
        }
    }

    /// The blocks of `buffer` that have the numbers of a node's ranks, ascending.
    pub fn blocks_of_node(&self, buffer: Buffer, node: usize) -> Vec<Strided> {
        match &self.form {
            Form::Even { neighbours, nodes, .. } => {
                let population = self.population(node);
                let run = |local: usize, ranks: usize| {
                    let first = self.member(Place { node, local });
                    buffer.blocks(first..first + ranks)
                };
                let (turns, rest) = (population / neighbours, population % neighbours);
                let whole = run(0, population.min(*neighbours)).repeated(turns, neighbours * nodes);
                vec![whole, run(population - rest, rest).into()]
            }
            Form::Listed(_) => self.runs(node).into_iter().map(|run| buffer.blocks(run).into()).collect(),
        }
    }

    /// The blocks of `buffer` that have the numbers of the ranks with this local number, the first node's first.
    pub fn blocks_of_local(&self, buffer: Buffer, local: usize) -> Vec<Strided> {
        match &self.form {
            Form::Even { ranks, neighbours, nodes } => {
                let first = self.member(Place { node: 0, local });
                let have_it = ranks.saturating_sub(first).div_ceil(*neighbours).min(*nodes);
                vec![buffer.block(first).repeated(have_it, *neighbours)]
            }
            Form::Listed(listed) => {
                let ranks = listed.members.iter().filter_map(|members| members.get(local));
                ranks.map(|&rank| buffer.block(rank as usize).into()).collect()
            }
        }
    }

    /// Whether each node has consecutive ranks.
    pub fn is_in_order(&self) -> bool {
        match &self.form {
            Form::Even { ranks, neighbours, nodes } => *ranks <= neighbours * nodes,
            Form::Listed(listed) => listed.is_in_order,
        }
    }

    /// How many ranks are on the nodes before this one.
    pub fn before(&self, node: usize) -> usize {
        match &self.form {
            Form::Even { ranks, neighbours, nodes } => {
                let turn = neighbours * nodes;
                ranks / turn * neighbours * node + (ranks % turn).min(neighbours * node)
            }
            Form::Listed(listed) => listed.before[node],
        }
    }

    /// The fewest and the most ranks on a node.
    pub fn populations(&self) -> RangeInclusive<usize> {
        match &self.form {
            Form::Even { nodes, .. } => self.population(nodes - 1)..=self.population(0),
            Form::Listed(listed) => {
                let populations = || listed.members.iter().map(Vec::len);
                populations().min().unwrap_or(0)..=populations().max().unwrap_or(0)
            }
        }
    }
}

impl Default for Nodes {
    /// Nodes are unknown.
    fn default() -> Nodes {
        Nodes::one(0)
    }
}

impl fmt::Debug for Nodes {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

impl<Names: AsRef<[u32]>> From<Names> for Nodes {
    fn from(names: Names) -> Nodes {
        Nodes::named(names.as_ref().iter().copied())
    }
}

impl FromIterator<u32> for Nodes {
    fn from_iter<Names: IntoIterator<Item = u32>>(names: Names) -> Nodes {
        Nodes::named(names)
    }
}

impl ListedNodes {
    fn new(of_ranks: &[u32], nodes: usize) -> ListedNodes {
        let mut members = vec![Vec::new(); nodes];
        let mut place = |(rank, &node): (usize, &u32)| {
            let members: &mut Vec<u32> = &mut members[node as usize];
            members.push(rank as u32);
            Place { node: node as usize, local: members.len() - 1 }
        };
        let places = of_ranks.iter().enumerate().map(&mut place).collect();
        let ends = members.iter().scan(0, |end, members| {
            *end += members.len();
            Some(*end)
        });
        let before = [0].into_iter().chain(ends).collect();
        ListedNodes { places, before, is_in_order: members.concat().is_sorted(), members }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Run;

    fn ranks(blocks: Vec<Strided>) -> impl Iterator<Item = usize> {
        blocks.into_iter().flat_map(Strided::runs).flat_map(Run::indices)
    }

    /// Checks everything that a map says against the names.
    fn check(names: &[u32]) {
        let nodes = Nodes::from(names);
        let mut seen: Vec<u32> = Vec::new();
        for (rank, name) in names.iter().enumerate() {
            let node = seen.iter().position(|known| known == name).unwrap_or_else(|| {
                seen.push(*name);
                seen.len() - 1
            });
            let local = names[..rank].iter().filter(|earlier| *earlier == name).count();
            assert_eq!(nodes.place(rank), Place { node, local }, "rank {rank} of {names:?}");
            assert_eq!(nodes.member(Place { node, local }), rank, "{names:?}");
        }
        for node in 0..seen.len() {
            let members = (0..nodes.population(node)).map(|local| nodes.member(Place { node, local }));
            let runs = nodes.runs(node);
            assert!(runs.windows(2).all(|pair| pair[0].end < pair[1].start), "{names:?}");
            assert!(members.clone().eq(runs.into_iter().flatten()), "{names:?}");
            assert!(members.eq(ranks(nodes.blocks_of_node(Buffer::Recv, node))), "{names:?}");
        }
        for local in 0..names.len() {
            let have_it = (0..seen.len()).filter(|&node| nodes.population(node) > local);
            let members = have_it.map(|node| nodes.member(Place { node, local }));
            assert!(members.eq(ranks(nodes.blocks_of_local(Buffer::Recv, local))), "{names:?}");
        }
        assert_eq!(nodes.is_in_order(), nodes.iter().is_sorted(), "{names:?}");
        let populations = seen.iter().map(|name| names.iter().filter(|other| *other == name).count());
        let populations: Vec<usize> = populations.collect();
        assert_eq!((0..seen.len()).map(|node| nodes.population(node)).collect::<Vec<_>>(), populations);
        assert_eq!(nodes.before(seen.len()), names.len());
        let (fewest, most) = (populations.iter().min(), populations.iter().max());
        assert_eq!((Some(nodes.populations().start()), Some(nodes.populations().end())), (fewest, most));
        assert_eq!((nodes.len(), nodes.number()), (names.len(), seen.len()));
    }

    #[test]
    fn a_map_says_where_ranks_are_and_who_is_there() {
        for ranks in 1..14 {
            for neighbours in 1..6 {
                for number in 1..6 {
                    let names: Vec<u32> = (0..ranks).map(|rank| rank / neighbours % number + 7).collect();
                    check(&names);
                    let even = Nodes::even(ranks as usize, neighbours as usize, number as usize);
                    assert_eq!(Nodes::from(names), even);
                }
            }
        }
        check(&[4, 7, 4, 4, 7, 9, 9, 9]);
        check(&[0, 0, 1, 1, 1, 2]);
    }

    #[test]
    fn an_even_map_takes_no_memory_for_each_rank() {
        let is_even = |nodes: Nodes| matches!(nodes.form, Form::Even { .. });
        assert!(is_even((0..1000).map(|rank| rank / 128).collect()));
        assert!(is_even((0..1000).map(|rank| rank % 7).collect()));
        assert!(!is_even([0, 0, 1, 1, 1, 2].into()));
    }

    #[test]
    fn a_map_of_no_ranks_says_nothing() {
        assert_eq!(Nodes::default(), Nodes::from([]));
        assert!(Nodes::default().is_empty() && !Nodes::one(1).is_empty());
        assert_eq!((Nodes::default().number(), Nodes::default().of(7)), (1, 0));
    }
}
