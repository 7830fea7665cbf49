//! Linear gather: every rank sends its block to the root.
//!
//! One round of p − 1 messages, all to the root; p − 1 blocks in all, the fewest possible. Of many
//! messages only some are under way at a time, because the root keeps a request for each of these.

use crate::algorithms::building_blocks::ROOT_WINDOW;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Gather, Collective::Gatherv],
    name: "linear",
    aliases: &["basic_linear"],
    source: "the definition of MPI_Gather",
    idea: "Every rank sends its block straight to the root.",
    avoid_when: "blocks are small and each message costs the root.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, in_place, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    if rank != root {
        program.send(root, Send.block(rank));
        return program.build();
    }
    // From the rank after the root on, all ranks form one loop.
    program.repeat_within(ROOT_WINDOW, 1..size, |program, distance| {
        let source = (root + distance) % size;
        program.receive(source, Recv.block(source));
    });
    if !in_place {
        program.copy(Send.block(root), Recv.block(root));
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{inter, scatter};

    #[test]
    fn no_more_ranks_make_the_program_of_a_root_longer() {
        let in_one_group: fn(usize) -> Problem = |size| Problem { root: size / 2, ..Problem::new(size) };
        let between_two: fn(usize) -> Problem = |size| Problem::between(1, size);
        for (algorithm, problem) in [
            (ALGORITHM, in_one_group),
            (scatter::linear::ALGORITHM, in_one_group),
            (inter::gather_linear::ALGORITHM, between_two),
            (inter::scatter_linear::ALGORITHM, between_two),
        ] {
            let steps = |size| {
                let problem = problem(size);
                algorithm.schedule(&problem, problem.root).steps.len()
            };
            assert_eq!(steps(2000), steps(4000), "{}", algorithm.title());
        }
    }
}
