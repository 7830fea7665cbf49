//! The circulant graph whose skips shrink, p → ceil(p/k) → ceil(p/k²) → … → 1, and the reduce-scatter and the allgather
//! along it. With k = 2 they are Träff's; larger radices send k − 1 messages at once, which are as many blocks in fewer
//! rounds.

use super::AHEAD;
use crate::algorithms::digits::digits;
use crate::schedule::{Buffer, Buffer::*, Builder, Message, Run, Schedule};

/// In so many vectors of scratch the partial sums of a round arrive in turn.
const LANDING_VECTORS: usize = 4;

/// The skips, the longest first: ceil(log_k p) of them. Each, taken `radix` times, reaches the one before it; so every
/// distance below `size` is a sum of skips, none of which is taken `radix` times.
pub fn skips(size: usize, radix: usize) -> impl DoubleEndedIterator<Item = usize> {
    rounds(size, radix).map(|(skip, _)| skip)
}

/// For each skip, the longest first, what it is taken from: the skip before it, and at first the number of ranks.
fn rounds(size: usize, radix: usize) -> impl DoubleEndedIterator<Item = (usize, usize)> {
    (1..=digits(size, radix)).map(move |round| {
        let reached = |round| size.div_ceil(radix.pow(round));
        (reached(round), reached(round - 1))
    })
}

/// Reduce-scatter for any number of ranks, as rank 0 does it (see [`of_rank`]): afterwards rank i holds block i of the
/// reduction of `contribution` in the receive buffer (in `contribution`, if it is alone). ceil(log_k p) rounds, p − 1
/// blocks sent and reduced. Combines contributions out of order. A message is reduced while others of its round arrive.
pub fn reduce_scatter(size: usize, radix: usize, contribution: Buffer) -> Schedule {
    let mut program = Builder::new(0, size, size);
    // The blocks below stand in the receive buffer, those from there on still in `contribution`.
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
            // The result takes the place of the right operand, where operators leave it.
            let (left, right) =
                if is_first { (Send.blocks(0..count), incoming) } else { (incoming, Recv.blocks(0..count)) };
            program.reduce(left, right, Recv.blocks(0..count));
            reduced = reduced.max(count);
        }
        program.end_round();
    }
    program.build()
}

/// Where the first blocks of a partial sum arrive.
fn landing(turn: usize, size: usize, count: usize) -> Run {
    let first = turn % LANDING_VECTORS * size;
    Scratch.blocks(first..first + count)
}

/// Allgather for any number of ranks, as rank 0 does it (see [`of_rank`]): rank i brings block i. ceil(log_k p) rounds,
/// p − 1 blocks sent.
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

/// The program of a rank, whose rounds overlap, from one that is written for rank 0: for the others block j is that of the
/// rank at distance j. Ranks do the same, so dependencies are found before blocks are renamed, which cuts steps apart.
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
