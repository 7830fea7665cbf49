//! Every rank sends its block to every rank of the other group, all at once.
//!
//! One round of b messages, where the other group has b ranks. A rank receives the b blocks of the other group, the fewest possible.

use super::alltoall::exchange;

use crate::algorithms::{Algorithm, Body, Collective, Problem, Requirement};
use crate::schedule::{Buffer::Send, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "inter_linear",
    aliases: &[],
    source: "as `linear`, between two groups",
    idea: "Every rank sends its block to every rank of the other group, all at once.",
    avoid_when: "groups are large and blocks small, for then what each message costs counts.",
    parameters: &[],
    requires: &[Requirement::TwoGroups],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |_| Send.block(rank))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_its_block_once_to_each_rank_of_the_other_group() {
        let program = ALGORITHM.program(&Problem::between(3, 5), 1);
        assert_eq!((program.messages_sent(), program.blocks_sent()), (5, 5));
    }
}
