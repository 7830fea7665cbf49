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
mod lengths;
mod listed;
mod mock_ups;
mod neighbor;
mod nodes;
mod problem;
mod reduce;
mod reduce_scatter;
mod reproducible;
mod scan;
mod scatter;
mod stencil;
pub mod stencil_search;

pub use allreduce::binary_blocks::delta_expo_max;
pub use allreduce::recursive_doubling::ALGORITHM as RECURSIVE_DOUBLING_ALLREDUCE;
pub use calls::{Act, Area, AreaBlocks, Calls, InnerCall, Parts};
pub use collective::{Collective, Cut};
pub use graph::{Dimension, Edge, Graph, Neighbours};
pub use listed::{Listed, Root};
pub use nodes::{Nodes, Place};
pub use problem::{Parameter, Problem, Reason, Requirement, default_radix, legal_radix};
pub use stencil::Stencil;

use crate::schedule::Schedule;
use std::sync::OnceLock;

/// How algorithms arrange ranks, for code that explains the algorithms.
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
    /// The collectives that it performs, all with the same schedules and the same [contract](Algorithm::contract).
    pub collectives: &'static [Collective],
    /// Its name in rustcoll.
    pub name: &'static str,
    /// Its names in MPICH and Open MPI.
    pub aliases: &'static [&'static str],
    /// The paper or code base in which it was first described.
    pub source: &'static str,
    /// What it does, in one sentence or two.
    pub idea: &'static str,
    /// When other algorithms are faster, as a clause: `blocks are small.` Empty for mock-ups, which show a guideline.
    pub avoid_when: &'static str,
    /// The parameters that shape its schedule.
    pub parameters: &'static [Parameter],
    /// What a call must satisfy.
    pub requires: &'static [Requirement],
    pub body: Body,
}

