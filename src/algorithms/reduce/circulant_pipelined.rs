//! Träff's round-optimal broadcast along the circulant graph, run backwards, for MPI_Reduce (2024).
//!
//! With k segments: k − 1 + ceil(log2 p) rounds of one segment, for any p. The root reduces a segment in each round. In
//! the broadcast every rank receives each segment once, so backwards each contribution is sent once. A rank waits only
//! for messages whose blocks it sends on or overwrites, so segments travel back to back.
//! Contributions are combined out of order, so the operator must commute.

use super::{at_root, contribution};
use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::building_blocks::circulant_broadcast::{CirculantBroadcast, Round};
use crate::algorithms::building_blocks::tree_reduce::tree_reduce;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Message, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Reduce],
    name: "circulant_pipelined",
    aliases: &[],
    source: "Träff 2024 (arXiv 2407.18004)",
    idea: "The broadcast along a circulant graph run backwards: segments of partial sums travel to the root in \
            the fewest possible rounds.",
    avoid_when: "vectors are too short to be cut into segments.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Commutative],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let program = reduce_to_first(problem.relative(rank), size, segments, contribution(problem, rank));
    at_root(problem, program.relabel(root))
}

/// Returns the program of a rank for root 0. The program combines in the receive buffer.
pub fn reduce_to_first(rank: usize, size: usize, segments: usize, contribution: Buffer) -> Schedule {
    if size == 1 {
        return tree_reduce(0, 1, segments, contribution, None, []);
    }
    let rounds = CirculantBroadcast::new(size, segments).rounds(rank);
    let mut program = Builder::new(rank, size, segments);
    // Where the rank's partial result of each segment lies.
    let mut combined: Vec<Run> = (0..segments).map(|segment| contribution.block(segment)).collect();
    let mut arrivals = vec![0; segments];
    for Round { skip, sent, received } in rounds.into_iter().rev() {
        let (target, source) = ((rank + skip) % size, (rank + size - skip) % size);
        let incoming = |segment: usize| match combined[segment].buffer {
            Send => Recv.block(segment),
            // The next arrival goes to the other vector, because the previous one may still be in reduction.
            Recv | Scratch | Shared(_) => Scratch.block(arrivals[segment] % 2 * segments + segment),
        };
        let back: Message = received.map(|segment| combined[segment]).into_iter().collect();
        let partial: Message = sent.map(incoming).into_iter().collect();
        program.exchange((source, back), (target, partial));
        if let Some(segment) = sent {
            // The result overwrites the right operand, where MPI's operators leave it.
            let (left, right) = match combined[segment].buffer {
                Send => (combined[segment], incoming(segment)),
                Recv | Scratch | Shared(_) => (incoming(segment), combined[segment]),
            };
            program.reduce(left, right, Recv.block(segment));
            combined[segment] = Recv.block(segment);
            arrivals[segment] += 1;
        }
    }
    program.build().overlapped(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_contribution_is_sent_once() {
        for size in 2..70 {
            let problem = Problem { segments: 5, root: size / 3, ..Problem::new(size) };
            for rank in 0..size {
                let program = schedule(&problem, rank);
                assert_eq!(program.messages_sent(), if rank == problem.root { 0 } else { 5 });
            }
        }
    }
}
