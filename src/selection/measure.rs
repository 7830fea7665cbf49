//! What `bytes` means, by collective.

use crate::algorithms::{Collective, Cut};

/// What rules measure the calls of a collective by. It must be equal on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// The whole vector.
    Vector,
    /// One rank's block; in an alltoall the block for one peer.
    Block,
    /// The blocks of all ranks together.
    AllBlocks,
    /// Nothing: no rank knows more than its own counts, or there are no data.
    Nothing,
}

impl Measure {
    /// That of a collective in one group.
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

    /// That of a collective among neighbours that all ranks have at the same offsets of a grid: there all blocks of a collective that takes
    /// one count are equally long.
    pub fn on_stencils(collective: Collective) -> Measure {
        match collective {
            Collective::NeighborAllgather | Collective::NeighborAlltoall => Measure::Block,
            _ => Measure::of(collective),
        }
    }

    /// That of a collective between two groups: the directions may differ, and the root's group is not told any counts.
    pub fn between_groups(collective: Collective) -> Measure {
        if collective == Collective::Allreduce { Measure::Vector } else { Measure::Nothing }
    }

    /// In words, for users.
    pub fn description(self) -> &'static str {
        match self {
            Measure::Vector => "the whole vector",
            Measure::Block => "one block",
            Measure::AllBlocks => "all blocks together",
            Measure::Nothing => "no measure",
        }
    }
}
