//! The process topologies for which neighbourhood collectives are verified.

use crate::algorithms::{Dimension, Edge, Graph, Neighbours, Stencil};
use crate::random::Random;

/// With more ranks, the edges of a complete graph are too many for a test.
const MOST_COMPLETE: usize = 64;

/// The most destinations of a rank in a random graph.
const MOST_DESTINATIONS: usize = 5;

/// Returns every topology of `size` ranks that is tried.
pub fn graphs(size: usize) -> Vec<Graph> {
    let grids = grids(size).into_iter().map(|grid| Graph::grid(&grid));
    let stencils = stencils(size).into_iter().map(Graph::of_stencil);
    grids.chain(stencils).chain(multigraphs(size)).collect()
}

/// Returns stencils of `size` ranks: all ranks that touch a rank, in two dimensions and three, with borders
/// and without. The last one, on a torus, has offsets in another order than their opposites, the rank itself
/// and a repeated neighbour.
pub fn stencils(size: usize) -> Vec<Stencil> {
    let width = divisor(size, size.isqrt());
    let depth = divisor(size / width, (size / width).isqrt());
    let grid = |lengths: &[usize], periods: usize| -> Vec<Dimension> {
        let is_periodic = |number: usize| periods >> number & 1 == 1;
        let dimension = |(number, &length)| Dimension { length, periodic: is_periodic(number) };
        lengths.iter().enumerate().map(dimension).collect()
    };
    let flat = (0..4).map(|periods| grid(&[width, size / width], periods));
    let deep = [0, 5, 7].map(|periods| grid(&[size / width / depth, width, depth], periods));
    let lopsided = [[1, 1], [-1, 2], [2, -1], [0, 0], [0, 1], [0, 1]].map(Vec::from);
    let lopsided = Stencil::new(&grid(&[width, size / width], 3), lopsided);
    flat.chain(deep).map(|grid| Stencil::around(&grid)).chain([lopsided]).collect()
}

/// Returns the largest divisor of a number up to a bound.
fn divisor(number: usize, most: usize) -> usize {
    (1..=most).rev().find(|divisor| number.is_multiple_of(*divisor)).unwrap_or(1)
}

/// Returns grids of `size` ranks in one to three dimensions, some of length 1, periodic and not.
pub fn grids(size: usize) -> Vec<Vec<Dimension>> {
    let width = divisor(size, size.isqrt());
    let shapes: [(&[usize], &[bool]); 6] = [
        (&[size], &[false]),
        (&[size], &[true]),
        (&[size / width, width], &[false, false]),
        (&[size / width, width], &[true, false]),
        (&[width, size / width], &[true, true]),
        (&[1, size, 1], &[true, true, false]),
    ];
    let dimension = |(&length, &periodic)| Dimension { length, periodic };
    shapes.map(|(lengths, periods)| lengths.iter().zip(periods).map(dimension).collect()).into()
}

/// Returns graphs of `size` ranks in which a rank may be its own neighbour, and a neighbour may repeat.
pub fn multigraphs(size: usize) -> Vec<Graph> {
    let nobody = Graph::new((0..size).map(|_| Neighbours::default()));
    let complete = Graph::new((0..size).map(|_| listed(0..size, 0..size)));
    let complete = (size <= MOST_COMPLETE).then_some(complete);
    let random = [directed(size, 1), directed(size, 2), undirected(size, 3)];
    [nobody].into_iter().chain(complete).chain(random).chain([nearly_a_stencil(size)]).collect()
}

/// All ranks that touch a rank on a torus; besides, two ranks send each other one block more.
fn nearly_a_stencil(size: usize) -> Graph {
    let width = divisor(size, size.isqrt());
    let torus = [width, size / width].map(|length| Dimension { length, periodic: true });
    let stencil = Stencil::around(&torus);
    let (one, other) = (0, size / 2);
    Graph::new((0..size).map(|rank| {
        let mut neighbours = stencil.neighbours(rank);
        let more = [(one, other), (other, one)].into_iter().find(|&(from, _)| from == rank);
        if let Some((_, peer)) = more.filter(|_| one != other) {
            neighbours.sources.push(Edge { peer, block: neighbours.indegree });
            neighbours.destinations.push(Edge { peer, block: neighbours.outdegree });
            neighbours.indegree += 1;
            neighbours.outdegree += 1;
        }
        neighbours
    }))
}

/// Each rank sends to some ranks. These list their sources in a random order.
fn directed(size: usize, seed: u64) -> Graph {
    let mut random = Random(seed);
    let destinations: Vec<Vec<usize>> = (0..size)
        .map(|_| (0..random.below(MOST_DESTINATIONS + 1)).map(|_| random.below(size)).collect())
        .collect();
    let mut sources = vec![Vec::new(); size];
    for (rank, peers) in destinations.iter().enumerate() {
        for &peer in peers {
            let place = random.below(sources[peer].len() + 1);
            sources[peer].insert(place, rank);
        }
    }
    Graph::new(sources.into_iter().zip(destinations).map(|(from, to)| listed(from, to)))
}

/// Each rank's sources are its destinations, as `MPI_Graph_create` requires.
fn undirected(size: usize, seed: u64) -> Graph {
    let mut random = Random(seed);
    let mut peers = vec![Vec::new(); size];
    for _ in 0..2 * size {
        let (first, second) = (random.below(size), random.below(size));
        peers[first].push(second);
        if first != second {
            peers[second].push(first);
        }
    }
    Graph::new(peers.into_iter().map(|peers| listed(peers.clone(), peers)))
}

fn listed(
    sources: impl IntoIterator<Item = usize>,
    destinations: impl IntoIterator<Item = usize>,
) -> Neighbours {
    Neighbours::listed(sources.into_iter().map(Some), destinations.into_iter().map(Some))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `has` holds for some rank of a graph.
    fn has(graph: &Graph, has: impl Fn(usize, &Neighbours) -> bool) -> bool {
        graph.all().enumerate().any(|(rank, own)| has(rank, own))
    }

    fn repeats(neighbours: &Neighbours) -> bool {
        let peers = &neighbours.destinations;
        (1..peers.len()).any(|index| peers[..index].iter().any(|edge| edge.peer == peers[index].peer))
    }

    #[test]
    fn the_random_graphs_have_every_kind_of_edge() {
        for size in [5, 8, 13] {
            let graphs = multigraphs(size);
            for random in &graphs[2..5] {
                assert!(has(random, |rank, own| own.sources.iter().any(|edge| edge.peer == rank)));
                assert!(has(random, |_, own| repeats(own)));
            }
            assert!(graphs.iter().any(|graph| has(graph, |_, own| own.indegree != own.outdegree)));
        }
    }

    #[test]
    fn all_edges_have_two_ends() {
        for size in 1..20 {
            for graph in graphs(size) {
                let arriving = (0..size).flat_map(|rank| graph.origins(rank)).flatten().count();
                assert_eq!(arriving, graph.all().map(|own| own.destinations.len()).sum::<usize>());
                assert_eq!(arriving, graph.all().map(|own| own.sources.len()).sum::<usize>());
            }
        }
    }
}
