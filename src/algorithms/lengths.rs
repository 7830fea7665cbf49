//! What ranks do before an algorithm that needs lengths of blocks which the arguments of a rank do not contain.

use super::{Algorithm, Collective, Problem, RECURSIVE_DOUBLING_ALLREDUCE, Requirement, allgather};
use crate::schedule::Schedule;

impl Algorithm {
    /// The program of a rank that goes over lengths of blocks instead of their data; `None` if the arguments say enough.
    pub fn exchange_of_lengths(&self, problem: &Problem, rank: usize) -> Option<Schedule> {
        let requires = |requirement| self.requires.contains(&requirement);
        let alone = Problem::new(problem.size);
        let exchange = match () {
            () if requires(Requirement::BlockLengths) => Some(self.schedule(problem, rank)),
            () if !requires(Requirement::LongestBlock) => None,
            () if !self.takes_shared_memory() => {
                Some(RECURSIVE_DOUBLING_ALLREDUCE.schedule(&Problem { in_place: true, ..alone }, rank))
            }
            // By its own schedule the root alone would learn anything.
            () if self.contract() == Collective::Gatherv => {
                Some(allgather::shared::ALGORITHM.schedule(&alone, rank))
            }
            () => Some(self.schedule(problem, rank)),
        };
        exchange.map(Schedule::unrolled)
    }
}
