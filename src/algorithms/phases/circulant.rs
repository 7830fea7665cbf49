//! The circulant graph whose skips halve, p → ceil(p/2) → … → 1, and the reduce-scatter and the allgather along it.

use crate::algorithms::digits::doublings;
use crate::cost::Cost;
use crate::schedule::{Buffer, Buffer::*, Builder, Message, Schedule};

/// The skips, the longest first: ceil(log2 p) of them. Each, doubled, reaches the one before it; so every distance
/// below `size` is a sum of different skips.
pub fn skips(size: usize) -> impl DoubleEndedIterator<Item = usize> {
    (0..size.next_power_of_two().ilog2()).map(move |halvings| size.div_ceil(2 << halvings))
}

/// Reduce-scatter for any number of ranks: afterwards rank i holds block i of the reduction of `contribution` in the
/// receive buffer (in `contribution`, if it is alone). ceil(log2 p) rounds, p − 1 blocks sent and reduced. Combines
/// contributions in the order of the ring.
pub fn reduce_scatter(rank: usize, size: usize, contribution: Buffer) -> Schedule {
    // Written for rank 0; for the others block j is that of the rank at distance j.
    let mut program = Builder::new(0, size, size);
    let mut reached = size;
    // The blocks below stand in the receive buffer, those from there on still in `contribution`.
    let mut reduced = 0;
    for skip in skips(size) {
        let parted = reduced.clamp(skip, reached);
        let sent: Message =
            [Recv.blocks(skip..parted), contribution.blocks(parted..reached)].into_iter().collect();
        let kept = 0..reached - skip;
        let operand = if reduced == 0 { contribution } else { Recv };
        let incoming = if operand == Send { Recv } else { Scratch };
        program.exchange((skip, sent), (size - skip, incoming.blocks(kept.clone())));
        program.reduce(
            operand.blocks(kept.clone()),
            incoming.blocks(kept.clone()),
            Recv.blocks(kept.clone()),
        );
        reduced = reduced.max(kept.end);
        reached = skip;
    }
    program.build().relabel(rank).relabel_blocks(rank)
}

/// Allgather for any number of ranks: rank i brings block i. ceil(log2 p) rounds, p − 1 blocks sent.
pub fn allgather(rank: usize, size: usize) -> Schedule {
    // Written for rank 0; for the others block j is that of the rank at distance j.
    let mut program = Builder::new(0, size, size);
    // Before each round a rank holds the blocks at distances below the skip.
    let reached = skips(size).rev().skip(1).chain([size]);
    for (skip, reached) in skips(size).rev().zip(reached) {
        program.exchange((size - skip, Recv.blocks(0..reached - skip)), (skip, Recv.blocks(skip..reached)));
    }
    program.build().relabel(rank).relabel_blocks(rank)
}

/// What [`reduce_scatter`] costs.
pub fn reduce_scatter_cost(size: usize) -> Cost {
    Cost::of_rounds(doublings(size), size - 1, size - 1)
}

/// What [`allgather`] costs.
pub fn allgather_cost(size: usize) -> Cost {
    Cost::of_rounds(doublings(size), size - 1, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skips_halve_rounding_up() {
        let known: [(usize, &[usize]); 5] =
            [(1, &[]), (2, &[1]), (3, &[2, 1]), (13, &[7, 4, 2, 1]), (16, &[8, 4, 2, 1])];
        for (size, expected) in known {
            assert!(skips(size).eq(expected.iter().copied()), "p = {size}");
        }
        for size in 2..300 {
            assert!(skips(size).zip(skips(size).skip(1)).all(|(skip, next)| next == skip.div_ceil(2)));
        }
    }
}
