//! Sparbit for MPI_Allgather: distances shrink from 2^(q − 1) to 1, where q = ceil(log2 p), while the number of
//! blocks grows. So most data goes to near ranks.
//!
//! q rounds for any p, p − 1 blocks sent, ceil(p / d) − ceil(p / 2d) of them over the distance d. Blocks arrive at
//! their final places, so no rank rotates its blocks. The blocks of a round are not adjacent. Each is a message of
//! its own, so no rank packs or unpacks messages.

use super::with_own_block;
use crate::algorithms::building_blocks::far_to_near::rounds;
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "sparbit",
    aliases: &[],
    source: "Loch, Koslovski 2021 (arXiv 2109.08751); Open MPI (sparbit)",
    idea: "Every rank sends the blocks that it has to the rank …, 4, 2, 1 further on, each by itself: one over the \
            longest distance, half of all over the shortest.",
    avoid_when: "blocks are short, for `pat` sends those of a round in one message.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(0, size, size);
    for round in rounds(size, 2) {
        for block in round.received(size) {
            program.receive(size - round.distance, block);
        }
        for block in round.sent(size) {
            program.send(round.distance, block);
        }
        program.end_round();
    }
    with_own_block(problem, program.build().relabel(rank).relabel_blocks(rank))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::digits::doublings;
    use crate::schedule::Step;

    /// The distances over which a rank sends, in order, each with the number of its messages.
    fn sent(size: usize) -> Vec<(usize, usize)> {
        let mut sent: Vec<(usize, usize)> = Vec::new();
        for step in schedule(&Problem::new(size), 0).steps {
            let Step::Send { peer, message, .. } = step else { continue };
            assert_eq!(message.blocks(), 1);
            match sent.last_mut() {
                Some((distance, messages)) if *distance == peer as usize => *messages += 1,
                _ => sent.push((peer as usize, 1)),
            }
        }
        sent
    }

    #[test]
    fn distances_shrink_while_blocks_grow_in_number() {
        assert_eq!(sent(8), [(4, 1), (2, 2), (1, 4)]);
        assert_eq!(sent(6), [(4, 1), (2, 1), (1, 3)]);
        assert_eq!(sent(13), [(8, 1), (4, 2), (2, 3), (1, 6)]);
        for size in 1..130_usize {
            let of = |distance: usize| size.div_ceil(distance) - size.div_ceil(2 * distance);
            let expected = (0..doublings(size)).rev().map(|bit| (1 << bit, of(1 << bit)));
            assert_eq!(sent(size), expected.collect::<Vec<_>>());
            assert_eq!(schedule(&Problem::new(size), 0).rounds(), doublings(size));
        }
    }

    /// Open MPI computes a mask from the number of ranks, and leaves out one block at each distance in the mask.
    #[test]
    fn there_are_as_many_as_open_mpi_sends() {
        for size in 2..130_u32 {
            let ignored = (!(size >> size.trailing_zeros()) | 1) << size.trailing_zeros();
            let mut held = 1;
            for (distance, blocks) in sent(size as usize) {
                let left_out = u32::from(distance as u32 & ignored == distance as u32);
                assert_eq!(blocks as u32, held - left_out, "p = {size}, distance {distance}");
                held += blocks as u32;
            }
        }
    }
}
