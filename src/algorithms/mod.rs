//! The registry: every algorithm, once. Parameter names, legal values, the verifier's loops and the documentation's
//! table are derived from it.

#![forbid(unsafe_code)]

mod allgather;
mod allreduce;
mod alltoall;
mod barrier;
mod bcast;
mod building_blocks;
mod calls;
mod collective;
pub mod description;
pub mod digits;
mod gather;
mod graph;
mod inter;
mod mock_ups;
mod neighbor;
mod problem;
mod reduce;
mod reduce_scatter;
mod reproducible;
mod scan;
mod scatter;

pub use allreduce::binary_blocks::delta_expo_max;
pub use allreduce::recursive_doubling::ALGORITHM as RECURSIVE_DOUBLING_ALLREDUCE;
pub use calls::{Act, Area, Call, Calls, Parts, Region};
pub use collective::{Collective, Cut};
pub use graph::{Dimension, Edge, Graph, Neighbours};
pub use problem::{Parameter, Problem, Reason, Requirement, default_radix, legal_radix};

use crate::cost::Cost;
use crate::schedule::Schedule;

/// How algorithms arrange ranks: for those who explain what these do.
pub mod arrangements {
    pub use super::allreduce::binary_blocks::{RankBlock, rank_blocks};
    pub use super::allreduce::recursive_multiplying::{participant, participants};
    pub use super::alltoall::postal::skips as postal_skips;
    pub use super::building_blocks::circulant::skips as circulant_skips;
    pub use super::building_blocks::fold::Fold;
    pub use super::building_blocks::knomial_tree::{parent, subtree};
}

/// A registered algorithm.
#[derive(Debug)]
pub struct Algorithm {
    /// The collective it performs.
    pub collective: Collective,
    /// Its name here.
    pub name: &'static str,
    /// Its names in MPICH and Open MPI.
    pub aliases: &'static [&'static str],
    /// The paper or code base in which it was first described.
    pub source: &'static str,
    /// The parameters that shape its schedule.
    pub parameters: &'static [Parameter],
    /// What a call must satisfy.
    pub requires: &'static [Requirement],
    /// What a rank does.
    pub body: Body,
}

/// What the ranks do.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// They send each other messages.
    Messages {
        /// The program of one rank, who numbers its own group first if there are two; see [`Algorithm::program`].
        schedule: fn(&Problem, usize) -> Schedule,
        /// What a run of all ranks' schedules costs, in closed form; takes a problem that is known wholly. Where nodes have
        /// different numbers of ranks, it may be the sum of the most that a rank has to do in each phase.
        cost: fn(&Problem) -> Cost,
    },
    /// They call other collectives of their communicator.
    Calls(Calls),
}

