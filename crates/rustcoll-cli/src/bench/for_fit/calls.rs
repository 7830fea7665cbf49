//! The calls that a fit needs, and their placements. Each list of calls says which parameters it determines.

use crate::bench::placement::Placement;
use rustcoll::algorithms::{Collective, Parameter};
use rustcoll::atlas::Candidate;
use rustcoll::selection::Parameters;
use std::collections::{BTreeMap, BTreeSet};

/// Calls of one algorithm.
#[derive(Clone, Copy, Debug)]
pub struct Calls {
    pub collective: Collective,
    pub algorithm: &'static str,
    pub radix: Option<usize>,
    /// Numbers of bytes, by the collective's measure.
    pub bytes: &'static [usize],
}

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// Two ranks. A broadcast is one message: latency, overhead, and the bandwidth by the length of messages. An
/// allreduce also reduces a vector: one that fits into a cache, and one that does not.
const PAIR: &[Calls] = &[
    calls(Collective::Bcast, "binomial", &[8, KIB, 16 * KIB, 256 * KIB, 4 * MIB]),
    calls(Collective::Allreduce, "recursive_doubling", &[64 * KIB, 4 * MIB]),
];

/// Some of the ranks: these calls determine what changes with the number of nodes, and of ranks on a node.
const PART: &[Calls] = &[
    calls(Collective::Allreduce, "recursive_doubling", &[8]),
    calls(Collective::Allreduce, "ring", &[MIB]),
    calls(Collective::Allgather, "ring", &[16 * KIB]),
    calls(Collective::Alltoall, "spread_out", &[64]),
];

/// One full node, over shared memory. In the broadcast a flag is raised and seen, and each rank reads the vector. In the
/// allgather a rank sees the flags of all others. In the allreduce flags go up a tree.
const NODE: &[Calls] = &[
    calls(Collective::Bcast, "shared", &[8, 16 * KIB, MIB]),
    calls(Collective::Allgather, "shared", &[8, 16 * KIB]),
    Calls { radix: Some(2), ..calls(Collective::Allreduce, "shared_leaders", &[8]) },
];

/// All ranks. Rings keep all ports busy: bandwidth, also that of a node. In `spread_out` each rank has many
/// requests: gap. Bruck's algorithm copies. In a linear gather all messages go to one port.
const ALL: &[Calls] = &[
    calls(Collective::Allreduce, "recursive_doubling", &[8, MIB]),
    calls(Collective::Allreduce, "ring", &[64 * KIB, MIB]),
    calls(Collective::Allgather, "ring", &[KIB, 16 * KIB]),
    calls(Collective::Alltoall, "spread_out", &[64, KIB]),
    Calls { radix: Some(2), ..calls(Collective::Alltoall, "bruck", &[64, KIB]) },
    calls(Collective::Gather, "linear", &[64, 16 * KIB]),
    calls(Collective::Reduce, "binomial", &[4 * MIB]),
];

const fn calls(collective: Collective, algorithm: &'static str, bytes: &'static [usize]) -> Calls {
    Calls { collective, algorithm, radix: None, bytes }
}

impl Calls {
    /// Returns the algorithm with its radix.
    pub fn candidate(&self) -> Candidate {
        let algorithm = self.collective.algorithm(self.algorithm).expect("it is registered");
        let mut parameters = Parameters::default();
        parameters.set(Parameter::Radix, self.radix);
        Candidate { collective: self.collective, algorithm, parameters }
    }
}

/// What a job is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Pair,
    Part,
    Node,
    All,
}

impl Role {
    fn calls(self) -> &'static [Calls] {
        match self {
            Role::Pair => PAIR,
            Role::Part => PART,
            Role::Node => NODE,
            Role::All => ALL,
        }
    }
}

