//! Parallel aggregated trees (PAT) for MPI_Reduce_scatter: partial sums go up binomial trees, their longest hop last. A
//! message has at most w of them; w is the window. It is the allgather `pat` backwards.
//!
//! With the least power of two d ≥ 2 for which ceil(p / d) ≤ w: ceil(log2(p / d)) + min(d, p) − 1 rounds, p − 1 blocks
//! sent and reduced. If all blocks are equally long, scratch holds (log2(d) + 2) ceil(p / d) of them. With a window of
//! 1 this number grows with the logarithm of p. If blocks differ in length, scratch has two places for each block.
//! Messages in flight are packed, in memory of up to about 18 w blocks. Combines contributions out of order, so the
//! operator must commute.

use super::alone;
use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::building_blocks::far_to_near::{Round, rounds, stride};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Message, Run, Schedule};

pub const REDUCE_SCATTER: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter],
    name: "pat",
    aliases: &[],
    source: "Jeaugey 2025 (arXiv 2506.20252), NCCL 2.23",
    idea: "Partial sums go up trees with a root at every rank, over long distances last. A message has at most `window` \
            blocks, so that longer ones need no more memory.",
    avoid_when: "blocks are so long that a ring, which sends to near ranks alone, is as fast.",
    parameters: &[Parameter::Window],
    requires: &[Requirement::Commutative],
    body: Body::Messages(of_any_lengths),
};

pub const REDUCE_SCATTER_BLOCK: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatterBlock],
    body: Body::Messages(of_equal_lengths),
    ..REDUCE_SCATTER
};

/// Number of places in scratch, used in turn, in which a partial sum arrives if its own place is taken.
const LANDINGS: usize = 2;

/// For blocks of any lengths: each block has a place in scratch, and a second one in which it arrives.
fn of_any_lengths(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let place = |vector: usize, offset| Scratch.block(vector * size + block(size, rank, offset));
    schedule(problem, rank, |offset| place(0, offset), |_, offset| place(1, offset))
}

/// For equal blocks, which reuse the places of blocks that have been sent on. Of the offsets between two
/// multiples of the stride, as many are kept at a time as a tree has levels.
fn of_equal_lengths(problem: &Problem, rank: usize) -> Schedule {
    let stride = stride(problem.size, problem.window);
    let (multiples, levels) = (problem.size.div_ceil(stride), stride.ilog2() as usize);
    let place = |row: usize, offset| Scratch.block(row * multiples + offset / stride);
    let level = |offset: usize| (offset % stride).count_ones() as usize;
    let landing = |turn, offset| place(levels + turn % LANDINGS, offset);
    schedule(problem, rank, |offset| place(level(offset), offset), landing)
}

/// Returns the block that a rank combines at an offset: the block of the rank `offset` behind it.
fn block(size: usize, rank: usize, offset: usize) -> usize {
    (rank + size - offset) % size
}

/// Partial sums are kept at `kept(offset)`. The first one also arrives there, later ones at `landing(round, offset)`.
fn schedule(
    problem: &Problem,
    rank: usize,
    kept: impl Fn(usize) -> Run,
    landing: impl Fn(usize, usize) -> Run,
) -> Schedule {
    let Problem { size, window, .. } = *problem;
    if size == 1 {
        return alone();
    }
    let own = |offset| Send.block(block(size, rank, offset));
    let kept = |offset| if offset == 0 { Recv.block(rank) } else { kept(offset) };
    let mut is_kept = vec![false; size];
    let mut program = Builder::new(rank, size, size);
    for (turn, Round { distance, offsets }) in rounds(size, stride(size, window)).rev().enumerate() {
        let parents = || offsets.clone().map(|offset| offset - distance);
        let arrival = |offset: usize| if is_kept[offset] { landing(turn, offset) } else { kept(offset) };
        let partial = |offset: usize| if is_kept[offset] { kept(offset) } else { own(offset) };
        let arriving: Message = parents().map(arrival).collect();
        let leaving: Message = offsets.clone().map(partial).collect();
        program.exchange(((rank + size - distance) % size, leaving), ((rank + distance) % size, arriving));
        for offset in parents() {
            // The result overwrites the right operand, where MPI's operators leave it.
            let left = if is_kept[offset] { landing(turn, offset) } else { own(offset) };
            program.reduce(left, kept(offset), kept(offset));
            is_kept[offset] = true;
        }
    }
    program.build().overlapped(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::digits::doublings;

    fn problem(size: usize, window: usize) -> Problem {
        Problem { window, ..Problem::new(size) }
    }

    #[test]
    fn messages_and_volume_for_any_size() {
        for algorithm in [REDUCE_SCATTER, REDUCE_SCATTER_BLOCK] {
            for size in 2..70_usize {
                for window in 1..=size {
                    let program = algorithm.schedule(&problem(size, window), size / 3);
                    let stride = stride(size, window);
                    let rounds = doublings(size.div_ceil(stride)) + stride.min(size) - 1;
                    assert_eq!(program.messages_sent(), rounds, "p = {size}, w = {window}");
                    assert_eq!((program.blocks_sent(), program.blocks_reduced()), (size - 1, size - 1));
                }
            }
        }
    }

    #[test]
    fn a_window_bounds_the_scratch_of_equal_blocks() {
        let needed = |size, window| of_equal_lengths(&problem(size, window), 0).scratch_blocks();
        for size in 2..200_usize {
            for window in 1..=size {
                let stride = stride(size, window);
                let most = (stride.ilog2() as usize + LANDINGS) * size.div_ceil(stride);
                assert!(needed(size, window) <= most, "p = {size}, w = {window}");
            }
        }
        assert!(needed(1024, 1) <= 12);
        assert!(needed(1024, 32) <= 7 * 32);
    }
}
