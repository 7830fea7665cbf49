//! Stencils: neighbourhoods that all ranks have in common, as offsets on a grid.

use super::graph::{Dimension, Edge, Neighbours};
use std::fmt;

/// The offsets at which every rank of a grid has its neighbours, except those that lie beyond a border.
///
/// Ranks are numbered along the last dimension first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Stencil {
    grid: Vec<Dimension>,
    /// Ascending. Each is as short as its periodic dimensions allow, so offsets that lead to the same rank are equal.
    offsets: Vec<Vec<isize>>,
}

/// One end of an edge.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Source,
    Destination,
}

impl Stencil {
    /// Returns the stencil with these offsets. Each has a number for each dimension of the grid. An offset may repeat.
    pub fn new(grid: &[Dimension], offsets: impl IntoIterator<Item = Vec<isize>>) -> Stencil {
        let shortest = |offset: Vec<isize>| {
            let steps = grid.iter().zip(offset);
            steps.map(|(dimension, step)| dimension.shortest(step)).collect::<Option<_>>()
        };
        let mut offsets: Vec<Vec<isize>> = offsets.into_iter().filter_map(shortest).collect();
        offsets.sort();
        Stencil { grid: grid.to_vec(), offsets }
    }

    /// Returns the stencil of a Cartesian topology: one neighbour below and one above in each dimension.
    pub fn along_axes(grid: &[Dimension]) -> Stencil {
        let axis =
            |along: usize, step| (0..grid.len()).map(move |other| if other == along { step } else { 0 });
        let both = |along| [-1, 1].map(|step| axis(along, step).collect());
        Stencil::new(grid, (0..grid.len()).flat_map(both))
    }

    /// Returns the stencil of all ranks that touch a rank, also at corners: 9-point in 2 dimensions, 27-point in 3.
    pub fn around(grid: &[Dimension]) -> Stencil {
        let longer = |offsets: Vec<Vec<isize>>, _: &Dimension| {
            let with = |offset: Vec<isize>| (-1..=1).map(move |step| [offset.clone(), vec![step]].concat());
            offsets.into_iter().flat_map(with).collect()
        };
        let all = grid.iter().fold(vec![Vec::new()], longer);
        Stencil::new(grid, all.into_iter().filter(|offset| !is_zero(offset)))
    }

    pub fn grid(&self) -> &[Dimension] {
        &self.grid
    }

    /// The offsets, ascending.
    pub fn offsets(&self) -> &[Vec<isize>] {
        &self.offsets
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.grid.iter().map(|dimension| dimension.length).product()
    }

    /// The number of neighbours of a rank away from borders, besides itself.
    pub fn degree(&self) -> usize {
        self.offsets.iter().filter(|offset| !is_zero(offset)).count()
    }

    /// The number of dimensions in which there are neighbours.
    pub fn dimensions(&self) -> usize {
        (0..self.grid.len()).filter(|&dimension| !self.steps(dimension).is_empty()).count()
    }

    /// Returns the steps that offsets take in a dimension, other than 0: each once, ascending.
    pub fn steps(&self, dimension: usize) -> Vec<isize> {
        let mut steps: Vec<isize> = self.offsets.iter().map(|offset| offset[dimension]).collect();
        steps.retain(|&step| step != 0);
        steps.sort_unstable();
        steps.dedup();
        steps
    }

    /// How many messages a rank sends if blocks travel along one dimension after the other.
    pub fn combined_messages(&self) -> usize {
        (0..self.grid.len()).map(|dimension| self.steps(dimension).len()).sum()
    }

    /// The rank at an offset; `None` beyond a border.
    pub fn moved(&self, rank: usize, offset: &[isize]) -> Option<usize> {
        let (mut rest, mut stride, mut moved) = (rank, 1, 0);
        for (dimension, &step) in self.grid.iter().zip(offset).rev() {
            moved += stride * dimension.moved(rest % dimension.length, step)?;
            rest /= dimension.length;
            stride *= dimension.length;
        }
        Some(moved)
    }

    /// The rank from which the offset leads to this rank; `None` beyond a border.
    pub fn moved_back(&self, rank: usize, offset: &[isize]) -> Option<usize> {
        self.moved(rank, &offset.iter().map(|step| -step).collect::<Vec<_>>())
    }

