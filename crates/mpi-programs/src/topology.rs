//! Process topologies, each with what it says of all ranks.

use std::fmt;

use rustcoll::algorithms::{Dimension, Graph, Neighbours};

/// How MPI is told of a topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// There is none.
    #[default]
    None,
    /// `MPI_Cart_create`
    Grid(Vec<Dimension>),
    /// `MPI_Graph_create`
    Graph,
    /// `MPI_Dist_graph_create_adjacent`
    Distributed,
}

/// A topology.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topology {
    /// How MPI is told of it.
    pub kind: Kind,
    /// Who the neighbours are.
    pub graph: Graph,
}

impl Topology {
    /// A Cartesian topology.
    pub fn grid(dimensions: Vec<Dimension>) -> Self {
        let graph = Graph::grid(&dimensions);
        Topology { kind: Kind::Grid(dimensions), graph }
    }

    /// A ring of all ranks, where each has two neighbours.
    pub fn ring(size: usize) -> Self {
        Self::grid(vec![Dimension { length: size, periodic: true }])
    }

    /// A graph of which all ranks know all, if it can be one: sources and destinations must be the same.
    pub fn whole(graph: &Graph) -> Option<Self> {
        let is_symmetric = |neighbours: &Neighbours| neighbours.sources == neighbours.destinations;
        graph.all().all(is_symmetric).then(|| Topology { kind: Kind::Graph, graph: graph.clone() })
    }

    /// A graph of which each rank knows its own neighbours.
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
