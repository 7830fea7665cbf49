//! Chain for MPI_Scan and MPI_Exscan: each rank adds its part to what the previous rank sends, segment by segment.
//!
//! With k segments: p − 2 + k rounds of one k-th of the vector. Keeps the order of operands.

use super::linear;
use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::Schedule;

pub const SCAN: Algorithm = Algorithm {
    collectives: &[Collective::Scan],
    name: "chain",
    aliases: &[],
    source: "Sanders, Träff 2006 (linear pipeline)",
    idea: "The vector is cut into segments. Each rank adds its part of a segment to what the rank before sends, and \
            passes the sum on while the next segment arrives.",
    avoid_when: "vectors are short or ranks many, for the last rank waits for all others.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(scan),
};

pub const EXSCAN: Algorithm =
    Algorithm { collectives: &[Collective::Exscan], body: Body::Messages(exscan), ..SCAN };

fn scan(problem: &Problem, rank: usize) -> Schedule {
    linear::scan(problem, rank, problem.segments).overlapped(AHEAD)
}

fn exscan(problem: &Problem, rank: usize) -> Schedule {
    linear::exscan(problem, rank, problem.segments).overlapped(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_segment_goes_once_from_rank_to_rank() {
        for algorithm in [SCAN, EXSCAN] {
            let problem = Problem { segments: 5, ..Problem::new(10) };
            for rank in 0..10 {
                let program = algorithm.schedule(&problem, rank);
                assert_eq!(program.blocks_sent(), if rank == 9 { 0 } else { 5 });
            }
        }
    }
}
