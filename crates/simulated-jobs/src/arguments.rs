//! The arguments of a call on one rank.

use expected_results::buffers::Arguments;
use expected_results::image::Elements;
use expected_results::random::combine;
use rustcoll::algorithms::{Collective, Cut, Graph};

use crate::datatypes::Datatype;
use crate::history::Call;

use Collective::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Send,
    Receive,
}

impl Call {
    /// Returns the arguments of a rank in a communicator of `size` ranks.
    pub fn arguments(&self, rank: usize, size: usize, graph: &Graph) -> Arguments<Datatype> {
        Arguments {
            collective: self.collective,
            send: self.send_blocks(rank, size, graph),
            receive: self.receive_blocks(rank, size, graph),
            arithmetic: self.collective.reduces().then_some(self.arithmetic),
            root: self.root,
            in_place: self.is_in_place_at(rank),
        }
    }

    /// Whether a rank passes `MPI_IN_PLACE`. Where each rank decides for itself, the other one does not do as the rest.
    fn is_in_place_at(&self, rank: usize) -> bool {
        self.in_place ^ (self.differs_in_place() && self.other.is_some_and(|other| other.0 == rank))
    }

    /// Whether not all ranks need to pass `MPI_IN_PLACE` if one does, and no root decides.
    pub fn differs_in_place(&self) -> bool {
        let collective = self.collective;
        collective.reduces() && !collective.is_rooted() && !collective.is_in_place_at_all_ranks()
    }

    fn send_blocks(&self, rank: usize, size: usize, graph: &Graph) -> Vec<Elements<Datatype>> {
        let blocks = match self.collective {
            Alltoall | Alltoallv | Alltoallw | Scatter | Scatterv | ReduceScatter | ReduceScatterBlock => {
                size
            }
            // MPI needs a count and a datatype even without a neighbour.
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
                graph.neighbours(rank).outdegree.max(1)
            }
            _ => 1,
        };
        let block = |to| self.elements(Side::Send, rank, to, self.share(rank, to, size));
        (0..blocks).map(block).collect()
    }

    fn receive_blocks(&self, rank: usize, size: usize, graph: &Graph) -> Vec<Elements<Datatype>> {
        let share = |block: usize| match self.collective {
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Gather | Gatherv => {
                self.share(block, rank, size)
            }
            _ if self.collective.cut() == Cut::Edges => {
                let origin = graph.origins(rank).get(block).copied().flatten();
                origin.map_or(self.share(rank, block, size), |edge| self.share(edge.peer, edge.block, size))
            }
            _ => self.share(0, rank, size),
        };
        let blocks = match self.collective {
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Gather | Gatherv => size,
            _ if self.collective.cut() == Cut::Edges => graph.neighbours(rank).indegree.max(1),
            _ => 1,
        };
        (0..blocks).map(|block| self.elements(Side::Receive, rank, block, share(block))).collect()
    }

    /// Returns how many values go from one rank to another, or to the neighbour with number `to`.
    fn share(&self, from: usize, to: usize, size: usize) -> usize {
        let number = match self.collective {
            // In a call in place, two ranks send each other equally many values.
            Alltoallv | Alltoallw => from.min(to) * size + from.max(to),
            NeighborAlltoallv | NeighborAlltoallw => from * MOST_NEIGHBOURS + to,
            Allgatherv | Gatherv | NeighborAllgatherv => from,
            ReduceScatter | Scatterv => to,
            _ => return self.values,
        };
        match combine(&[self.shape, number as u64]) % 4 {
            0 => 0,
            1 => self.values.min(2),
            2 => self.values / 4 * 2,
            _ => self.values,
        }
    }

    fn elements(&self, side: Side, rank: usize, block: usize, values: usize) -> Elements<Datatype> {
        let datatype = self.datatype(side, rank, block);
        Elements { datatype, count: values / datatype.width() }
    }

    /// Returns the datatype of a block. Ranks may describe the same values by different datatypes, unless a reduction
    /// combines them.
    fn datatype(&self, side: Side, rank: usize, block: usize) -> Datatype {
        let drawn = |numbers: &[u64]| Datatype::all()[(combine(numbers) % 3) as usize];
        let place = (rank as u64) << 1 | u64::from(side == Side::Send);
        let shape = self.other.filter(|other| other.0 == rank).map_or(self.shape, |other| other.1);
        match self.collective {
            _ if self.collective.reduces() && self.arithmetic.is_predefined() => Datatype::int(),
            _ if self.collective.reduces() => drawn(&[self.shape]),
            Alltoallw | NeighborAlltoallw => drawn(&[shape, place, block as u64]),
            _ => drawn(&[shape, place]),
        }
    }
}

/// No rank has so many neighbours.
const MOST_NEIGHBOURS: usize = 64;
