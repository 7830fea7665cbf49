//! Spread-out for MPI_Alltoall and its variants with a bound on the messages in flight.
//!
//! p − 1 messages of one block. At most `window` sends and `window` receives are in flight. A rank posts the next pair
//! when the oldest pair is complete.

use super::{copy_own_block, with_input};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall, Collective::Alltoallv, Collective::Alltoallw],
    name: "linear_window",
    aliases: &["linear_sync"],
    source: "MPICH (throttled \"scattered\" alltoall); Open MPI (\"linear with sync\")",
    idea: "Every rank sends each other one its block directly, but only so many messages are under way at a \
            time.",
    avoid_when: "the network bears all messages at once, or blocks are small.",
    parameters: &[Parameter::Window],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, window, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    program.repeat_within(window, 1..size, |program, distance| {
        let (target, source) = ((rank + distance) % size, (rank + size - distance) % size);
        program.receive(source, Recv.block(source));
        program.send(target, Send.block(target));
    });
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn no_more_than_the_window_is_under_way() {
        for (size, window) in [(10, 1), (10, 3), (10, 9), (10, 32), (1, 1)] {
            let schedule = schedule(&Problem { window, ..Problem::new(size) }, size / 2).unrolled();
            let (mut under_way, mut most) = (0, 0);
            for step in &schedule.steps {
                match step {
                    Step::Wait { posts } => under_way -= posts.len(),
                    Step::Send { .. } | Step::Receive { .. } => under_way += 1,
                    _ => {}
                }
                most = most.max(under_way);
            }
            assert_eq!(most, 2 * window.min(size - 1));
        }
    }
}