    /// The shortest offset from a rank to another one.
    pub fn between(&self, rank: usize, other: usize) -> Vec<isize> {
        let (mut rest, mut other_rest) = (rank, other);
        let mut offset: Vec<isize> = Vec::with_capacity(self.grid.len());
        for dimension in self.grid.iter().rev() {
            let place = |rest: usize| (rest % dimension.length) as isize;
            let step = place(other_rest) - place(rest);
            offset.push(dimension.shortest(step).expect("both are on the grid"));
            (rest, other_rest) = (rest / dimension.length, other_rest / dimension.length);
        }
        offset.reverse();
        offset
    }

    /// A rank's neighbours, in the order of the offsets.
    pub fn neighbours(&self, rank: usize) -> Neighbours {
        let sources = self.offsets.iter().filter_map(|offset| self.moved_back(rank, offset));
        let destinations = self.offsets.iter().filter_map(|offset| self.moved(rank, offset));
        Neighbours::listed(sources.map(Some), destinations.map(Some))
    }

    /// Whether a rank's neighbours are those of the stencil, in whatever order.
    pub fn fits(&self, rank: usize, neighbours: &Neighbours) -> bool {
        self.sent(rank, neighbours).is_some() && self.received(rank, neighbours).is_some()
    }

    /// For each offset the block that a rank sends there (`None` beyond a border); `None` if it has other destinations.
    pub fn sent(&self, rank: usize, neighbours: &Neighbours) -> Option<Vec<Option<usize>>> {
        self.blocks(rank, &neighbours.destinations, End::Destination)
    }

    /// For each offset the block from that far behind (`None` beyond a border); `None` if the rank has other sources.
    pub fn received(&self, rank: usize, neighbours: &Neighbours) -> Option<Vec<Option<usize>>> {
        self.blocks(rank, &neighbours.sources, End::Source)
    }

    /// Edges between the same two ranks keep their order, because their blocks are matched in this order.
    fn blocks(&self, rank: usize, edges: &[Edge], end: End) -> Option<Vec<Option<usize>>> {
        let offset_of = |peer| match end {
            End::Source => self.between(peer, rank),
            End::Destination => self.between(rank, peer),
        };
        let mut edges: Vec<(Vec<isize>, usize)> =
            edges.iter().map(|edge| (offset_of(edge.peer), edge.block)).collect();
        edges.sort_by(|(one, _), (other, _)| one.cmp(other));
        let mut edges = edges.into_iter();
        let block_at = |offset: &Vec<isize>| {
            let peer = match end {
                End::Source => self.moved_back(rank, offset),
                End::Destination => self.moved(rank, offset),
            };
            match peer {
                None => Some(None),
                Some(_) => edges.next().filter(|(found, _)| found == offset).map(|(_, block)| Some(block)),
            }
        };
        let blocks = self.offsets.iter().map(block_at).collect::<Option<_>>()?;
        edges.next().is_none().then_some(blocks)
    }

    /// Whether MPI's rules make all blocks of an alltoall equally long. Each edge has one length, so this is
    /// true if edges connect the send and receive buffers of all ranks.
    pub fn has_equal_blocks(&self) -> bool {
        let size = self.size();
        // Send buffers first, then receive buffers.
        let mut is_reached = vec![false; 2 * size];
        let mut reached = vec![0];
        is_reached[0] = true;
        while let Some(buffer) = reached.pop() {
            for offset in &self.offsets {
                let next = match buffer < size {
                    true => self.moved(buffer, offset).map(|rank| rank + size),
                    false => self.moved_back(buffer - size, offset),
                };
                if let Some(next) = next.filter(|&next| !is_reached[next]) {
                    is_reached[next] = true;
                    reached.push(next);
                }
            }
        }
        is_reached.into_iter().all(|is_reached| is_reached)
    }
}

/// As the log writes it: `8 neighbours on 4 x 5 periodic`.
impl fmt::Display for Stencil {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let side = |&Dimension { length, periodic }: &Dimension| {
            format!("{length}{}", if periodic { " periodic" } else { "" })
        };
        let sides: Vec<String> = self.grid.iter().map(side).collect();
        write!(formatter, "{} neighbours on {}", self.degree(), sides.join(" x "))
    }
}

/// Whether an offset leads to the rank itself.
pub fn is_zero(offset: &[isize]) -> bool {
    offset.iter().all(|&step| step == 0)
}

