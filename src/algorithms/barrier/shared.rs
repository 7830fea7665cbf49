//! Barrier in shared memory: dissemination by flags.
//!
//! In round i a rank raises a flag and awaits the flags of the ranks at distances k^i, 2k^i, …, (k−1)k^i: ceil(log_k p)
//! rounds. Many ranks see a flag as fast as one does. So fewer rounds are faster, until reading many flags takes too
//! long. k is the smallest radix with as few rounds as the given one, because it has the fewest flags.

use super::distances;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Barrier],
    name: "shared",
    aliases: &[],
    source: "Hensgen, Finkel, Manber 1988; Mellor-Crummey, Scott 1991; to several ranks at once: Hoefler et al. \
            2006",
    idea: "Dissemination by flags in memory that the node shares: in every round a rank raises a flag and waits \
            for those of some others.",
    avoid_when: "there are so many ranks that looking at many flags takes its time.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::OneNode, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let rounds = distances(size, radix);
    let mut program = Builder::new(rank, size, 1).slots(rounds.len());
    for (round, distances) in rounds.enumerate() {
        program.notify(round);
        for distance in distances {
            program.await_slot((rank + size - distance) % size, round);
        }
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn no_more_flags_are_awaited_than_the_rounds_need() {
        // Two rounds of radix 4 are enough for 16 ranks.
        let awaits = |radix| {
            let steps = schedule(&Problem { radix, ..Problem::new(16) }, 3).steps;
            steps.iter().filter(|step| matches!(step, Step::Await { .. })).count()
        };
        assert_eq!([2, 4, 8, 15, 16].map(awaits), [4, 6, 6, 6, 15]);
    }

    #[test]
    fn all_ranks_are_awaited_in_one_round_of_the_highest_radix() {
        let problem = Problem { radix: 9, ..Problem::new(9) };
        let steps = schedule(&problem, 4).steps;
        assert_eq!(steps[0], Step::Notify { slot: 0 });
        let awaits = steps.iter().filter(|step| matches!(step, Step::Await { slot: 0, .. }));
        assert_eq!((awaits.count(), steps.len()), (8, 9));
    }
}