/// Every algorithm that has schedules.
pub static REGISTRY: &[&Algorithm] = &[
    &allgather::linear::ALLGATHER,
    &allgather::recursive_doubling::ALLGATHER,
    &allgather::bruck::ALLGATHER,
    &allgather::ring::ALLGATHER,
    &allgather::neighbor_exchange::ALLGATHER,
    &allgather::circulant::ALLGATHER,
    &allgather::gather_bcast::ALLGATHER,
    &allgather::node_aware::ALLGATHER,
    &allgather::shared::ALLGATHER,
    &allgather::shared_leaders::ALLGATHER,
    &allgather::shared_multi_leaders::ALLGATHER,
    &allgather::linear::ALLGATHERV,
    &allgather::recursive_doubling::ALLGATHERV,
    &allgather::bruck::ALLGATHERV,
    &allgather::ring::ALLGATHERV,
    &allgather::neighbor_exchange::ALLGATHERV,
    &allgather::circulant::ALLGATHERV,
    &allgather::gather_bcast::ALLGATHERV,
    &allgather::node_aware::ALLGATHERV,
    &allgather::shared::ALLGATHERV,
    &allgather::shared_leaders::ALLGATHERV,
    &allgather::shared_multi_leaders::ALLGATHERV,
    &allreduce::recursive_doubling::ALGORITHM,
    &allreduce::rabenseifner::ALGORITHM,
    &allreduce::binary_blocks::ALGORITHM,
    &allreduce::ring::ALGORITHM,
    &allreduce::ring_segmented::ALGORITHM,
    &allreduce::reduce_bcast::ALGORITHM,
    &allreduce::linear::ALGORITHM,
    &allreduce::recursive_multiplying::ALGORITHM,
    &allreduce::circulant::ALGORITHM,
    &allreduce::allgather_reduce::ALGORITHM,
    &allreduce::node_aware::ALGORITHM,
    &allreduce::node_aware_circulant::ALGORITHM,
    &allreduce::shared_flat::ALGORITHM,
    &allreduce::shared_slices::ALGORITHM,
    &allreduce::shared_leaders::ALGORITHM,
    &allreduce::shared_multi_leaders::ALGORITHM,
    &alltoall::bruck::ALGORITHM,
    &alltoall::bruck_modified::ALGORITHM,
    &alltoall::spread_out::ALLTOALL,
    &alltoall::linear_window::ALGORITHM,
    &alltoall::pairwise::ALLTOALL,
    &alltoall::circulant::ALGORITHM,
    &alltoall::postal::ALGORITHM,
    &alltoall::node_aware::ALGORITHM,
    &alltoall::shared::ALGORITHM,
    &alltoall::shared_multi_leaders::ALGORITHM,
    &alltoall::spread_out::ALLTOALLV,
    &alltoall::pairwise::ALLTOALLV,
    &alltoall::bruck_two_phase::ALLTOALLV,
    &alltoall::bruck_padded::ALGORITHM,
    &alltoall::spread_out::ALLTOALLW,
    &alltoall::pairwise::ALLTOALLW,
    &alltoall::bruck_two_phase::ALLTOALLW,
    &barrier::dissemination::ALGORITHM,
    &barrier::recursive_doubling::ALGORITHM,
    &barrier::tree::ALGORITHM,
    &barrier::ring::ALGORITHM,
    &barrier::shared::ALGORITHM,
    &barrier::shared_leaders::ALGORITHM,
    &bcast::linear::ALGORITHM,
    &bcast::binomial::ALGORITHM,
    &bcast::knomial::ALGORITHM,
    &bcast::chain::ALGORITHM,
    &bcast::binary::ALGORITHM,
    &bcast::scatter_recursive_doubling_allgather::ALGORITHM,
    &bcast::scatter_ring_allgather::ALGORITHM,
    &bcast::scatter_ring_allgather_opt::ALGORITHM,
    &bcast::circulant_pipelined::ALGORITHM,
    &bcast::node_aware::ALGORITHM,
    &bcast::node_aware_knomial::ALGORITHM,
    &bcast::node_aware_chain::ALGORITHM,
    &bcast::shared::ALGORITHM,
    &bcast::shared_leaders::ALGORITHM,
    &bcast::shared_leaders_pipelined::ALGORITHM,
    &scan::linear::EXSCAN,
    &scan::recursive_doubling::EXSCAN,
    &scan::shared::EXSCAN,
    &gather::linear::GATHER,
    &gather::binomial::GATHER,
    &gather::shared::ALGORITHM,
    &gather::linear::GATHERV,
    &gather::binomial::GATHERV,
    &neighbor::linear::ALLGATHER,
    &neighbor::linear::ALLGATHERV,
    &neighbor::linear::ALLTOALL,
    &neighbor::linear::ALLTOALLV,
    &neighbor::linear::ALLTOALLW,
    &reduce::linear::ALGORITHM,
    &reduce::binomial::ALGORITHM,
    &reduce::binomial_in_order::ALGORITHM,
    &reduce::knomial::ALGORITHM,
    &reduce::chain::ALGORITHM,
    &reduce::binary_in_order::ALGORITHM,
    &reduce::rabenseifner::ALGORITHM,
    &reduce::circulant_pipelined::ALGORITHM,
    &reduce::node_aware_knomial::ALGORITHM,
    &reduce::node_aware_chain::ALGORITHM,
    &reduce::shared_flat::ALGORITHM,
    &reduce::shared_slices::ALGORITHM,
    &reduce::shared_leaders::ALGORITHM,
    &reduce::shared_leaders_pipelined::ALGORITHM,
    &reduce_scatter::recursive_halving::REDUCE_SCATTER,
    &reduce_scatter::recursive_doubling::REDUCE_SCATTER,
    &reduce_scatter::pairwise::REDUCE_SCATTER,
    &reduce_scatter::ring::REDUCE_SCATTER,
    &reduce_scatter::butterfly::REDUCE_SCATTER,
    &reduce_scatter::circulant::REDUCE_SCATTER,
    &reduce_scatter::reduce_scatter_v::REDUCE_SCATTER,
    &reduce_scatter::node_aware::REDUCE_SCATTER,
    &reduce_scatter::shared::REDUCE_SCATTER,
    &reduce_scatter::shared_leaders::REDUCE_SCATTER,
    &reduce_scatter::shared_multi_leaders::REDUCE_SCATTER,
    &reduce_scatter::recursive_halving::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::recursive_doubling::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::pairwise::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::ring::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::butterfly::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::circulant::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::reduce_scatter_v::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::node_aware::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::shared::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::shared_leaders::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::shared_multi_leaders::REDUCE_SCATTER_BLOCK,
    &scan::linear::SCAN,
    &scan::recursive_doubling::SCAN,
    &scan::shared::SCAN,
    &scatter::linear::SCATTER,
    &scatter::binomial::SCATTER,
    &scatter::shared::ALGORITHM,
    &scatter::linear::SCATTERV,
    &scatter::binomial::SCATTERV,
    &inter::allgather::ALGORITHM,
    &inter::allgatherv::ALGORITHM,
    &inter::allreduce::ALGORITHM,
    &inter::alltoall::ALLTOALL,
    &inter::alltoall::ALLTOALLV,
    &inter::alltoall::ALLTOALLW,
    &inter::barrier::ALGORITHM,
    &inter::bcast::ALGORITHM,
    &inter::gather::ALGORITHM,
    &inter::gatherv::ALGORITHM,
    &inter::reduce::ALGORITHM,
    &inter::reduce_scatter::REDUCE_SCATTER,
    &inter::reduce_scatter::REDUCE_SCATTER_BLOCK,
    &inter::scatter::ALGORITHM,
    &inter::scatterv::ALGORITHM,
];

