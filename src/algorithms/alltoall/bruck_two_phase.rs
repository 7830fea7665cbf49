//! Two-phase radix-r Bruck for MPI_Alltoallv and MPI_Alltoallw: the lengths of all blocks travel first, then the blocks.
//!
//! Fan et al. send the lengths of a round just before its blocks, with memory for p of the longest blocks. Here all
//! lengths go ahead, so memory is as large as needed. As in `bruck_modified`, blocks arrive at their final places.
//! Both phases have w = ceil(log_r p) rounds and the messages of `bruck`, the first with 8 bytes for each block. A block of
//! distance d is sent h(d) times, where h counts the nonzero digits. It rests in scratch memory h(d) − 1 times, each time in a
//! place of its own. With blocks of n bytes a rank sends roughly p·w·(r−1)/r·n bytes. All but (p−1)·n of these bytes rest, so a
//! rank needs memory for them. In place it needs another p·n bytes.

use super::parcels::{Parcels, Participant, exchange};
use super::{copy_own_block, with_input};
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
    let all = Parcels {
        own: rank,
        participants: (0..size).map(|rank| Participant { rank, gives: 1, takes: 1 }).collect(),
        held: (0..size).map(|distance| vec![Send.block((rank + size - distance) % size).into()]).collect(),
        arriving: (0..size).map(|distance| vec![Recv.block((rank + distance) % size).into()]).collect(),
    };
    exchange(&mut program, [all], radix, &mut 0);
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
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
