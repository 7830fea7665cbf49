//! Two-phase radix-r Bruck for MPI_Alltoallv and MPI_Alltoallw: the lengths of all blocks travel first, then the blocks.
//!
//! There the lengths of a round go just before its blocks and memory is made for p of the longest blocks; here all
//! lengths go ahead, so that memory is made for what will come. As in `bruck_modified` blocks land where they belong.
//! Both phases have w = ceil(log_r p) rounds and the messages of `bruck`, the first with 8 bytes for each block. A block of distance d is sent h(d) times, where h counts the nonzero digits, and
//! rests in scratch memory h(d) − 1 times, each time in a place of its own: with blocks of n bytes p·w·(r−1)/r·n bytes
//! are sent, roughly, and all but (p−1)·n of them rest, which is the memory needed; in place another p·n.

use super::bruck::{Direction, exchange_by_digits};
use super::{copy_own_block, with_input};
use crate::algorithms::digits::{digits, nonzero_digits, nonzero_digits_below, with_digit};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv, Collective::Alltoallw],
    name: "bruck_two_phase",
    aliases: &[],
    source: "Fan et al. 2022 (HPDC: non-uniform all-to-all)",
    idea: "First the lengths of all blocks travel by Bruck's algorithm, then the blocks do, digit by digit of \
            the distance that they go.",
    avoid_when: "blocks are large, or there are few ranks, for every round is done twice.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::BlockLengths],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let mut program = Builder::new(rank, size, size);
    let rests = rests(size, radix);
    // The block that travels down by a distance is for the rank that far below, and comes from the one that far above.
    let place = |distance: usize, hops: usize| match hops {
        0 => Send.block((rank + size - distance) % size),
        _ if hops == nonzero_digits(distance, radix) => Recv.block((rank + distance) % size),
        _ => Scratch.block(rests[distance][hops - 1]),
    };
    exchange_by_digits(&mut program, problem, rank, Direction::Down, place);
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
}

/// For each distance the scratch blocks in which its block rests after each hop but the last. They are numbered as they
/// are received, so that what arrives together to rest lies together.
fn rests(size: usize, radix: usize) -> Vec<Vec<usize>> {
    let mut rests = vec![Vec::new(); size];
    let mut free = 0..;
    for position in 0..digits(size, radix) {
        for digit in 1..radix {
            for distance in with_digit(size, radix, position, digit) {
                if nonzero_digits_below(distance, radix, position + 1) < nonzero_digits(distance, radix) {
                    rests[distance].extend(free.next());
                }
            }
        }
    }
    rests
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::alltoall::bruck;

    fn counts(algorithm: &Algorithm, problem: &Problem) -> (usize, usize, usize) {
        let schedule = algorithm.schedule(problem, problem.size / 2);
        (schedule.rounds(), schedule.messages_sent(), schedule.blocks_sent())
    }

    #[test]
    fn each_phase_sends_what_bruck_sends() {
        for size in 1..100 {
            for radix in 2..=size.max(2) {
                let problem = Problem { radix, ..Problem::new(size) };
                assert_eq!(counts(&ALGORITHM, &problem), counts(&bruck::ALGORITHM, &problem));
            }
        }
    }

    #[test]
    fn what_is_sent_rests_but_for_its_last_hop() {
        for size in 1..100 {
            for radix in 2..=size.max(2) {
                let schedule = schedule(&Problem { radix, ..Problem::new(size) }, size / 3);
                assert_eq!(schedule.scratch_blocks(), schedule.blocks_sent() - (size - 1));
            }
        }
    }
}