/// How the ranks perform an algorithm.
#[derive(Clone, Copy, Debug)]
pub enum Body {
    /// By messages. The function returns one rank's schedule. If there are two groups, the rank numbers its own group
    /// first; see [`Algorithm::program`].
    Messages(fn(&Problem, usize) -> Schedule),
    /// By messages, with programs that were read from a file.
    Listed(&'static Listed),
    /// By calls of other collectives of the communicator.
    Calls(Calls),
}

/// Every compiled-in algorithm that has schedules.
pub static REGISTRY: &[&Algorithm] = &[
    &allgather::linear::ALGORITHM,
    &allgather::recursive_doubling::ALGORITHM,
    &allgather::recursive_doubling_far::ALGORITHM,
    &allgather::bine::ALGORITHM,
    &allgather::bruck::ALGORITHM,
    &allgather::ring::ALGORITHM,
    &allgather::neighbor_exchange::ALGORITHM,
    &allgather::circulant::ALGORITHM,
    &allgather::sparbit::ALGORITHM,
    &allgather::pat::ALGORITHM,
    &allgather::gather_bcast::ALGORITHM,
    &allgather::node_aware::ALGORITHM,
    &allgather::shared::ALGORITHM,
    &allgather::shared_leaders::ALGORITHM,
    &allgather::shared_multi_leaders::ALGORITHM,
    &allgather::single_copy::ALGORITHM,
    &allreduce::recursive_doubling::ALGORITHM,
    &allreduce::rabenseifner::ALGORITHM,
    &allreduce::rabenseifner_far::ALGORITHM,
    &allreduce::bine::ALGORITHM,
    &allreduce::bine_halves::ALGORITHM,
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
    &allreduce::shared_multi_leaders_multiplying::ALGORITHM,
    &alltoall::bruck::ALGORITHM,
    &alltoall::bruck_modified::ALGORITHM,
    &alltoall::spread_out::ALGORITHM,
    &alltoall::linear_window::ALGORITHM,
    &alltoall::pairwise::ALGORITHM,
    &alltoall::circulant::ALGORITHM,
    &alltoall::postal::ALGORITHM,
    &alltoall::node_aware::ALGORITHM,
    &alltoall::node_aware::ALLTOALLV,
    &alltoall::shared::ALGORITHM,
    &alltoall::shared::ALLTOALLV,
    &alltoall::shared_multi_leaders::ALGORITHM,
    &alltoall::single_copy::ALGORITHM,
    &alltoall::single_copy::ALLTOALLV,
    &alltoall::bruck_two_phase::ALGORITHM,
    &alltoall::bruck_padded::ALGORITHM,
    &barrier::dissemination::ALGORITHM,
    &barrier::recursive_doubling::ALGORITHM,
    &barrier::tree::ALGORITHM,
    &barrier::ring::ALGORITHM,
    &barrier::shared::ALGORITHM,
    &barrier::shared_leaders::ALGORITHM,
    &bcast::linear::ALGORITHM,
    &bcast::binomial::ALGORITHM,
    &bcast::bine::ALGORITHM,
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
    &bcast::single_copy::ALGORITHM,
    &scan::linear::EXSCAN,
    &scan::recursive_doubling::EXSCAN,
    &scan::chain::EXSCAN,
    &scan::doubly_pipelined_tree::EXSCAN,
    &scan::shared::EXSCAN,
    &scan::shared_leaders::EXSCAN,
    &gather::linear::ALGORITHM,
    &gather::binomial::GATHER,
    &gather::bine::ALGORITHM,
    &gather::shared::ALGORITHM,
    &gather::shared::GATHERV,
    &gather::single_copy::ALGORITHM,
    &gather::single_copy::GATHERV,
    &gather::binomial::GATHERV,
    &neighbor::linear::ALLGATHER,
    &neighbor::linear::ALLTOALL,
    &neighbor::combining::ALLGATHER,
    &neighbor::combining::ALLTOALL,
    &neighbor::node_aware::ALLGATHER,
    &neighbor::node_aware::ALLTOALL,
    &neighbor::shared::ALLGATHER,
    &neighbor::shared::ALLTOALL,
    &neighbor::single_copy::ALLGATHER,
    &neighbor::single_copy::ALLTOALL,
    &reduce::linear::ALGORITHM,
    &reduce::binomial::ALGORITHM,
    &reduce::binomial_in_order::ALGORITHM,
    &reduce::bine::ALGORITHM,
    &reduce::knomial::ALGORITHM,
    &reduce::chain::ALGORITHM,
    &reduce::binary_in_order::ALGORITHM,
    &reduce::rabenseifner::ALGORITHM,
    &reduce::bine_halves::ALGORITHM,
    &reduce::circulant_pipelined::ALGORITHM,
    &reduce::node_aware_knomial::ALGORITHM,
    &reduce::node_aware_chain::ALGORITHM,
    &reduce::shared_slices::ALGORITHM,
    &reduce::single_copy::ALGORITHM,
    &reduce::shared_leaders::ALGORITHM,
    &reduce::shared_leaders_pipelined::ALGORITHM,
    &reduce::shared_multi_leaders::ALGORITHM,
    &reduce::shared_multi_leaders_pipelined::ALGORITHM,
    &reduce_scatter::recursive_halving::ALGORITHM,
    &reduce_scatter::recursive_doubling::ALGORITHM,
    &reduce_scatter::pairwise::ALGORITHM,
    &reduce_scatter::ring::ALGORITHM,
    &reduce_scatter::butterfly::ALGORITHM,
    &reduce_scatter::bine::ALGORITHM,
    &reduce_scatter::circulant::ALGORITHM,
    &reduce_scatter::pat::REDUCE_SCATTER,
    &reduce_scatter::pat::REDUCE_SCATTER_BLOCK,
    &reduce_scatter::non_overlapping::ALGORITHM,
    &reduce_scatter::node_aware::ALGORITHM,
    &reduce_scatter::shared::ALGORITHM,
    &reduce_scatter::shared_leaders::ALGORITHM,
    &reduce_scatter::shared_multi_leaders::ALGORITHM,
    &scan::linear::SCAN,
    &scan::recursive_doubling::SCAN,
    &scan::chain::SCAN,
    &scan::doubly_pipelined_tree::SCAN,
    &scan::shared::SCAN,
    &scan::shared_leaders::SCAN,
    &scatter::linear::ALGORITHM,
    &scatter::binomial::SCATTER,
    &scatter::bine::ALGORITHM,
    &scatter::shared::ALGORITHM,
    &scatter::shared::SCATTERV,
    &scatter::single_copy::ALGORITHM,
    &scatter::single_copy::SCATTERV,
    &scatter::binomial::SCATTERV,
    &inter::allgather_linear::ALGORITHM,
    &inter::allgather::ALGORITHM,
    &inter::allgatherv::ALGORITHM,
    &inter::allreduce_linear::ALGORITHM,
    &inter::allreduce::ALGORITHM,
    &inter::alltoall::ALGORITHM,
    &inter::barrier_linear::ALGORITHM,
    &inter::barrier::ALGORITHM,
    &inter::bcast_linear::ALGORITHM,
    &inter::bcast::ALGORITHM,
    &inter::gather_linear::ALGORITHM,
    &inter::gather::ALGORITHM,
    &inter::reduce_linear::ALGORITHM,
    &inter::reduce::ALGORITHM,
    &inter::reduce_scatter_linear::ALGORITHM,
    &inter::reduce_scatter::ALGORITHM,
    &inter::scatter_linear::ALGORITHM,
    &inter::scatter::ALGORITHM,
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

/// The algorithms that were read from files. All have schedules.
static LOADED: OnceLock<Vec<&'static Algorithm>> = OnceLock::new();

/// Registers algorithms that were read from files.
///
/// # Panics
/// If it is called a second time in a process.
pub fn register(loaded: Vec<&'static Algorithm>) {
    assert!(LOADED.set(loaded).is_ok(), "algorithms of files are registered once");
}

/// Returns all algorithms that are compiled in.
pub fn compiled() -> impl Iterator<Item = &'static Algorithm> {
    REGISTRY.iter().chain(MOCK_UPS).copied()
}

/// Returns all algorithms that have schedules.
pub fn scheduled() -> impl Iterator<Item = &'static Algorithm> {
    REGISTRY.iter().chain(LOADED.get().into_iter().flatten()).copied()
}

