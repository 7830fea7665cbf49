//! The collective operations of MPI, and which blocks of their buffers a rank has.

use super::{Algorithm, Parameter, Problem, registered, scheduled};
use crate::schedule::Buffer;
use std::ops::Range;

/// A collective operation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Collective {
    Allgather,
    Allgatherv,
    Allreduce,
    Alltoall,
    Alltoallv,
    Alltoallw,
    Barrier,
    Bcast,
    Exscan,
    Gather,
    Gatherv,
    NeighborAllgather,
    NeighborAllgatherv,
    NeighborAlltoall,
    NeighborAlltoallv,
    NeighborAlltoallw,
    Reduce,
    ReduceScatter,
    ReduceScatterBlock,
    Scan,
    Scatter,
    Scatterv,
}

use Collective::*;

/// How the buffers of a collective are cut into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// One vector, cut into as many blocks as a schedule chooses. Blocks of the same number have the same length.
    Vector,
    /// A block for each rank. Blocks of the same number have the same length.
    Ranks,
    /// A block for each pair of ranks: block `j` of rank `i`'s send buffer is as long as block `i` of rank `j`'s receive
    /// buffer.
    Pairs,
    /// A block for each neighbour, or one for all neighbours. Only the two ranks of an edge know its block's length.
    Edges,
}

impl Collective {
    /// All collectives, in the order of their names.
    pub const ALL: [Collective; 22] = [
        Allgather,
        Allgatherv,
        Allreduce,
        Alltoall,
        Alltoallv,
        Alltoallw,
        Barrier,
        Bcast,
        Exscan,
        Gather,
        Gatherv,
        NeighborAllgather,
        NeighborAllgatherv,
        NeighborAlltoall,
        NeighborAlltoallv,
        NeighborAlltoallw,
        Reduce,
        ReduceScatter,
        ReduceScatterBlock,
        Scan,
        Scatter,
        Scatterv,
    ];

    /// Returns the collective with this [`name`](Collective::name).
    pub fn named(name: &str) -> Option<Collective> {
        Collective::ALL.into_iter().find(|collective| collective.name() == name)
    }

