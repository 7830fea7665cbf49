//! Ring for MPI_Allreduce: partial sums travel around the ring, then the finished blocks do.
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 5 (pairwise and ring); Patarasuk, Yuan 2009.
//! 2(p − 1) rounds of one p-th of the vector; 2n(p−1)/p bytes sent, n(p−1)/p reduced.
//! Combines contributions in ring order, so the operator must commute. Loses when: latency counts.

use super::contribution;
use crate::algorithms::phases::ring_allgather::ring_allgather;
use crate::algorithms::{Algorithm, Collective, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Allreduce,
    name: "ring",
    aliases: &[],
    source: "Patarasuk, Yuan 2009; Thakur, Rabenseifner, Gropp 2005, section 5",
    parameters: &[],
    requires: &[Requirement::Commutative],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let contribution = contribution(problem);
    // With a send buffer the partial sums can arrive where the result goes.
    let incoming = if problem.in_place { Scratch } else { Recv };
    let (next, previous) = ((rank + 1) % size, (rank + size - 1) % size);
    let mut program = Builder::new(rank, size, size);
    // The partial sum of block b starts at rank b + 1 and is complete at rank b.
    for step in 1..size {
        let sent = (rank + size - step) % size;
        let received = (rank + 2 * size - step - 1) % size;
        let partial = if step == 1 { contribution } else { incoming };
        program.exchange((next, partial.block(sent)), (previous, incoming.block(received)));
        program.reduce(contribution.block(received), incoming.block(received), incoming.block(received));
    }
    // The block that ends here; with a single rank nothing has come in.
    let finished = if size == 1 { contribution } else { incoming };
    program.copy(finished.block(rank), Recv.block(rank));
    program.build().then(ring_allgather(rank, size, |_| 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_volume() {
        for size in 2..20 {
            let program = schedule(&Problem::new(size), size - 1);
            assert_eq!(program.rounds(), 2 * (size - 1));
            assert_eq!(program.blocks_sent(), 2 * (size - 1));
            assert_eq!(program.blocks_reduced(), size - 1);
        }
    }
}
