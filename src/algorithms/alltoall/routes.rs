//! Alltoall in which blocks travel in several hops, one skip each. Blocks that take the same skip share a message.

use super::{copy_own_block, place_on_the_way, with_input};
use crate::algorithms::Problem;
use crate::schedule::{Builder, Message, Run, Schedule};

/// Returns a program with one message for each skip, in this order. A block takes skips that add up to its distance,
/// and arrives at its final place. Before a message is posted, the message `window` places earlier is complete. So the
/// skips of a block must be at least `window` places apart.
pub(super) fn travel(problem: &Problem, rank: usize, skips: &[usize], window: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    copy_own_block(problem, &mut program, rank);
    let mut pairs = Vec::with_capacity(skips.len());
    for (&skip, [sent, received]) in skips.iter().zip(messages(rank, size, skips)) {
        if pairs.len() >= window {
            let oldest: [_; 2] = pairs[pairs.len() - window];
            program.wait(oldest.into_iter().flatten());
        }
        let receive = program.receive((rank + skip) % size, received);
        pairs.push([receive, program.send((rank + size - skip) % size, sent)]);
    }
    with_input(problem, program.build())
}

/// Returns for each skip where the blocks of its message are sent from and where they are received.
fn messages(rank: usize, size: usize, skips: &[usize]) -> Vec<[Message; 2]> {
    let mut messages = vec![[Vec::new(), Vec::new()]; skips.len()];
    for distance in 1..size {
        let route = route(distance, skips);
        for (hops_done, &message) in route.iter().enumerate() {
            let place = |hops| place_on_the_way((rank, size), distance, route.len(), hops);
            messages[message][0].push(place(hops_done));
            messages[message][1].push(place(hops_done + 1));
        }
    }
    let message = |runs: Vec<Run>| runs.into_iter().collect();
    messages.into_iter().map(|ends| ends.map(message)).collect()
}

/// Returns the ascending numbers of skips that add up to a distance, always choosing the longest that fits.
fn route(distance: usize, skips: &[usize]) -> Vec<usize> {
    let ascends = skips.first() < skips.last();
    let mut remaining = distance;
    let takes = |&message: &usize| {
        let takes = skips[message] <= remaining;
        remaining -= if takes { skips[message] } else { 0 };
        takes
    };
    match ascends {
        true => {
            let mut route: Vec<usize> = (0..skips.len()).rev().filter(takes).collect();
            route.reverse();
            route
        }
        false => (0..skips.len()).filter(takes).collect(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Asserts that each distance is the sum of its skips, and that these are at least `window` places apart.
    pub fn assert_routes_lead_there(size: usize, skips: &[usize], window: usize) {
        for distance in 0..size {
            let route = route(distance, skips);
            assert_eq!(route.iter().map(|&message| skips[message]).sum::<usize>(), distance, "p = {size}");
            assert!(route.windows(2).all(|hops| hops[0] + window <= hops[1]), "p = {size}, {route:?}");
        }
    }
}