/// Returns all algorithms, those from files last.
pub fn registered() -> impl Iterator<Item = &'static Algorithm> {
    compiled().chain(LOADED.get().into_iter().flatten().copied())
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
    fn every_algorithm_is_described() {
        for algorithm in registered() {
            let Algorithm { idea, avoid_when, source, .. } = algorithm;
            let title = algorithm.title();
            assert!(!source.is_empty(), "{title}");
            assert!(idea.ends_with('.') && idea.matches(". ").count() <= 2, "{title}: {idea}");
            let is_clause = avoid_when.starts_with(char::is_lowercase) && avoid_when.ends_with('.');
            assert!(
                if algorithm.is_mock_up() { avoid_when.is_empty() } else { is_clause },
                "{title}: {avoid_when}"
            );
        }
    }

    #[test]
    fn no_name_reads_like_that_of_another_algorithm() {
        let words = |name: &str| -> Vec<String> {
            let mut words: Vec<String> = name.split('_').map(String::from).collect();
            words.sort();
            words
        };
        for collective in Collective::ALL {
            let mut seen: Vec<(Vec<String>, &str)> = Vec::new();
            for algorithm in collective.algorithms() {
                for name in algorithm.aliases.iter().chain([&algorithm.name]).map(|name| words(name)) {
                    let other = seen.iter().find(|(known, owner)| *known == name && *owner != algorithm.name);
                    assert!(other.is_none(), "{} {}: {name:?}", collective.name(), algorithm.name);
                    seen.push((name, algorithm.name));
                }
            }
        }
    }

    #[test]
    fn a_title_names_every_collective() {
        assert_eq!(alltoall::pairwise::ALGORITHM.title(), "alltoall, alltoallv and alltoallw pairwise");
        assert_eq!(allgather::ring::ALGORITHM.title(), "allgather and allgatherv ring");
        assert_eq!(RECURSIVE_DOUBLING_ALLREDUCE.title(), "allreduce recursive_doubling");
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
                    let graph = match algorithm.takes_stencil() {
                        true => Graph::grid(&[Dimension { length: size, periodic: true }]),
                        false => Graph::default(),
                    };
                    let schedule = algorithm.program(&Problem { remote, graph, ..Problem::new(size) }, rank);
                    assert_eq!((schedule.rank, schedule.size), (rank, size), "{}", algorithm.name);
                }
            }
        }
    }
}