    /// Returns MPI's name in lower case, without the prefix `MPI_`.
    pub fn name(self) -> &'static str {
        match self {
            Allgather => "allgather",
            Allgatherv => "allgatherv",
            Allreduce => "allreduce",
            Alltoall => "alltoall",
            Alltoallv => "alltoallv",
            Alltoallw => "alltoallw",
            Barrier => "barrier",
            Bcast => "bcast",
            Exscan => "exscan",
            Gather => "gather",
            Gatherv => "gatherv",
            NeighborAllgather => "neighbor_allgather",
            NeighborAllgatherv => "neighbor_allgatherv",
            NeighborAlltoall => "neighbor_alltoall",
            NeighborAlltoallv => "neighbor_alltoallv",
            NeighborAlltoallw => "neighbor_alltoallw",
            Reduce => "reduce",
            ReduceScatter => "reduce_scatter",
            ReduceScatterBlock => "reduce_scatter_block",
            Scan => "scan",
            Scatter => "scatter",
            Scatterv => "scatterv",
        }
    }

    pub fn cut(self) -> Cut {
        match self {
            Allreduce | Barrier | Bcast | Exscan | Reduce | Scan => Cut::Vector,
            Alltoall | Alltoallv | Alltoallw => Cut::Pairs,
            Allgather | Allgatherv | Gather | Gatherv | ReduceScatter | ReduceScatterBlock | Scatter
            | Scatterv => Cut::Ranks,
            NeighborAllgather | NeighborAllgatherv | NeighborAlltoall | NeighborAlltoallv
            | NeighborAlltoallw => Cut::Edges,
        }
    }

    pub fn is_rooted(self) -> bool {
        matches!(self, Bcast | Gather | Gatherv | Reduce | Scatter | Scatterv)
    }

    /// Whether a schedule can find its input in the receive buffer, with `MPI_IN_PLACE`; if there is a root, at the
    /// root only. In reduce-scatters it cannot: their result is not at the place of its block in the input. So the
    /// executor of an in-place reduce-scatter copies the input first.
    pub fn has_in_place(self) -> bool {
        !matches!(self, Barrier | Bcast | ReduceScatter | ReduceScatterBlock) && self.cut() != Cut::Edges
    }

    /// Whether all ranks pass `MPI_IN_PLACE` if one does. In a scan or a reduce-scatter each rank decides for itself, and if there is
    /// a root, only the root does.
    pub fn is_in_place_at_all_ranks(self) -> bool {
        matches!(
            self,
            Allgather | Allgatherv | Allreduce | Alltoall | Alltoallv | Alltoallw | ReduceScatterBlock
        )
    }

    /// Whether the collective applies an operator.
    pub const fn reduces(self) -> bool {
        matches!(self, Allreduce | Exscan | Reduce | ReduceScatter | ReduceScatterBlock | Scan)
    }

    /// Whether a rank takes part as more than the root. In one group all ranks do. Of two groups, only the group
    /// without the root does.
    fn is_member(self, problem: &Problem, rank: usize) -> bool {
        !self.is_rooted() || problem.partners(problem.root).contains(&rank)
    }

    /// Returns the blocks that a rank's send buffer has, of `blocks` in all.
    pub fn send_blocks(self, problem: &Problem, rank: usize, blocks: usize) -> Range<usize> {
        let is_root = rank == problem.root;
        let in_place = problem.in_place && (is_root || !self.is_rooted());
        match self {
            Bcast => 0..0,
            Scatter | Scatterv if is_root => problem.partners(rank),
            Scatter | Scatterv => 0..0,
            NeighborAllgather | NeighborAllgatherv => 0..1,
            NeighborAlltoall | NeighborAlltoallv | NeighborAlltoallw => {
                0..problem.graph.neighbours(rank).outdegree
            }
            _ if in_place || !self.is_member(problem, rank) => 0..0,
            Allgather | Allgatherv | Gather | Gatherv => rank..rank + 1,
            Alltoall | Alltoallv | Alltoallw | ReduceScatter | ReduceScatterBlock => problem.partners(rank),
            // A barrier has no data: there is one byte to send, whatever the number of blocks.
            Barrier => 0..blocks.min(1),
            _ => 0..blocks,
        }
    }

    /// Returns the blocks that a rank's receive buffer has, of `blocks` in all.
    pub fn recv_blocks(self, problem: &Problem, rank: usize, blocks: usize) -> Range<usize> {
        let is_root = rank == problem.root;
        match self {
            Barrier => 0..0,
            // To MPI it is not significant: it may not even exist.
            Exscan if rank == 0 && !problem.in_place => 0..0,
            Gather | Gatherv if is_root => problem.partners(rank),
            Bcast | Reduce if is_root => 0..blocks,
            Gather | Gatherv | Reduce => 0..0,
            Scatter | Scatterv if is_root && problem.in_place => 0..0,
            Bcast | Scatter | Scatterv if !self.is_member(problem, rank) => 0..0,
            ReduceScatter | ReduceScatterBlock | Scatter | Scatterv => rank..rank + 1,
            _ if self.cut() == Cut::Edges => 0..problem.graph.neighbours(rank).indegree,
            Allgather | Allgatherv | Alltoall | Alltoallv | Alltoallw => problem.partners(rank),
            _ => 0..blocks,
        }
    }

    /// Returns the blocks of which a rank knows only the sum of lengths. Between two groups, these are the blocks into
    /// which a reduce-scatter cuts the result for the other group.
    pub fn inseparable_blocks(self, problem: &Problem, rank: usize) -> Range<usize> {
        match self {
            ReduceScatter | ReduceScatterBlock if problem.remote > 0 => problem.partners(rank),
            _ => 0..0,
        }
    }

    /// Returns the buffer and the blocks of a rank's input; `None` if the rank has no input.
    pub fn input(self, problem: &Problem, rank: usize, blocks: usize) -> Option<(Buffer, Range<usize>)> {
        let sent = self.send_blocks(problem, rank, blocks);
        if !sent.is_empty() {
            return Some((Buffer::Send, sent));
        }
        match self {
            Bcast => (rank == problem.root).then_some((Buffer::Recv, 0..blocks)),
            Scatter | Scatterv => None,
            _ if self.cut() == Cut::Edges || !problem.in_place => None,
            Allgather | Allgatherv | Gather | Gatherv => Some((Buffer::Recv, rank..rank + 1)),
            _ => Some((Buffer::Recv, 0..blocks)),
        }
    }

    /// Returns the registered algorithms of this collective, in the order of the registry.
    pub fn algorithms(self) -> impl Iterator<Item = &'static Algorithm> {
        registered().filter(move |algorithm| algorithm.performs(self))
    }

    /// Returns the registered algorithms of this collective that have schedules.
    pub fn scheduled(self) -> impl Iterator<Item = &'static Algorithm> {
        scheduled().filter(move |algorithm| algorithm.performs(self))
    }

    /// Looks an algorithm up by its name or one of its aliases.
    pub fn algorithm(self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms().find(|algorithm| algorithm.is_named(name))
    }

    /// The parameters that at least one algorithm of this collective takes.
    pub fn parameters(self) -> impl Iterator<Item = Parameter> {
        Parameter::ALL.into_iter().filter(move |parameter| {
            self.algorithms().any(|algorithm| algorithm.parameters.contains(parameter))
        })
    }
}
