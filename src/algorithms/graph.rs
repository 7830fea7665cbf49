//! Process topologies: the ranks that each rank receives from and sends to in a neighbourhood collective.

use super::stencil::Stencil;
use std::collections::HashMap;
use std::sync::Arc;

/// A block and the neighbour that it goes to or comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Edge {
    /// The rank of the neighbour. A rank may be its own neighbour.
    pub peer: usize,
    /// Number of the block in the send or the receive buffer.
    pub block: usize,
}

/// The neighbours of one rank.
///
/// Neighbours may repeat. Of the edges from one rank to another, the k-th among the sender's destinations is the k-th
/// among the receiver's sources. Messages are posted in this order, which may differ from the order of the blocks. A
/// block without an edge belongs to a neighbour that does not exist (`MPI_PROC_NULL`, beyond a border).
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Neighbours {
    /// Where the blocks of the receive buffer come from.
    pub sources: Vec<Edge>,
    /// Where the blocks of the send buffer go.
    pub destinations: Vec<Edge>,
    /// How many blocks the receive buffer has.
    pub indegree: usize,
    /// How many blocks the send buffer has, if each destination gets one of its own.
    pub outdegree: usize,
}

impl Neighbours {
    /// Returns neighbours as a graph topology lists them: one block each, in this order. `None` is no neighbour.
    pub fn listed(
        sources: impl IntoIterator<Item = Option<usize>>,
        destinations: impl IntoIterator<Item = Option<usize>>,
    ) -> Neighbours {
        let ((sources, indegree), (destinations, outdegree)) = (edges(sources), edges(destinations));
        Neighbours { sources, destinations, indegree, outdegree }
    }

    /// Returns the neighbours of a rank on a grid. The grid's ranks are numbered along the last dimension first. Each
    /// dimension has two blocks: the first for the neighbour below, the second for the neighbour above.
    pub fn on_grid(grid: &[Dimension], rank: usize) -> Neighbours {
        let degree = 2 * grid.len();
        let mut neighbours = Neighbours { indegree: degree, outdegree: degree, ..Neighbours::default() };
        let mut stride: usize = grid.iter().map(|dimension| dimension.length).product();
        for (number, dimension) in grid.iter().enumerate() {
            stride /= dimension.length;
            let place = rank / stride % dimension.length;
            let edge = |other: Option<usize>, block| {
                other.map(|other| Edge { peer: rank + other * stride - place * stride, block })
            };
            let below = edge(dimension.below(place), 2 * number);
            let above = edge(dimension.above(place), 2 * number + 1);
            neighbours.sources.extend([below, above].into_iter().flatten());
            // A block that is sent up arrives from below, even if one rank is both neighbours.
            neighbours.destinations.extend([above, below].into_iter().flatten());
        }
        neighbours
    }

    /// Returns the same neighbours, with blocks in the order of the edges, as ranks tell each other of them.
    pub fn in_order(&self) -> Neighbours {
        let peers = |edges: &[Edge]| edges.iter().map(|edge| Some(edge.peer)).collect::<Vec<_>>();
        Neighbours::listed(peers(&self.sources), peers(&self.destinations))
    }

    /// Returns how many blocks a schedule between these neighbours has: as many as the larger buffer, at least 1.
    pub fn blocks(&self) -> usize {
        self.indegree.max(self.outdegree).max(1)
    }
}

/// Returns the edges to existing neighbours, and how many neighbours there are in all.
fn edges(peers: impl IntoIterator<Item = Option<usize>>) -> (Vec<Edge>, usize) {
    let peers: Vec<Option<usize>> = peers.into_iter().collect();
    let edge = |(block, peer): (usize, &Option<usize>)| peer.map(|peer| Edge { peer, block });
    (peers.iter().enumerate().filter_map(edge).collect(), peers.len())
}

/// A dimension of a Cartesian topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Dimension {
    /// How many ranks there are along the dimension, at least 1.
    pub length: usize,
    /// Whether the last rank is a neighbour of the first.
    pub periodic: bool,
}

impl Dimension {
    fn below(self, place: usize) -> Option<usize> {
        place.checked_sub(1).or(self.periodic.then_some(self.length - 1))
    }