/// Every algorithm that is made of calls: the mock-ups of performance guidelines.
pub static MOCK_UPS: &[&Algorithm] = &[
    &mock_ups::allgather::GATHER_BCAST,
    &mock_ups::allgather::ALLTOALL,
    &mock_ups::allgather::ALLREDUCE,
    &mock_ups::allgather::ALLGATHERV,
    &mock_ups::allreduce::REDUCE_BCAST,
    &mock_ups::allreduce::REDUCE_SCATTER_BLOCK_ALLGATHER,
    &mock_ups::allreduce::REDUCE_SCATTER_ALLGATHERV,
    &mock_ups::alltoall::ALLTOALLV,
    &mock_ups::bcast::ALLGATHERV,
    &mock_ups::bcast::SCATTER_ALLGATHER,
    &mock_ups::gather::ALLGATHER,
    &mock_ups::gather::GATHERV,
    &mock_ups::gather::REDUCE,
    &mock_ups::reduce::ALLREDUCE,
    &mock_ups::reduce::REDUCE_SCATTER_BLOCK_GATHER,
    &mock_ups::reduce::REDUCE_SCATTER_GATHERV,
    &mock_ups::reduce_scatter_block::REDUCE_THEN_SCATTER,
    &mock_ups::reduce_scatter_block::REDUCE_SCATTER,
    &mock_ups::reduce_scatter_block::ALLREDUCE,
    &mock_ups::scan::EXSCAN_REDUCE_LOCAL,
    &mock_ups::scatter::BCAST,
    &mock_ups::scatter::SCATTERV,
];

/// All of both kinds.
pub fn registered() -> impl Iterator<Item = &'static Algorithm> {
    REGISTRY.iter().chain(MOCK_UPS).copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_and_aliases_are_unique_within_a_collective() {
        for collective in Collective::ALL {
            let mut seen = HashSet::new();
            for algorithm in collective.algorithms() {
                for name in algorithm.aliases.iter().chain([&algorithm.name]) {
                    assert!(seen.insert(*name), "{}: {name} stands twice", collective.name());
                }
            }
        }
    }

    #[test]
    fn every_schedule_says_whose_it_is() {
        for algorithm in REGISTRY {
            for size in [1, 2, 7] {
                let remote = if algorithm.is_for_two_groups() { size / 2 } else { 0 };
                if algorithm.is_for_two_groups() && remote == 0 {
                    continue;
                }
                for rank in 0..size {
                    let schedule = algorithm.program(&Problem { remote, ..Problem::new(size) }, rank);
                    assert_eq!((schedule.rank, schedule.size), (rank, size), "{}", algorithm.name);
                }
            }
        }
    }
}