impl Dimension {
    /// Returns the shortest step to the same place, the forward one of two; `None` if it always leads beyond a border.
    fn shortest(self, step: isize) -> Option<isize> {
        let length = self.length as isize;
        match self.periodic {
            true => {
                let forwards = step.rem_euclid(length);
                Some(if 2 * forwards > length { forwards - length } else { forwards })
            }
            false => (step.abs() < length).then_some(step),
        }
    }

    /// Returns the place after a step; `None` beyond a border.
    fn moved(self, place: usize, step: isize) -> Option<usize> {
        let (place, length) = (place as isize + step, self.length as isize);
        let place = if self.periodic { place.rem_euclid(length) } else { place };
        (0..length).contains(&place).then_some(place as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Graph;

    fn grid(dimensions: &[(usize, bool)]) -> Vec<Dimension> {
        dimensions.iter().map(|&(length, periodic)| Dimension { length, periodic }).collect()
    }

    #[test]
    fn stencils_have_as_many_neighbours_as_their_names_say() {
        for (dimensions, degree, messages) in [
            (&[(3, true), (3, true)][..], 8, 4),
            (&[(3, true), (4, true), (5, false)], 26, 6),
            // One step forwards and one backwards lead to the same rank.
            (&[(2, true), (5, true)], 8, 3),
            (&[(1, true), (5, true)], 6, 2),
            (&[(1, false), (5, true)], 2, 2),
        ] {
            let stencil = Stencil::around(&grid(dimensions));
            assert_eq!((stencil.degree(), stencil.combined_messages()), (degree, messages), "{dimensions:?}");
        }
    }

    #[test]
    fn what_one_rank_sends_another_receives() {
        for dimensions in
            [&[(2, true), (3, false)][..], &[(1, true), (4, true)], &[(3, true), (2, false), (2, true)]]
        {
            let grid = grid(dimensions);
            for stencil in [Stencil::around(&grid), Stencil::along_axes(&grid)] {
                let graph = Graph::of_stencil(stencil.clone());
                for rank in 0..stencil.size() {
                    assert!(stencil.fits(rank, graph.neighbours(rank)));
                    assert!(graph.origins(rank).iter().all(Option::is_some));
                }
            }
        }
    }

    #[test]
    fn a_cartesian_topology_is_a_stencil_in_another_order() {
        for dimensions in
            [&[(5, true), (3, false)][..], &[(1, true), (2, true)], &[(2, false), (1, false), (4, true)]]
        {
            let grid = grid(dimensions);
            let stencil = Stencil::along_axes(&grid);
            for rank in 0..stencil.size() {
                assert!(stencil.fits(rank, &Neighbours::on_grid(&grid, rank)), "{dimensions:?}, rank {rank}");
            }
        }
    }

    #[test]
    fn one_edge_more_or_less_does_not_fit() {
        let stencil = Stencil::around(&grid(&[(3, false), (4, false)]));
        let neighbours = stencil.neighbours(5);
        let listed = |peers: &[usize]| {
            Neighbours::listed([0, 1, 2, 4, 6, 8, 9, 10].map(Some), peers.iter().copied().map(Some))
        };
        assert!(stencil.fits(5, &neighbours));
        assert!(stencil.fits(5, &listed(&[10, 9, 8, 6, 4, 2, 1, 0])));
        for peers in [&[0, 1, 2, 4, 6, 8, 9][..], &[0, 1, 2, 4, 6, 8, 9, 10, 10], &[0, 1, 2, 4, 6, 8, 9, 11]]
        {
            assert!(!stencil.fits(5, &listed(peers)), "{peers:?}");
        }
    }

    #[test]
    fn blocks_are_equal_where_edges_connect_all_buffers() {
        let around = |dimensions| Stencil::around(&grid(dimensions)).has_equal_blocks();
        let along = |dimensions| Stencil::along_axes(&grid(dimensions)).has_equal_blocks();
        assert!(around(&[(3, false), (3, false)]) && around(&[(4, true), (4, true), (4, true)]));
        // Black ranks send to white ones alone.
        assert!(!along(&[(4, true), (4, true)]) && along(&[(3, true), (3, true)]));
        // The last rank sends nothing.
        let diagonal =
            |periodic| Stencil::new(&grid(&[(3, periodic); 2]), [[0, 1], [1, 0], [1, 1]].map(Vec::from));
        assert!(diagonal(true).has_equal_blocks() && !diagonal(false).has_equal_blocks());
    }
}