    fn above(self, place: usize) -> Option<usize> {
        Some(place + 1).filter(|&next| next < self.length).or(self.periodic.then_some(0))
    }
}

/// The neighbours of all ranks or of some. A schedule reads only those of its own rank, or of the ranks of its node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Graph {
    /// The ranks whose neighbours are known, ascending, and their neighbours; empty if there is no topology.
    known: Arc<[(usize, Neighbours)]>,
    /// The stencil of the neighbourhoods of all ranks, if all ranks know it.
    stencil: Option<Arc<Stencil>>,
}

impl Graph {
    /// Returns the graph with these neighbours, those of rank 0 first.
    pub fn new(neighbours: impl IntoIterator<Item = Neighbours>) -> Graph {
        Graph::of_ranks(neighbours.into_iter().enumerate())
    }

    /// Returns the graph of a rank that knows the neighbours of these ranks, which ascend.
    pub fn of_ranks(known: impl IntoIterator<Item = (usize, Neighbours)>) -> Graph {
        Graph { known: known.into_iter().collect(), stencil: None }
    }

    /// Returns a Cartesian topology.
    pub fn grid(grid: &[Dimension]) -> Graph {
        let size = grid.iter().map(|dimension| dimension.length).product();
        let graph = Graph::new((0..size).map(|rank| Neighbours::on_grid(grid, rank)));
        graph.with_stencil(Arc::new(Stencil::along_axes(grid)))
    }

    /// Returns a topology in which all ranks have neighbours at the same offsets.
    pub fn of_stencil(stencil: Stencil) -> Graph {
        let graph = Graph::new((0..stencil.size()).map(|rank| stencil.neighbours(rank)));
        graph.with_stencil(Arc::new(stencil))
    }

    /// Returns the same graph, in which all ranks know that their neighbours are those of this stencil.
    pub fn with_stencil(self, stencil: Arc<Stencil>) -> Graph {
        Graph { stencil: Some(stencil), ..self }
    }

    /// Returns the same graph, in which no rank knows of a common stencil.
    pub fn without_stencil(self) -> Graph {
        Graph { stencil: None, ..self }
    }

    /// The stencil, if all ranks know it.
    pub fn stencil(&self) -> Option<&Stencil> {
        self.stencil.as_deref()
    }

    /// Returns the graph of a rank that knows only its own neighbours.
    pub fn of_rank(rank: usize, neighbours: Neighbours) -> Graph {
        Graph::of_ranks([(rank, neighbours)])
    }

    /// Returns the part of the graph that a rank knows: its own neighbours, the common stencil, and of the other ranks of
    /// its node, given as `told`, the neighbours in the order of their edges.
    pub fn known_to(&self, rank: usize, told: impl Fn(usize) -> bool) -> Graph {
        let known = |(of, neighbours): &(usize, Neighbours)| match *of {
            own if own == rank => Some((rank, neighbours.clone())),
            other => told(other).then(|| (other, neighbours.in_order())),
        };
        Graph { stencil: self.stencil.clone(), ..Graph::of_ranks(self.known.iter().filter_map(known)) }
    }

    /// Returns a rank's neighbours, none if there is no topology. Panics if the neighbours of this rank are not known.
    pub fn neighbours(&self, rank: usize) -> &Neighbours {
        static NONE: Neighbours =
            Neighbours { sources: Vec::new(), destinations: Vec::new(), indegree: 0, outdegree: 0 };
        match self.known.binary_search_by_key(&rank, |&(known, _)| known) {
            Ok(position) => &self.known[position].1,
            Err(_) if self.known.is_empty() => &NONE,
            Err(_) => panic!("the neighbours of rank {rank} are not known"),
        }
    }

    /// Returns the neighbours of all ranks whose neighbours are known.
    pub fn all(&self) -> impl Iterator<Item = &Neighbours> {
        self.known.iter().map(|(_, neighbours)| neighbours)
    }

    /// Returns how many blocks the rank with the most destinations sends to other ranks, among those that are known.
    pub fn most_sent(&self) -> usize {
        let sent = |(rank, own): &(usize, Neighbours)| {
            own.destinations.iter().filter(|edge| edge.peer != *rank).count()
        };
        self.known.iter().map(sent).max().unwrap_or(0)
    }

