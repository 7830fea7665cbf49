//! Recursive multiplying for MPI_Allreduce: in every round the ranks of each group of k exchange whole vectors.
//!
//! With k = 2 it is recursive doubling. p a power of k: log_k(p) rounds of k − 1 messages of the whole vector.
//! Otherwise as many ranks as the largest power of k take part. Each of them acts for itself and up to k − 1 ranks after it. For
//! the others there is a round of up to k − 1 messages before and one afterwards. All ranks combine a group's vectors from the
//! lowest to the highest rank, so they agree bit for bit and the order of operands is kept.

use super::{alone, contribution};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allreduce],
    name: "recursive_multiplying",
    aliases: &[],
    source: "Ruefenacht, Bull, Booth 2017",
    idea: "In every round groups of k ranks exchange what they have combined, each with each, so that it stands \
            for k times as many ranks.",
    avoid_when: "vectors are long.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    if size == 1 {
        return alone(problem);
    }
    let contribution = contribution(problem);
    let participants = participants(size, radix);
    // Participant i is the lowest of the ranks that it acts for.
    let member = |participant: usize| participant * size / participants;
    let participant = participant(rank, size, participants);
    let (keeper, others) = (member(participant), member(participant) + 1..member(participant + 1));

    let mut program = Builder::new(rank, size, 1);
    if rank != keeper {
        program.send(keeper, contribution.block(0));
        program.end_round();
        program.receive(keeper, Recv.block(0));
        return program.build();
    }
    for (position, other) in others.clone().enumerate() {
        program.receive(other, Scratch.block(position));
    }
    program.end_round();
    combine(&mut program, contribution, 0, others.len() + 1);
    let operand = if others.is_empty() { contribution } else { Recv };
    let multiply = multiply(participant, participants, radix, operand).embed(size, member);
    let mut after = Builder::new(rank, size, 1);
    for other in others {
        after.send(other, Recv.block(0));
    }
    program.build().then(multiply).then(after.build())
}

/// Returns how many ranks take part: the largest power of `radix` up to `size`. The others are folded onto them.
pub fn participants(size: usize, radix: usize) -> usize {
    radix.pow(size.ilog(radix))
}

/// Returns the number of the participant that acts for a rank.
pub fn participant(rank: usize, size: usize, participants: usize) -> usize {
    ((rank + 1) * participants - 1) / size
}

/// Returns the rounds among `size` participants; `size` is a power of the radix.
fn multiply(rank: usize, size: usize, radix: usize, contribution: Buffer) -> Schedule {
    let mut program = Builder::new(rank, size, 1);
    for round in 0..size.ilog(radix) {
        let operand = if round == 0 { contribution } else { Recv };
        let weight = radix.pow(round);
        let mine = rank / weight % radix;
        let partner = |digit: usize| rank - mine * weight + digit * weight;
        for distance in 1..radix {
            let digit = source(mine, distance, radix);
            program.receive(partner(digit), incoming(digit, mine));
        }
        for distance in 1..radix {
            program.send(partner(target(mine, distance, radix)), operand.block(0));
        }
        program.end_round();
        combine(&mut program, operand, mine, radix);
    }
    program.build()
}

/// Returns the member of the group that a rank sends to at this step; at each, every member is the target of one message. Among
/// a power of two, members exchange in pairs, and all ranks do the same but for an exclusive or of their numbers.
fn target(mine: usize, distance: usize, radix: usize) -> usize {
    if radix.is_power_of_two() { mine ^ distance } else { (mine + distance) % radix }
}

/// Returns the member whose [`target`] the rank is at this step.
fn source(mine: usize, distance: usize, radix: usize) -> usize {
    if radix.is_power_of_two() { mine ^ distance } else { (mine + radix - distance) % radix }
}

/// Returns where the vector of another member of the group arrives.
fn incoming(member: usize, mine: usize) -> Run {
    Scratch.block(member - usize::from(member > mine))
}

/// Combines the vectors of a group of `count` members, lowest first; the rank's own vector is in `operand`. Each
/// result replaces its right operand, but never in the send buffer. The last one goes to the receive buffer.
fn combine(program: &mut Builder, operand: Buffer, mine: usize, count: usize) {
    let vector = |member| if member == mine { operand.block(0) } else { incoming(member, mine) };
    let mut combined = vector(0);
    for member in 1..count {
        let target = if vector(member).buffer == Send { Recv.block(0) } else { vector(member) };
        program.reduce(combined, vector(member), target);
        combined = target;
    }
    if count > 1 {
        program.copy(combined, Recv.block(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_messages_at_powers_of_the_radix() {
        for (size, radix, rounds) in [(8, 2, 3), (9, 3, 2), (64, 4, 3), (25, 5, 2), (7, 7, 1)] {
            for rank in 0..size {
                let program = schedule(&Problem { radix, ..Problem::new(size) }, rank);
                assert_eq!(program.rounds(), rounds);
                assert_eq!(program.messages_sent(), rounds * (radix - 1));
            }
        }
    }

    #[test]
    fn two_more_rounds_elsewhere() {
        for (size, radix) in [(10, 3), (13, 4), (26, 5), (17, 16), (17, 2)] {
            let rounds = |rank| schedule(&Problem { radix, ..Problem::new(size) }, rank).rounds();
            assert_eq!(
                (0..size).map(rounds).max(),
                Some(size.ilog(radix) as usize + 2),
                "p={size} k={radix}"
            );
        }
    }

    #[test]
    fn radix_two_sends_what_recursive_doubling_does() {
        let doubling = super::super::recursive_doubling::ALGORITHM;
        for size in [2, 8, 64] {
            let problem = Problem { radix: 2, ..Problem::new(size) };
            let (own, other) = (schedule(&problem, size / 2), doubling.schedule(&problem, size / 2));
            assert_eq!((own.rounds(), own.blocks_sent()), (other.rounds(), other.blocks_sent()));
        }
    }
}
