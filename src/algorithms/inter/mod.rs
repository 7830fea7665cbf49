//! Inter-communicators: two groups, each of which gives its data to the other.
//!
//! A rank numbers its own group first: ranks `0..local` are its own group, ranks from `local` on the other.
//! Rank 0 leads the own group, rank `local` the other.

pub mod allgather;
pub mod allgather_linear;
pub mod allgatherv;
pub mod allreduce;
pub mod allreduce_linear;
pub mod alltoall;
pub mod barrier;
pub mod barrier_linear;
pub mod bcast;
pub mod bcast_linear;
pub mod gather;
pub mod gather_linear;
pub mod reduce;
pub mod reduce_linear;
pub mod reduce_scatter;
pub mod reduce_scatter_linear;
pub mod scatter;
pub mod scatter_linear;

use super::building_blocks::AHEAD;
use super::building_blocks::binomial_tree::{children, nearest_first, parent};
use super::building_blocks::receive_in_scratch::{free_vector, receive_in_scratch};
use super::building_blocks::tree_broadcast::tree_broadcast;
use super::building_blocks::tree_reduce::tree_reduce;
use super::{Algorithm, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};
use std::collections::VecDeque;

/// Whether the root is in the rank's own group. If so, the rank takes part only if it is the root.
fn has_root(problem: &Problem) -> bool {
    problem.root < problem.local()
}

/// Turns a program of the own group into one of both groups, over `blocks` blocks.
fn among_own(program: Schedule, problem: &Problem, blocks: usize) -> Schedule {
    Schedule { blocks, ..program.embed(problem.size, |rank| rank) }
}

/// Broadcasts to the own group along the binomial tree. The leader first receives from the rank `source`, if any.
fn broadcast_from(source: Option<usize>, problem: &Problem, rank: usize) -> Schedule {
    let program =
        tree_broadcast(rank, problem.size, 1, parent(rank).or(source), children(rank, problem.local()));
    among_own(program, problem, 1)
}

/// Reduces the own group's vectors to its leader along the binomial tree, in the order of ranks. Also returns
/// the run in which a leader finds the result.
fn reduce_to_leader(problem: &Problem, rank: usize) -> (Schedule, Run) {
    let local = problem.local();
    if local == 1 {
        return (Schedule::idle(rank, problem.size, 1), Send.block(0));
    }
    // The child with the smallest subtree is the next rank.
    let program = tree_reduce(rank, problem.size, 1, Send, parent(rank), nearest_first(rank, local));
    let result = Scratch.block(free_vector(&program));
    (receive_in_scratch(program), result)
}

/// Receives the vectors of the other group, and combines them in the order of ranks in the receive buffer. The first
/// arrives there. Of the others [`AHEAD`] are received at a time, each in scratch memory of its own.
fn combine_others(program: &mut Builder, problem: &Problem) {
    let place = |number: usize| match number {
        0 => Recv.block(0),
        _ => Scratch.block((number - 1) % AHEAD),
    };
    let receive = |program: &mut Builder, number| program.receive(problem.local() + number, place(number));
    let mut arriving: VecDeque<_> =
        (0..problem.remote.min(AHEAD + 1)).map(|number| receive(program, number)).collect();
    for number in 0..problem.remote {
        program.wait(arriving.pop_front().flatten());
        if number > 0 {
            program.reduce(Recv.block(0), place(number), Recv.block(0));
            let next = Some(number + AHEAD).filter(|&next| next < problem.remote);
            arriving.extend(next.map(|next| receive(program, next)));
        }
    }
}

/// A leader sends its vector to the other leader, and combines the vectors of the other group.
fn combine_at_leader(problem: &Problem, rank: usize) -> Schedule {
    let mut program = Builder::new(rank, problem.size, 1);
    program.send(problem.local(), Send.block(0));
    combine_others(&mut program, problem);
    program.build()
}

/// Gathers the blocks of the own group at its leader along the binomial tree. Also returns the run in which a
/// leader finds the blocks.
fn gather_to_leader(problem: &Problem, rank: usize) -> (Schedule, Run) {
    let (local, size) = (problem.local(), problem.size);
    if local == 1 {
        return (Schedule::idle(rank, size, size), Send.block(0));
    }
    let program = super::gather::binomial::GATHER.schedule(&Problem::new(local), rank);
    let program = program.map_runs(|run| if run.buffer == Recv { run.in_buffer(Scratch) } else { run });
    (among_own(program, problem, size), Scratch.blocks(0..local))
}

/// Returns where a leader receives the blocks of its own group before it scatters them.
fn blocks_of_own(problem: &Problem) -> Run {
    match problem.local() {
        1 => Recv.block(0),
        local => Scratch.blocks(0..local),
    }
}

/// Scatters the blocks in [`blocks_of_own`] from the leader by an algorithm for one group.
fn scatter_from_leader(problem: &Problem, rank: usize, scatter: &Algorithm) -> Schedule {
    let (local, size) = (problem.local(), problem.size);
    if local == 1 {
        return Schedule::idle(rank, size, size);
    }
    let program = scatter.schedule(&Problem::new(local), rank);
    let program = program.map_runs(|run| if run.buffer == Send { run.in_buffer(Scratch) } else { run });
    among_own(program, problem, size)
}