    /// Returns where each block of a rank's receive buffer comes from: the sender and the block of its send buffer.
    pub fn origins(&self, rank: usize) -> Vec<Option<Edge>> {
        let neighbours = self.neighbours(rank);
        let mut origins = vec![None; neighbours.indegree];
        let mut arrived: HashMap<usize, usize> = HashMap::new();
        for source in &neighbours.sources {
            let earlier = arrived.entry(source.peer).or_default();
            let mut sent = self.neighbours(source.peer).destinations.iter().filter(|edge| edge.peer == rank);
            let block = sent.nth(*earlier).map(|edge| edge.block);
            origins[source.block] = block.map(|block| Edge { peer: source.peer, block });
            *earlier += 1;
        }
        origins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid(dimensions: &[(usize, bool)]) -> Vec<Dimension> {
        dimensions.iter().map(|&(length, periodic)| Dimension { length, periodic }).collect()
    }

    #[test]
    fn ranks_of_a_grid_are_numbered_along_the_last_dimension() {
        let neighbours = Neighbours::on_grid(&grid(&[(2, false), (3, true)]), 5);
        let peers = |edges: &[Edge]| edges.iter().map(|edge| (edge.peer, edge.block)).collect::<Vec<_>>();
        assert_eq!(peers(&neighbours.sources), [(2, 0), (4, 2), (3, 3)]);
        assert_eq!(peers(&neighbours.destinations), [(2, 0), (3, 3), (4, 2)]);
        assert_eq!((neighbours.indegree, neighbours.outdegree), (4, 4));
    }

    #[test]
    fn what_is_sent_in_one_direction_arrives_from_the_other() {
        for lengths in [[1, 1], [1, 2], [2, 2], [2, 3], [3, 1], [4, 5]] {
            for periods in [[false, false], [false, true], [true, true]] {
                let dimensions = grid(&[(lengths[0], periods[0]), (lengths[1], periods[1])]);
                let graph = Graph::grid(&dimensions);
                for rank in 0..lengths[0] * lengths[1] {
                    for (block, origin) in graph.origins(rank).into_iter().enumerate() {
                        assert_eq!(origin.map_or(block ^ 1, |edge| edge.block), block ^ 1);
                    }
                }
            }
        }
    }

    #[test]
    fn periodic_dimensions_have_no_borders() {
        for (rank, expected) in [(0, [Some(2), Some(1)]), (2, [Some(1), Some(0)])] {
            let ring = Graph::grid(&grid(&[(3, true)]));
            assert_eq!(
                ring.origins(rank).iter().map(|edge| edge.map(|edge| edge.peer)).collect::<Vec<_>>(),
                expected
            );
        }
        assert_eq!(Graph::grid(&grid(&[(3, false)])).origins(2)[1], None);
        assert_eq!(Graph::grid(&grid(&[(1, true)])).origins(0)[1], Some(Edge { peer: 0, block: 0 }));
    }

    #[test]
    fn repeated_edges_meet_in_their_order() {
        let graph = Graph::new([
            Neighbours::listed([Some(0)], [Some(1), None, Some(0), Some(1)]),
            Neighbours::listed([Some(0), None, Some(0)], []),
        ]);
        let from = |block| Some(Edge { peer: 0, block });
        assert_eq!(graph.origins(0), [from(2)]);
        assert_eq!(graph.origins(1), [from(0), None, from(3)]);
        assert_eq!((graph.neighbours(0).blocks(), graph.neighbours(1).blocks()), (4, 3));
    }

    #[test]
    #[should_panic]
    fn a_rank_knows_its_own_neighbours_only() {
        let _ = Graph::grid(&grid(&[(3, true)])).known_to(1, |_| false).neighbours(2);
    }

    #[test]
    fn a_rank_is_told_whom_others_have_and_not_which_blocks() {
        let known = Graph::grid(&grid(&[(4, true)])).known_to(1, |rank| rank < 2);
        let blocks = |rank| known.neighbours(rank).destinations.iter().map(|edge| (edge.peer, edge.block));
        assert_eq!(blocks(1).collect::<Vec<_>>(), [(2, 1), (0, 0)]);
        assert_eq!(blocks(0).collect::<Vec<_>>(), [(1, 0), (3, 1)]);
    }
}
