//! The meaning of `bytes`, by collective.

use crate::algorithms::{Collective, Cut};

/// The measure of a collective's calls that rules use as `bytes`. It must be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The whole vector.
    Vector,
    /// One rank's block; in an alltoall, the block for one peer.
    Block,
    /// The blocks of all ranks together.
    AllBlocks,
    /// No measure: each rank knows only its own counts, or there are no data.
    Nothing,
}

impl Measure {
    /// Returns the measure of a collective on intra-communicators.
    pub fn of(collective: Collective) -> Measure {
        match collective {
            Collective::Barrier
            | Collective::Alltoallv
            | Collective::Alltoallw
            | Collective::Gatherv
            | Collective::Scatterv => Measure::Nothing,
            Collective::Allgatherv | Collective::ReduceScatter => Measure::AllBlocks,
            _ => match collective.cut() {
                Cut::Edges => Measure::Nothing,
                Cut::Vector => Measure::Vector,
                Cut::Pairs | Cut::Ranks => Measure::Block,
            },
        }
    }

    /// Returns the measure of a collective if all ranks have their neighbours at the same offsets of a grid.
    /// Collectives with one count then have blocks of equal length.
    pub fn on_stencils(collective: Collective) -> Measure {
        match collective {
            Collective::NeighborAllgather | Collective::NeighborAlltoall => Measure::Block,
            _ => Measure::of(collective),
        }
    }

    /// Returns the measure of a collective on inter-communicators. There, the two directions may have
    /// different lengths, and the root's group knows no counts.
    pub fn between_groups(collective: Collective) -> Measure {
        if collective == Collective::Allreduce { Measure::Vector } else { Measure::Nothing }
    }

    /// Describes the measure for users.
    pub fn description(self) -> &'static str {
        match self {
            Measure::Vector => "the whole vector",
            Measure::Block => "one block",
            Measure::AllBlocks => "all blocks together",
            Measure::Nothing => "no measure",
        }
    }
}