/// Returns the jobs of a fit and their calls, those with fewer ranks first. Placements are two ranks on one
/// host and on two, one rank on each host, one host, half of the hosts, and all ranks.
pub fn jobs(all: Placement) -> BTreeMap<Placement, Vec<Calls>> {
    let Placement { ranks, ranks_per_host } = all;
    let hosts = all.hosts();
    let on =
        |hosts: usize, ranks_per_host: usize| Placement { ranks: hosts * ranks_per_host, ranks_per_host };
    let half = if hosts > 1 { on(hosts / 2, ranks_per_host) } else { on(1, ranks / 2) };
    let possible = [
        (Role::Pair, on(1, 2)),
        (Role::Pair, on(2, 1)),
        (Role::Part, on(hosts, 1)),
        (Role::Part, on(1, ranks_per_host)),
        (Role::Node, on(1, ranks_per_host)),
        (Role::Part, half),
        (Role::All, all),
    ];
    let mut jobs: BTreeMap<Placement, BTreeSet<Role>> = BTreeMap::new();
    for (role, placement) in possible {
        let is_there = placement.ranks_per_host <= ranks_per_host && placement.hosts() <= hosts;
        let is_all = placement == all && role == Role::Part;
        if placement.ranks >= 2 && is_there && !is_all {
            jobs.entry(placement).or_default().insert(role);
        }
    }
    let with_calls = |(placement, roles): (Placement, BTreeSet<Role>)| {
        (placement, roles.into_iter().flat_map(Role::calls).copied().collect())
    };
    jobs.into_iter().map(with_calls).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Placements on one host and several, full and with one rank, even and odd numbers, up to thousands of ranks.
    fn placements() -> impl Iterator<Item = Placement> {
        let hosts = [1, 2, 3, 4, 5, 8, 13, 64];
        let of_hosts = |hosts: usize| {
            [1, 2, 3, 4, 5, 8, 13, 42, 64]
                .map(|ranks_per_host| Placement { ranks: hosts * ranks_per_host, ranks_per_host })
        };
        hosts.into_iter().flat_map(of_hosts).filter(|placement| placement.ranks >= 2)
    }

    fn cells(calls: &[Calls]) -> Vec<(Collective, &'static str, usize)> {
        let of_calls = |Calls { collective, algorithm, bytes, .. }: &Calls| {
            let (collective, algorithm) = (*collective, *algorithm);
            bytes.iter().map(move |&bytes| (collective, algorithm, bytes)).collect::<Vec<_>>()
        };
        calls.iter().flat_map(of_calls).collect()
    }

    #[test]
    fn a_fit_has_20_to_45_cells_each_of_them_once() {
        for all in placements() {
            let mut sum = 0;
            for calls in jobs(all).values() {
                let cells = cells(calls);
                let distinct: BTreeSet<String> = cells.iter().map(|cell| format!("{cell:?}")).collect();
                assert_eq!(cells.len(), distinct.len(), "{all:?}: {cells:?}");
                sum += cells.len();
            }
            assert!((20..=45).contains(&sum), "{all:?}: {sum}");
        }
    }

    #[test]
    fn every_algorithm_runs_where_it_is_measured() {
        for (placement, calls) in placements().flat_map(jobs) {
            assert!(placement.ranks >= 2 && placement.ranks.is_multiple_of(placement.ranks_per_host));
            for calls in calls {
                let served = calls.candidate().algorithm.serves(placement.ranks, 0, true);
                assert_eq!(served, Ok(()), "{calls:?} on {placement:?}");
                assert!(!calls.candidate().algorithm.is_mock_up());
            }
        }
    }

    #[test]
    fn jobs_are_pairs_one_rank_a_host_one_host_half_and_all() {
        let placements = |ranks, ranks_per_host| {
            let jobs = jobs(Placement { ranks, ranks_per_host });
            jobs.into_keys().map(|one| (one.ranks, one.ranks_per_host)).collect::<Vec<_>>()
        };
        assert_eq!(placements(64, 8), [(2, 1), (2, 2), (8, 1), (8, 8), (32, 8), (64, 8)]);
        assert_eq!(placements(8, 8), [(2, 2), (4, 4), (8, 8)]);
        assert_eq!(placements(8, 1), [(2, 1), (4, 1), (8, 1)]);
        assert_eq!(placements(4, 2), [(2, 1), (2, 2), (4, 2)]);
        assert_eq!(placements(2, 2), [(2, 2)]);
    }
}
