//! The arguments of a call on one rank.

use expected_results::buffers::Arguments;
use expected_results::image::Elements;
use expected_results::random::combine;
use rustcoll::algorithms::{Collective, Cut, Graph, Problem};

use crate::datatypes::Datatype;
use crate::history::Call;

use Collective::*;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Send,
    Receive,
}

impl Call {
    /// Returns the arguments of one of the ranks of a communicator; those of both groups of an inter-communicator are numbered together.
    pub fn arguments(&self, rank: usize, ranks: &Problem, graph: &Graph) -> Arguments<Datatype> {
        Arguments {
            collective: self.collective,
            send: self.send_blocks(rank, ranks, graph),
            receive: self.receive_blocks(rank, ranks, graph),
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

    fn send_blocks(&self, rank: usize, ranks: &Problem, graph: &Graph) -> Vec<Elements<Datatype>> {
        let blocks = match self.collective {
            Alltoall | Alltoallv | Alltoallw | Scatter | Scatterv => ranks.partners(rank),
            ReduceScatter | ReduceScatterBlock => ranks.group(rank),
            // MPI needs a count and a datatype even without a neighbour.
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
                0..graph.neighbours(rank).outdegree.max(1)
            }
            _ => 0..1,
        };
        blocks.map(|to| self.elements(Side::Send, rank, to, self.share(rank, to, ranks))).collect()
    }

    fn receive_blocks(&self, rank: usize, ranks: &Problem, graph: &Graph) -> Vec<Elements<Datatype>> {
        let share = |block: usize| match self.collective {
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Gather | Gatherv => {
                self.share(block, rank, ranks)
            }
            _ if self.collective.cut() == Cut::Edges => {
                let origin = graph.origins(rank).get(block).copied().flatten();
                origin.map_or(self.share(rank, block, ranks), |edge| self.share(edge.peer, edge.block, ranks))
            }
            _ => self.share(0, rank, ranks),
        };
        let blocks = match self.collective {
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw | Gather | Gatherv => {
                ranks.partners(rank)
            }
            _ if self.collective.cut() == Cut::Edges => 0..graph.neighbours(rank).indegree.max(1),
            _ => 0..1,
        };
        blocks.map(|block| self.elements(Side::Receive, rank, block, share(block))).collect()
    }

    /// Returns how many values go from one rank to another, or to the neighbour with number `to`.
    fn share(&self, from: usize, to: usize, ranks: &Problem) -> usize {
        let number = match self.collective {
            // In a call in place, two ranks send each other equally many values.
            Alltoallv | Alltoallw => from.min(to) * ranks.size + from.max(to),
            NeighborAlltoallv | NeighborAlltoallw => from * MOST_NEIGHBOURS + to,
            Allgatherv | Gatherv | NeighborAllgatherv => from,
            ReduceScatter | ReduceScatterBlock if ranks.remote > 0 => return self.part(to, ranks),
            ReduceScatter | Scatterv => to,
            // The two directions may have different lengths, and one may be empty.
            Allgather | Alltoall if from >= ranks.local() => ranks.local(),
            _ => return self.values,
        };
        match combine(&[self.shape, number as u64]) % 4 {
            0 => 0,
            1 => self.values.min(self.widest()),
            2 => self.in_elements(self.values / 2),
            _ => self.values,
        }
    }

    /// Returns how many values a rank gets of the reduction of the other group. Both groups get as many together.
    fn part(&self, rank: usize, ranks: &Problem) -> usize {
        let (group, others) = (ranks.group(rank), ranks.partners(rank));
        let equal = self.in_elements(self.values / group.len().max(others.len())) * others.len();
        match self.collective {
            // The last rank gets what the first one does not.
            ReduceScatter if group.len() > 1 && rank == group.start => 0,
            ReduceScatter if group.len() > 1 && rank + 1 == group.end => 2 * equal,
            _ => equal,
        }
    }

    /// Returns the most values that an element may have. All blocks have a multiple of them.
    fn widest(&self) -> usize {
        Datatype::of_values(self.unit, self.values).map(Datatype::width).into_iter().max().unwrap_or(1)
    }

    /// Rounds a number of values down to whole elements.
    fn in_elements(&self, values: usize) -> usize {
        values / self.widest() * self.widest()
    }

    fn elements(&self, side: Side, rank: usize, block: usize, values: usize) -> Elements<Datatype> {
        let datatype = self.datatype(side, rank, block);
        Elements { datatype, count: values / datatype.width() }
    }

    /// Returns the datatype of a block. Ranks may describe the same values by different datatypes, unless a reduction
    /// combines them.
    fn datatype(&self, side: Side, rank: usize, block: usize) -> Datatype {
        let drawn =
            |numbers: &[u64]| Datatype::of_values(self.unit, self.values)[(combine(numbers) % 3) as usize];
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
