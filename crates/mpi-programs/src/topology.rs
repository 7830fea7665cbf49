//! Process topologies, each with the neighbours of all ranks.

use std::fmt;

use expected_results::random::{Generator, combine};
use rustcoll::algorithms::{Dimension, Graph, Neighbours};

/// The MPI function that makes a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// No topology.
    #[default]
    None,
    /// `MPI_Cart_create`
    Grid(Vec<Dimension>),
    /// `MPI_Graph_create`
    Graph,
    /// `MPI_Dist_graph_create_adjacent`
    Distributed,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    pub kind: Kind,
    pub graph: Graph,
}

impl Topology {
    pub fn grid(dimensions: Vec<Dimension>) -> Self {
        let graph = Graph::grid(&dimensions);
        Topology { kind: Kind::Grid(dimensions), graph }
    }

    /// Returns a ring of all ranks, where each rank has two neighbours.
    pub fn ring(size: usize) -> Self {
        Self::grid(vec![Dimension { length: size, periodic: true }])
    }

    /// Returns a grid of two dimensions, as square as possible, with borders. Ranks have the neighbours above, below,
    /// left and right.
    pub fn stencil_5(size: usize) -> Self {
        Self::grid(sides(size).map(|length| Dimension { length, periodic: false }).to_vec())
    }

    /// Returns the ranks of such a grid. Each also has the neighbours at its corners.
    pub fn stencil_9(size: usize) -> Self {
        let [rows, columns] = sides(size);
        let near = |place: usize, length: usize| place.saturating_sub(1)..(place + 2).min(length);
        Self::by_destinations(size, |rank| {
            let (row, column) = (rank / columns, rank % columns);
            let around = near(row, rows)
                .flat_map(|row| near(column, columns).map(move |column| row * columns + column));
            around.filter(|&other| other != rank).collect()
        })
    }

    /// Returns a graph in which each rank sends to `degree` random others, or to all if there are fewer. It follows
    /// from the seed.
    pub fn random(size: usize, degree: usize, seed: u64) -> Self {
        Self::by_destinations(size, |rank| {
            let mut others: Vec<usize> = (0..size).filter(|&other| other != rank).collect();
            Generator::new(combine(&[seed, rank as u64])).shuffle(&mut others);
            others.truncate(degree);
            others
        })
    }

    /// Returns the graph in which each rank sends to all, itself included, in their order.
    pub fn complete(size: usize) -> Self {
        Self::by_destinations(size, |_| (0..size).collect())
    }

    fn by_destinations(size: usize, destinations: impl Fn(usize) -> Vec<usize>) -> Self {
        let all: Vec<Vec<usize>> = (0..size).map(destinations).collect();
        let neighbours = |rank| {
            let sources = (0..size).filter(|&other| all[other].contains(&rank));
            Neighbours::listed(sources.map(Some), all[rank].iter().copied().map(Some))
        };
        Self::distributed(Graph::new((0..size).map(neighbours)))
    }

    /// Returns a graph that every rank knows in full. Only possible if each rank's sources and destinations are the
    /// same.
    pub fn whole(graph: &Graph) -> Option<Self> {
        let is_symmetric = |neighbours: &Neighbours| neighbours.sources == neighbours.destinations;
        graph.all().all(is_symmetric).then(|| Topology { kind: Kind::Graph, graph: graph.clone() })
    }

    /// Returns a graph of which each rank knows only its own neighbours.
    pub fn distributed(graph: Graph) -> Self {
        Topology { kind: Kind::Distributed, graph }
    }

    fn edges(&self) -> usize {
        self.graph.all().map(|neighbours| neighbours.destinations.len()).sum()
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match &self.kind {
            Kind::None => formatter.write_str("no topology"),
            Kind::Grid(dimensions) => {
                let described = dimensions.iter().map(|&Dimension { length, periodic }| {
                    format!("{length}{}", if periodic { " periodic" } else { "" })
                });
                write!(formatter, "grid of {}", described.collect::<Vec<_>>().join(" by "))
            }
            Kind::Graph => write!(formatter, "graph of {} edges", self.edges()),
            Kind::Distributed => write!(formatter, "distributed graph of {} edges", self.edges()),
        }
    }
}

/// Returns the lengths of a two-dimensional grid that is as square as possible.
fn sides(size: usize) -> [usize; 2] {
    let short = (1..=size.isqrt()).rev().find(|short| size.is_multiple_of(*short)).unwrap_or(1);
    [short, size / short]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn destinations(topology: &Topology, rank: usize) -> Vec<usize> {
        topology.graph.neighbours(rank).destinations.iter().map(|edge| edge.peer).collect()
    }

    #[test]
    fn a_stencil_has_the_ranks_around_each() {
        assert_eq!(sides(12), [3, 4]);
        let sorted = |topology: Topology, rank| {
            let mut peers = destinations(&topology, rank);
            peers.sort();
            peers
        };
        assert_eq!(sorted(Topology::stencil_5(12), 5), [1, 4, 6, 9]);
        assert_eq!(sorted(Topology::stencil_9(12), 5), [0, 1, 2, 4, 6, 8, 9, 10]);
        assert_eq!(sorted(Topology::stencil_9(12), 11), [6, 7, 10]);
    }

    #[test]
    fn a_random_graph_follows_from_its_seed() {
        let random = |seed| Topology::random(13, 8, seed);
        assert_eq!(random(1), random(1));
        assert_ne!(random(1), random(2));
        for rank in 0..13 {
            let peers = destinations(&random(1), rank);
            assert!(peers.len() == 8 && !peers.contains(&rank), "{rank}: {peers:?}");
        }
        assert_eq!(destinations(&Topology::random(4, 8, 1), 0).len(), 3);
    }

    #[test]
    fn what_each_rank_sends_another_expects() {
        for topology in [Topology::stencil_9(12), Topology::random(13, 8, 1)] {
            let sources = topology.graph.all().map(|own| own.sources.len()).sum::<usize>();
            assert_eq!(sources, topology.edges());
            let size = topology.graph.all().count();
            assert!((0..size).all(|rank| topology.graph.origins(rank).iter().all(Option::is_some)));
        }
    }
}
