//! Plans of calls of which only the length is known: all blocks are alike, and elements are bytes.

use super::Plan;
use super::binding::{Counts, bind, bind_two_groups};
use crate::algorithms::{Algorithm, Collective, Cut, Problem};
use crate::schedule::Layout;
use std::ops::Range;

impl Plan {
    /// Returns a rank's plan for a vector of `bytes` bytes, or for blocks of `bytes` bytes. In a reduce-scatter between
    /// two groups these are the first group's blocks. No lengths are exchanged beforehand.
    pub fn of_even_call(algorithm: &Algorithm, problem: &Problem, rank: usize, bytes: usize) -> Plan {
        let first = problem.group(rank).start;
        let seen = if first == 0 { problem.known_to(rank, algorithm) } else { problem.exchanged() };
        let schedule = algorithm.schedule(&seen, rank - first).unrolled();
        let (collective, blocks) = (algorithm.contract(), schedule.blocks);
        // Blocks of others may pass through a rank that has no neighbours itself.
        let even = |has: Range<usize>| match has.is_empty() && collective.cut() != Cut::Edges {
            true => Counts::NONE,
            false => Counts::One { count: bytes, bytes: 1 },
        };
        let send = even(collective.send_blocks(&seen, rank - first, blocks));
        let recv = even(collective.recv_blocks(&seen, rank - first, blocks));
        if problem.remote == 0 {
            return Plan::new(&schedule, &bind(collective, rank, blocks, &send, &recv));
        }
        let (send, recv) = match collective {
            Collective::ReduceScatter | Collective::ReduceScatterBlock => {
                parts(problem.local() * bytes, seen.local(), rank - first)
            }
            _ => (send, recv),
        };
        let groups = (seen.local(), seen.remote);
        let binding = bind_two_groups(collective, rank - first, groups, blocks, &send, &recv);
        Plan::new(&schedule, &binding).relabel(first, problem.size)
    }
}

/// Returns the counts of a vector that is cut for the ranks of a group, and those of a rank's part.
fn parts(vector: usize, group: usize, rank: usize) -> (Counts, Counts) {
    let layout = Layout::Balanced { elements: vector, blocks: group };
    let places = |rank: usize| {
        let before = layout.elements(0..rank);
        (before, layout.elements(rank..rank + 1))
    };
    let own = Counts::One { count: places(rank).1, bytes: 1 };
    (Counts::Each { places: (0..group).map(places).collect(), bytes: 1 }, own)
}
