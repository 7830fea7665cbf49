//! The circulant graph with shrinking skips p → ceil(p/k) → ceil(p/k²) → … → 1, and the reduce-scatter and
//! the allgather along it. For k = 2 both are Träff's (2024). Larger radices send k − 1 messages at once: as
//! many blocks in fewer rounds.

use super::AHEAD;
use crate::algorithms::digits::digits;
use crate::schedule::{Buffer, Buffer::*, Builder, Message, Run, Schedule};

/// Number of scratch vectors in which the partial sums of a round arrive in turn.
const LANDING_VECTORS: usize = 4;

/// Returns the ceil(log_k p) skips, the longest first. `radix` times a skip is at least the skip before it.
/// So every distance below `size` is a sum of skips, each taken fewer than `radix` times.
pub fn skips(size: usize, radix: usize) -> impl DoubleEndedIterator<Item = usize> {
    rounds(size, radix).map(|(skip, _)| skip)
}

/// Returns, for each round, its skip and the skip before it (at first the number of ranks), the longest first.
fn rounds(size: usize, radix: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (1..=digits(size, radix)).map(move |round| {
        let reached = |round| size.div_ceil(radix.pow(round));
        (reached(round), reached(round - 1))
    })
}

/// Reduce-scatter for any number of ranks, as rank 0 runs it (see [`of_rank`]). Afterwards rank i holds block i of the
/// reduction of `contribution` in the receive buffer (in `contribution` if p = 1). ceil(log_k p) rounds, p − 1 blocks
/// sent and reduced. Combines contributions out of order. A message is reduced while others of its round arrive.
pub fn reduce_scatter(size: usize, radix: usize, contribution: Buffer) -> Schedule {
    let mut program = Builder::new(0, size, size);
    // Partial sums of blocks below `reduced` are in the receive buffer. The other blocks are still in `contribution`.
    let mut reduced = 0;
    for (skip, reached) in rounds(size, radix) {
        for distance in (skip..reached).step_by(skip) {
            let end = reached.min(distance + skip);
            let parted = reduced.clamp(distance, end);
            let sent: Message =
                [Recv.blocks(distance..parted), contribution.blocks(parted..end)].into_iter().collect();
            program.send(distance, sent);
        }
        for (turn, distance) in (skip..reached).step_by(skip).enumerate() {
            let count = skip.min(reached - distance);
            let is_first = reduced == 0 && contribution == Send;
            let incoming = if is_first { Recv.blocks(0..count) } else { landing(turn, size, count) };
            let arriving = program.receive(size - distance, incoming);
            program.wait(arriving);
            // The result overwrites the right operand, where MPI's operators leave it.
            let (left, right) =
                if is_first { (Send.blocks(0..count), incoming) } else { (incoming, Recv.blocks(0..count)) };
            program.reduce(left, right, Recv.blocks(0..count));
            reduced = reduced.max(count);
        }
        program.end_round();
    }
    program.build()
}

/// Returns where the first `count` blocks of a partial sum arrive.
fn landing(turn: usize, size: usize, count: usize) -> Run {
    let first = turn % LANDING_VECTORS * size;
    Scratch.blocks(first..first + count)
}

/// Allgather for any number of ranks, as rank 0 runs it (see [`of_rank`]). Rank i brings block i. ceil(log_k
/// p) rounds, p − 1 blocks sent.
pub fn allgather(size: usize, radix: usize) -> Schedule {
    let mut program = Builder::new(0, size, size);
    // Before each round a rank holds the blocks at distances below the skip.
    for (skip, reached) in rounds(size, radix).rev() {
        for distance in (skip..reached).step_by(skip) {
            let end = reached.min(distance + skip);
            program.receive(distance, Recv.blocks(distance..end));
            program.send(size - distance, Recv.blocks(0..end - distance));
        }
        program.end_round();
    }
    program.build()
}

/// Turns a program of rank 0 into that of `rank`, with overlapping rounds. In rank 0's program, block j belongs to the
/// rank at distance j. Dependencies are found before blocks are renamed, because renaming splits steps.
pub fn of_rank(rank: usize, program: Schedule) -> Schedule {
    program.overlapped(AHEAD).relabel(rank).relabel_blocks(rank)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_shrink_rounding_up() {
        let known: [(usize, usize, &[usize]); 8] = [
            (1, 2, &[]),
            (2, 2, &[1]),
            (3, 2, &[2, 1]),
            (13, 2, &[7, 4, 2, 1]),
            (16, 2, &[8, 4, 2, 1]),
            (13, 3, &[5, 2, 1]),
            (16, 4, &[4, 1]),
            (13, 13, &[1]),
        ];
        for (size, radix, expected) in known {
            assert!(skips(size, radix).eq(expected.iter().copied()), "p = {size}, k = {radix}");
        }
        for size in 2..300 {
            for radix in 2..=size {
                let next = skips(size, radix).skip(1);
                assert!(skips(size, radix).zip(next).all(|(skip, next)| next == skip.div_ceil(radix)));
                assert_eq!(skips(size, radix).last(), Some(1));
            }
        }
    }

    fn messages(size: usize, radix: usize) -> usize {
        allgather(size, radix).messages_sent()
    }

    #[test]
    fn a_round_sends_fewer_messages_than_the_radix() {
        for size in 2..130 {
            for radix in 2..=size {
                let most = skips(size, radix).count() * (radix - 1);
                assert!((skips(size, radix).count()..=most).contains(&messages(size, radix)));
            }
        }
        assert_eq!(
            [(13, 2), (13, 4), (16, 4), (13, 13)].map(|(size, radix)| messages(size, radix)),
            [4, 6, 6, 12]
        );
    }
}
