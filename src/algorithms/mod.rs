//! The registry: every algorithm, once. Parameter names, legal values, the verifier's loops and the documentation's
//! table are derived from it.

#![forbid(unsafe_code)]

mod allreduce;
mod alltoall;
mod bcast;
pub mod digits;
mod phases;
mod problem;

pub use allreduce::binary_blocks::delta_expo_max;
pub use problem::{Parameter, Problem, Reason, Requirement, default_radix, legal_radix};

use crate::schedule::Schedule;

/// A collective operation of MPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Collective {
    /// `MPI_Allreduce`
    Allreduce,
    /// `MPI_Alltoall`
    Alltoall,
    /// `MPI_Bcast`
    Bcast,
}

impl Collective {
    /// All collectives, by name.
    pub const ALL: [Collective; 3] = [Collective::Allreduce, Collective::Alltoall, Collective::Bcast];

    /// Lower-case name as in MPI without its prefix.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Allreduce => "allreduce",
            Collective::Alltoall => "alltoall",
            Collective::Bcast => "bcast",
        }
    }

    /// Whether one rank is the root.
    pub fn is_rooted(self) -> bool {
        self == Collective::Bcast
    }

    /// Whether `MPI_IN_PLACE` may stand for the send buffer.
    pub fn has_in_place(self) -> bool {
        self != Collective::Bcast
    }

    /// Whether an operator is applied.
    pub fn reduces(self) -> bool {
        self == Collective::Allreduce
    }

    /// The registered algorithms of this collective, in the order of the registry.
    pub fn algorithms(self) -> impl Iterator<Item = &'static Algorithm> {
        REGISTRY.iter().copied().filter(move |algorithm| algorithm.collective == self)
    }

    /// Looks an algorithm up by its name or one of its aliases.
    pub fn algorithm(self, name: &str) -> Option<&'static Algorithm> {
        self.algorithms().find(|algorithm| algorithm.name == name || algorithm.aliases.contains(&name))
    }

    /// The parameters that at least one algorithm of this collective takes.
    pub fn parameters(self) -> impl Iterator<Item = Parameter> {
        Parameter::ALL.into_iter().filter(move |parameter| {
            self.algorithms().any(|algorithm| algorithm.parameters.contains(parameter))
        })
    }
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
    /// The program of one rank.
    pub schedule: fn(&Problem, usize) -> Schedule,
}

/// Every algorithm.
pub static REGISTRY: &[&Algorithm] = &[
    &allreduce::recursive_doubling::ALGORITHM,
    &allreduce::rabenseifner::ALGORITHM,
    &allreduce::binary_blocks::ALGORITHM,
    &allreduce::ring::ALGORITHM,
    &alltoall::bruck::ALGORITHM,
    &alltoall::bruck_modified::ALGORITHM,
    &alltoall::spread_out::ALGORITHM,
    &alltoall::pairwise::ALGORITHM,
    &bcast::binomial::ALGORITHM,
    &bcast::scatter_recursive_doubling_allgather::ALGORITHM,
    &bcast::scatter_ring_allgather::ALGORITHM,
    &bcast::scatter_ring_allgather_opt::ALGORITHM,
];

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
                for rank in 0..size {
                    let schedule = (algorithm.schedule)(&Problem::new(size), rank);
                    assert_eq!((schedule.rank, schedule.size), (rank, size), "{}", algorithm.name);
                }
            }
        }
    }
}
