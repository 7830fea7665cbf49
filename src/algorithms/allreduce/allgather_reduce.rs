//! Allgather and local reduction for MPI_Allreduce: every rank gets the vectors of all ranks and reduces them itself.
//!
//! Any p: ceil(log_k p) rounds of up to k − 1 messages, (p − 1)n bytes sent and reduced. With k = p all vectors travel at
//! once, in one round.
//! All ranks combine the vectors from the lowest rank's to the highest's, so they agree bit for bit and the order of
//! operands is kept.

use super::{alone, contribution};
use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::building_blocks::circulant::allgather;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "allgather_reduce",
    aliases: &[],
    source: "folklore; the allgather is that of `circulant`",
    idea: "Every rank gets the vectors of all others and combines them itself.",
    avoid_when: "vectors are not short, for each of them travels to every rank.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    if size == 1 {
        return alone(problem);
    }
    let mut before = Builder::new(rank, size, 1);
    before.copy(contribution(problem).block(0), Scratch.block(0));
    // Scratch block d holds the vector of the rank at distance d, so the vectors of a message are adjacent.
    let gather = allgather(size, radix).map_runs(|run| run.in_buffer(Scratch)).relabel(rank);
    let gather = Schedule { blocks: 1, ..gather };
    let mut after = Builder::new(rank, size, 1);
    let vector = |of: usize| Scratch.block((of + size - rank) % size);
    for right in 1..size - 1 {
        after.reduce(vector(right - 1), vector(right), vector(right));
    }
    after.reduce(vector(size - 2), vector(size - 1), Recv.block(0));
    before.build().then(gather).then(after.build()).overlapped(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn with_the_largest_radix_all_vectors_travel_at_once() {
        let program = schedule(&Problem { radix: 7, ..Problem::new(7) }, 3);
        let first_wait = program.steps.iter().position(|step| matches!(step, Step::Wait { .. }));
        let posted = program.steps[..first_wait.unwrap()].iter();
        assert_eq!(posted.filter(|step| matches!(step, Step::Send { .. })).count(), 6);
    }

    #[test]
    fn messages_at_any_size() {
        for (size, radix, messages) in [(13, 4, 6), (13, 13, 12), (16, 4, 6), (7, 2, 3), (2, 2, 1)] {
            let program = schedule(&Problem { radix, ..Problem::new(size) }, 1);
            assert_eq!((program.messages_sent(), program.blocks_sent()), (messages, size - 1));
        }
    }
}
