//! Which ranks share a node. Open MPI tells a rank only which others are on its own, and the hosts of all where the
//! launcher knows them, which need not be so at every rank. For all to come to the same map they tell each other, once for
//! each communicator that needs it.

use super::arguments::Arguments;
use super::bindings::*;
use super::hash::hash;
use crate::algorithms::Problem;
use crate::engine::Plan;
use crate::engine::call::bind;
use std::collections::HashMap;
use std::ffi::CStr;
use std::sync::Arc;

/// The longest name of a host, its end included.
const LONGEST_NAME: usize = 256;

/// What tells this rank's node from others: a number made of its host's name. Should two have the same one, they pass
/// for one node, which costs time and nothing else.
pub fn identity() -> u64 {
    let mut name = [0; LONGEST_NAME];
    // SAFETY: the shim writes at most so many bytes and ends them with a zero byte.
    let name = unsafe {
        rustcoll_shim_host_name(name.as_mut_ptr(), name.len());
        CStr::from_ptr(name.as_ptr())
    };
    hash(name.to_bytes())
}

/// How all ranks come to know the identities of all: a plan and its arguments. Each has entered its own.
pub fn exchange(identities: &mut [u64], rank: usize) -> (Plan, Arguments) {
    let arguments = Arguments::allgather(identities.as_mut_ptr().cast(), size_of::<u64>());
    let Arguments { collective, ref send, ref recv, .. } = arguments;
    let bruck = collective.algorithm("bruck").expect("it is registered");
    let problem = Problem { in_place: true, radix: 2, ..Problem::new(identities.len()) };
    let schedule = (bruck.schedule)(&problem, rank);
    let binding = bind(collective, rank, schedule.blocks, &send.counts, &recv.counts);
    (Plan::new(&schedule, &binding), arguments)
}

/// The ranks' nodes.
#[derive(Debug, PartialEq, Eq)]
pub struct Nodes {
    /// The number of each rank's node, from 0 in the order of the ranks.
    pub of_ranks: Arc<[u32]>,
    /// How many there are.
    pub number: usize,
    /// The most ranks on one of them.
    pub most_ranks: usize,
}

impl Nodes {
    /// The nodes of ranks by their identities.
    pub fn new(identities: &[u64]) -> Nodes {
        let mut numbers = HashMap::new();
        let mut ranks: Vec<usize> = Vec::new();
        let number = |identity: &u64| {
            let number = *numbers.entry(*identity).or_insert_with(|| {
                ranks.push(0);
                ranks.len() - 1
            });
            ranks[number] += 1;
            number as u32
        };
        let of_ranks = identities.iter().map(number).collect();
        Nodes { of_ranks, number: ranks.len(), most_ranks: ranks.into_iter().max().unwrap_or(0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_numbered_as_they_appear() {
        let expected = Nodes { of_ranks: [0, 1, 0, 2, 1, 1].into(), number: 3, most_ranks: 3 };
        assert_eq!(Nodes::new(&[70, 7, 70, 0, 7, 7]), expected);
    }
}
