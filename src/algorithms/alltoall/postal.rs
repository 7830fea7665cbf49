//! Alltoall in the postal model: a message arrives when its sender has sent `window` − 1 more messages.
//!
//! Each skip is the sum of the skip before it and the skip `window` places before it. With a window of 1 the
//! skips are 1, 2, 4, 8 and so on; with a window of 2 they are 1, 2, 3, 5, 8 and so on. A distance is a sum of
//! skips at least `window` places apart. So a message has no block of the `window` − 1 messages before it, and
//! need not wait for them. There is one message for each skip below p, and a block moves once for each skip of
//! its distance. With a window of p − 1 every block goes straight to its target. This is fast if each message
//! keeps the network card busy for some time, the gap. A window of 1 + latency / gap occupies the card all the
//! time with the fewest messages.

use super::routes;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "postal",
    aliases: &[],
    source: "the generalized Fibonacci numbers of Bar-Noy and Kipnis 1994 (\"Designing broadcasting algorithms \
            in the postal model for message-passing systems\"), as skips of Bruck et al. 1997",
    idea: "Blocks travel skips of which their distances are sums, chosen so that messages follow each other \
            while the first ones are still under way.",
    avoid_when: "blocks are large, for each of them travels several times.",
    parameters: &[Parameter::Window],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    routes::travel(problem, rank, &skips(problem), problem.window)
}

/// Returns the skips below the number of ranks, shortest first.
pub fn skips(problem: &Problem) -> Vec<usize> {
    let mut skips = Vec::new();
    let mut next = 1;
    while next < problem.size {
        skips.push(next);
        next += skips.len().checked_sub(problem.window).map_or(1, |before| skips[before]);
    }
    skips
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(size: usize, window: usize) -> Problem {
        Problem { window, ..Problem::new(size) }
    }

    #[test]
    fn skips_are_generalized_fibonacci_numbers() {
        assert_eq!(skips(&problem(17, 1)), [1, 2, 4, 8, 16]);
        assert_eq!(skips(&problem(16, 2)), [1, 2, 3, 5, 8, 13]);
        assert_eq!(skips(&problem(16, 3)), [1, 2, 3, 4, 6, 9, 13]);
        assert_eq!(skips(&problem(6, 5)), [1, 2, 3, 4, 5]);
        assert_eq!(skips(&problem(1, 2)), []);
    }

    #[test]
    fn no_message_waits_for_one_that_is_still_on_its_way() {
        for size in 1..120 {
            for window in 1..=size {
                let problem = problem(size, window);
                routes::tests::assert_routes_lead_there(size, &skips(&problem), window);
            }
        }
    }

    #[test]
    fn every_block_goes_straight_to_its_target_within_a_wide_window() {
        let schedule = schedule(&problem(9, 8), 3);
        assert_eq!((schedule.messages_sent(), schedule.blocks_sent()), (8, 8));
    }
}
