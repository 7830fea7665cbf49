//! Pairwise exchange for MPI_Alltoall and its variants: one partner at a time.
//!
//! p − 1 rounds of one block each. In place, an alltoall of equal blocks needs scratch memory for one block: rank i exchanges
//! blocks with rank r − i in round r, so both replace the blocks that they send. Otherwise ranks copy their input first.

use super::{copy_own_block, with_input};
use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "pairwise",
    aliases: &["pairwise_exchange"],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.3",
    idea: "In every round each rank exchanges blocks with one partner, with another one each time.",
    avoid_when: "blocks are small, and each round waits for the slowest pair.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(schedule),
};

pub const ALLTOALLV: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv, Collective::Alltoallw],
    body: Body::Messages(of_any_lengths),
    ..ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    if problem.in_place { replace_blocks(rank, problem.size) } else { of_any_lengths(problem, rank) }
}

/// Exchanges equal blocks in place: a block arrives in scratch memory, then replaces the one that was sent.
fn replace_blocks(rank: usize, size: usize) -> Schedule {
    let mut program = Builder::new(rank, size, size);
    // In this round the rank would be its own partner.
    let alone = 2 * rank % size;
    for rounds in [0..alone, alone + 1..size] {
        program.repeat(rounds, |program, round| {
            let partner = (round + size - rank) % size;
            program.exchange((partner, Recv.block(partner)), (partner, Scratch.block(0)));
            program.copy(Scratch.block(0), Recv.block(partner));
        });
    }
    program.build()
}

fn of_any_lengths(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let mut program = Builder::new(rank, size, size);
    copy_own_block(problem, &mut program, rank);
    program.repeat(1..size, |program, round| {
        let (target, source) = partners(rank, size, round);
        program.exchange((target, Send.block(target)), (source, Recv.block(source)));
    });
    with_input(problem, program.build())
}

/// Returns a rank's target and source: one partner (by exclusive or) for both if `size` is a power of two, otherwise
/// the ranks at distance `round` ahead and behind.
fn partners(rank: usize, size: usize, round: usize) -> (usize, usize) {
    if size.is_power_of_two() {
        (rank ^ round, rank ^ round)
    } else {
        ((rank + round) % size, (rank + size - round) % size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verify::verify;

    #[test]
    fn blocks_are_replaced_by_those_of_the_same_rank() {
        for size in 1..=40 {
            let problem = Problem { in_place: true, ..Problem::new(size) };
            assert_eq!(verify(&ALGORITHM, &problem), Ok(()), "{size}");
        }
    }

    #[test]
    fn equal_blocks_in_place_need_one_block_and_as_many_rounds() {
        for size in [1, 2, 5, 8, 100, 1000] {
            for rank in [0, size / 2, size - 1] {
                let program =
                    |in_place| ALGORITHM.schedule(&Problem { in_place, ..Problem::new(size) }, rank);
                let (in_place, apart) = (program(true), program(false));
                assert_eq!(in_place.scratch_blocks(), usize::from(size > 1));
                assert_eq!(in_place.rounds(), apart.rounds());
                assert!(in_place.steps.len() <= 2 * 4 * 2, "{size}, {rank}");
            }
        }
    }
}
