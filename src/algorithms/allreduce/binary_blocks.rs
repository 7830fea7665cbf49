//! Binary blocks for MPI_Allreduce: p is a sum of powers of two. Each forms a block of ranks that halves on its own.
//!
//! Each block of ranks does a reduce-scatter by halving. The results of a smaller block climb to the next larger one, until the
//! largest has the full result. Each section of the smaller block is split as finely as the sections of the larger block. On the
//! way down the sections go back, and each block ends with an allgather by doubling.
//! Take a block of 2^e ranks that has r times as many ranks as the next smaller block. It has the results of the smaller block in
//! round u = max(e, u') + r, where u' is the u of the smaller block. With u and e of the largest block there are u + 1 + e rounds
//! if p is no power of two, and otherwise 2e rounds. If p is a power of two, each rank reduces n(p−1)/p bytes and sends 2n(p−1)/p
//! bytes. Otherwise all n bytes are reduced, and up to two 2^e-ths of them are sent in addition to 2n(2^e − 1)/2^e.
//! Blocks are contiguous ranges of ranks, the largest first, so the order of operands is kept.

use super::contribution;
use crate::algorithms::building_blocks::butterfly::Butterfly;
use crate::algorithms::building_blocks::exchange_and_reduce::Accumulator;
use crate::algorithms::building_blocks::recursive_halving::{Segments, allgather, reduce_scatter};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::Recv, Builder, Post, Schedule};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "binary_blocks",
    aliases: &[],
    source: "Rabenseifner, Träff 2004; Thakur, Rabenseifner, Gropp 2005, section 5",
    idea: "The ranks are split into blocks whose sizes are powers of two. Each block halves on its own, small \
            blocks hand their results to larger ones, and the way back doubles.",
    avoid_when: "sizes of consecutive blocks are far apart, for then a rank of the smaller talks to many of the \
            larger.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let position = Position::of(rank, size);
    let block = position.block;
    let vector = 1 << size.ilog2();
    let local = rank - block.start;
    let in_block = |local: usize| block.start + local;
    let mine = block.section(local, vector);

    let whole = Segments::whole(vector);
    let halved = reduce_scatter(block.butterfly(), local, whole, contribution(problem)).embed(size, in_block);
    let mut between = Builder::new(rank, size, vector);
    // Up: receive the sections of the smaller block (of higher ranks), then send this block's to the larger one.
    let below = position.smaller.map(|smaller| smaller.start + local % smaller.size);
    if let Some(partner) = below {
        let mut accumulator = Accumulator::new(rank, Recv, [partner]);
        accumulator.exchange(&mut between, partner, 0..0, mine.clone());
        accumulator.finish(&mut between, mine.clone());
    }
    // The larger block's ranks whose sections lie within this rank's section: their low bits are this rank's.
    let above: Vec<_> = position.larger.map_or(Vec::new(), |larger| {
        let partner = |local| (larger.start + local, larger.section(local, vector));
        (local..larger.size).step_by(block.size).map(partner).collect()
    });
    let send_up =
        |(partner, finer): &(usize, Range<usize>)| between.send(*partner, Recv.blocks(finer.clone()));
    let leaving: Vec<Option<Post>> = above.iter().map(send_up).collect();
    // Down: a section's result may arrive as soon as the section has been sent up.
    for ((partner, finer), sent) in above.into_iter().zip(leaving) {
        between.wait(sent);
        between.receive(partner, Recv.blocks(finer));
    }
    between.end_round();
    if let Some(partner) = below {
        between.send(partner, Recv.blocks(mine));
    }
    between.end_round();

    halved.then(between.build()).then(allgather(block.butterfly(), local, vector).embed(size, in_block))
}

/// A contiguous range of ranks whose size is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankBlock {
    pub start: usize,
    pub size: usize,
}

impl RankBlock {
    fn butterfly(self) -> Butterfly {
        Butterfly::nearest_first(self.size)
    }

    /// Returns the part of a vector of `vector` blocks that halving leaves to the block's rank `local`.
    fn section(self, local: usize, vector: usize) -> Range<usize> {
        let butterfly = self.butterfly();
        butterfly.section(local, butterfly.rounds(), vector)
    }
}

/// The block that a rank belongs to, and the next larger and smaller blocks.
struct Position {
    larger: Option<RankBlock>,
    block: RankBlock,
    smaller: Option<RankBlock>,
}

impl Position {
    fn of(rank: usize, size: usize) -> Position {
        let blocks = rank_blocks(size);
        let index = blocks.partition_point(|block| block.start + block.size <= rank);
        Position {
            larger: index.checked_sub(1).map(|larger| blocks[larger]),
            block: blocks[index],
            smaller: blocks.get(index + 1).copied(),
        }
    }
}

/// Returns the rank blocks of `size` ranks, largest first: one for each power of two that `size` is the sum of.
pub fn rank_blocks(size: usize) -> Vec<RankBlock> {
    let mut start = 0;
    let exponents = (0..usize::BITS).rev().filter(|exponent| size >> exponent & 1 == 1);
    exponents
        .map(|exponent| {
            let block = RankBlock { start, size: 1 << exponent };
            start += block.size;
            block
        })
        .collect()
}

/// Returns the largest gap between successive exponents of `size`'s powers of two, 0 for a power of two. Binary
/// blocks are faster if the gap is small.
pub fn delta_expo_max(size: usize) -> u32 {
    rank_blocks(size).windows(2).map(|pair| pair[0].size.ilog2() - pair[1].size.ilog2()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_thirteen() {
        let blocks = rank_blocks(13).iter().map(|block| (block.start, block.size)).collect::<Vec<_>>();
        assert_eq!(blocks, [(0, 8), (8, 4), (12, 1)]);
    }

    #[test]
    fn largest_gap_between_exponents() {
        assert_eq!([13, 100, 64, 3].map(delta_expo_max), [2, 3, 0, 1]);
    }

    #[test]
    fn is_rabenseifner_at_powers_of_two() {
        for size in [1, 2, 8, 32] {
            for rank in 0..size {
                let problem = Problem::new(size);
                let rabenseifner = super::super::rabenseifner::ALGORITHM.schedule(&problem, rank);
                assert_eq!(schedule(&problem, rank), rabenseifner);
            }
        }
    }
}
