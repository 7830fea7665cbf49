//! Dissemination barrier: in round i a rank sends tokens to the ranks k^i, 2k^i, …, (k − 1)k^i ahead.
//!
//! ceil(log_k p) rounds for any p. In each a rank sends up to k − 1 messages at the same time. k is the smallest radix
//! with as few rounds as the given one, because it has the fewest messages.

use super::{distances, place, token};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "dissemination",
    aliases: &["bruck"],
    source: "Hensgen, Finkel, Manber 1988; to several ranks at once: Hoefler et al. 2006",
    idea: "In each round every rank sends to some ranks further on. So they learn of all ranks that it knows of. From round to round \
            the distance grows by the factor radix.",
    avoid_when: "many ranks share a network card, for all of them send in every round.",
    parameters: &[Parameter::Radix],
    requires: &[],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let mut program = Builder::new(rank, size, 1);
    for distances in distances(size, radix) {
        for (number, distance) in distances.enumerate() {
            program.receive((rank + size - distance) % size, place(number));
            program.send((rank + distance) % size, token());
        }
        program.end_round();
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_radix_with_as_few_rounds_is_taken() {
        let costs = |size, radix| {
            let program = schedule(&Problem { radix, ..Problem::new(size) }, 1);
            (program.rounds(), program.messages_sent())
        };
        assert_eq!([2, 3, 4, 8, 9].map(|radix| costs(9, radix)), [(4, 4), (2, 4), (2, 4), (2, 4), (1, 8)]);
        assert_eq!([2, 4].map(|radix| costs(11, radix)), [(4, 4), (2, 5)]);
    }
}
