//! Tree barrier: tokens are gathered along the binomial tree of rank 0, and come back along it.
//!
//! 2 ceil(log2 p) rounds, 2(p − 1) messages, the fewest possible.

use super::{place, token};
use crate::algorithms::building_blocks::binomial_tree::{children, parent};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "tree",
    aliases: &[],
    source: "Yew, Tzeng, Lawrie 1987 (combining tree)",
    idea: "Tokens come up a binomial tree to rank 0, which so knows that all have come, and go down it again.",
    avoid_when: "messages are cheap, for dissemination needs half as many rounds.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    collect_and_release(rank, size, parent(rank), children(rank, size))
}

/// Returns a rank's program: it awaits its children's tokens, exchanges tokens with its parent, releases the children.
pub fn collect_and_release(
    rank: usize,
    size: usize,
    parent: Option<usize>,
    children: impl Iterator<Item = usize> + Clone,
) -> Schedule {
    let mut program = Builder::new(rank, size, 1);
    for (number, child) in children.clone().enumerate() {
        program.receive(child, place(number));
    }
    program.end_round();
    if let Some(parent) = parent {
        program.exchange((parent, token()), (parent, place(0)));
    }
    for child in children {
        program.send(child, token());
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_edge_carries_a_token_each_way() {
        for size in 1..40 {
            let sent: usize = (0..size).map(|rank| schedule(&Problem::new(size), rank).messages_sent()).sum();
            assert_eq!(sent, 2 * (size - 1));
        }
    }
}
