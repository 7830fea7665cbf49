//! The exchange of block lengths, before algorithms that need lengths that a rank's arguments do not contain.

use super::{
    Algorithm, Collective, Cut, Problem, RECURSIVE_DOUBLING_ALLREDUCE, Requirement, allgather, neighbor,
};
use crate::schedule::Schedule;

impl Algorithm {
    /// Returns a rank's program that exchanges lengths instead of data; `None` if the arguments contain all lengths.
    pub fn exchange_of_lengths(&self, problem: &Problem, rank: usize) -> Option<Schedule> {
        let requires = |requirement| self.requires.contains(&requirement);
        let alone = Problem::new(problem.size);
        let exchange = match () {
            () if requires(Requirement::BlockLengths) => Some(self.schedule(problem, rank)),
            () if !requires(Requirement::LongestBlock) => None,
            () if !self.takes_shared_memory() => {
                Some(RECURSIVE_DOUBLING_ALLREDUCE.schedule(&Problem { in_place: true, ..alone }, rank))
            }
            // With the algorithm's own schedule only the root would learn the lengths, or only the neighbours.
            () if self.contract() == Collective::Gatherv => {
                Some(allgather::shared::ALGORITHM.schedule(&alone, rank))
            }
            () if self.contract().cut() == Cut::Edges => {
                Some(neighbor::shared::lengths(self.contract(), problem, rank))
            }
            () => Some(self.schedule(problem, rank)),
        };
        exchange.map(Schedule::unrolled)
    }
}
