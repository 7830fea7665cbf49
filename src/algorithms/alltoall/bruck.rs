//! Radix-r Bruck index algorithm for MPI_Alltoall: rotate, exchange digit by digit, rotate back.
//!
//! The distance of a block is (receiver − sender) mod p. The first rotation sorts blocks by distance, the last one by
//! sender. For each digit k there is a round of at most r−1 messages: for each value z, one to the rank z·r^k further.
//! With w = ceil(log_r p) digits: w rounds, w(r−1) − floor((r^w − p)/r^(w−1)) messages in all. A block moves
//! once for each nonzero digit of its distance: a rank sends p·w·(r−1)/r blocks if p = r^w, otherwise fewer.

use crate::algorithms::digits::{digits, nonzero_digits_of_all, with_digit};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Message, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "bruck",
    aliases: &["brucks"],
    source: "Bruck et al. 1997; Fan et al. 2022 (radix r)",
    idea: "The distance of each block's way is written in base r. Blocks travel digit by digit, together with all \
            others that have the same value of that digit, between a rotation before and one afterwards.",
    avoid_when: "blocks are large, for each of them travels several times, and is copied each time.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);

    // First rotation: work block i is for the rank at distance i.
    program.copy(Send.blocks(rank..size), Scratch.blocks(0..size - rank));
    program.copy(Send.blocks(0..rank), Scratch.blocks(size - rank..size));

    // Work block i travels the sum of its digits' distances. It alternates between two places, so no place is
    // received into while it is sent from.
    let place = |block: usize, hops: usize| Scratch.block(hops % 2 * size + block);
    exchange_by_digits(&mut program, problem, rank, Direction::Up, place);

    // Last rotation: the block that travelled distance i comes from the rank at distance i.
    let hops = nonzero_digits_of_all(size, problem.radix);
    for (distance, &hops) in hops.iter().enumerate() {
        program.copy(place(distance, hops), Recv.block((rank + size - distance) % size));
    }
    super::with_input(problem, program.build())
}

/// Whether blocks travel to higher or to lower ranks.
#[derive(Clone, Copy)]
pub(super) enum Direction {
    Up,
    Down,
}

/// Adds a round for each digit position. In it a rank sends one message for each value z of the digit: all blocks
/// with this digit, z·r^position ranks further.
///
/// `place(block, hops)` is where the block that travels the distance `block` is after `hops` hops.
pub(super) fn exchange_by_digits(
    program: &mut Builder,
    problem: &Problem,
    rank: usize,
    direction: Direction,
    place: impl Fn(usize, usize) -> Run,
) {
    let Problem { size, radix, .. } = *problem;
    let nonzero_digits = nonzero_digits_of_all(size, radix);
    for position in 0..digits(size, radix) {
        // A block has made one hop for each nonzero digit below the position.
        let hops = |block| nonzero_digits[block % radix.pow(position)];
        // The values of one digit concern different blocks, so their messages share a round.
        for digit in 1..radix {
            let distance = digit * radix.pow(position);
            if distance >= size {
                break;
            }
            let (ahead, behind) = ((rank + distance) % size, (rank + size - distance) % size);
            let (target, source) = match direction {
                Direction::Up => (ahead, behind),
                Direction::Down => (behind, ahead),
            };
            let blocks = || with_digit(size, radix, position, digit);
            program.receive(source, blocks().map(|block| place(block, hops(block) + 1)).collect::<Message>());
            program.send(target, blocks().map(|block| place(block, hops(block))).collect::<Message>());
        }
        program.end_round();
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::algorithms::digits::with_one_nonzero_digit;

    fn counted(algorithm: &Algorithm, size: usize, radix: usize) -> (usize, usize) {
        let schedule = algorithm.schedule(&Problem { radix, ..Problem::new(size) }, size / 2);
        (schedule.messages_sent(), schedule.blocks_sent())
    }

    /// Messages and blocks sent according to equations 2 and 3 of Fan et al. 2022.
    pub fn stated(size: usize, radix: usize) -> (usize, usize) {
        let sent = |position: u32| {
            let weight = radix.pow(position);
            let (complete, rest) = (size / (weight * radix) * weight, size % (weight * radix));
            (1..radix).map(|digit| complete + rest.saturating_sub(digit * weight).min(weight)).sum::<usize>()
        };
        (with_one_nonzero_digit(size, radix), (0..digits(size, radix)).map(sent).sum())
    }

    #[test]
    fn every_radix_costs_what_the_paper_says() {
        for algorithm in [&ALGORITHM, &super::super::bruck_modified::ALGORITHM] {
            for size in 1..200 {
                for radix in 2..=size.max(2) {
                    assert_eq!(counted(algorithm, size, radix), stated(size, radix), "p={size} r={radix}");
                }
            }
        }
    }

    #[test]
    fn known_counts() {
        let known = [
            ((512, 2), (9, 2304)),
            ((512, 22), (43, 984)),
            ((512, 23), (44, 978)),
            ((4096, 2), (12, 24576)),
            ((4096, 64), (126, 8064)),
        ];
        for ((size, radix), expected) in known {
            assert_eq!(counted(&ALGORITHM, size, radix), expected, "p={size} r={radix}");
        }
        // The paper's figure 1 says 5 steps here; its equation 2 says 4.
        assert_eq!(counted(&ALGORITHM, 6, 4).0, 4);
    }

    #[test]
    fn a_round_for_each_digit() {
        let schedule = ALGORITHM.schedule(&Problem { radix: 4, ..Problem::new(13) }, 5);
        assert_eq!(schedule.rounds(), 2);
    }
}
