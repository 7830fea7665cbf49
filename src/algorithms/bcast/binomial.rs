//! Binomial tree for MPI_Bcast, whole or in segments.
//!
//! Source: Thakur, Rabenseifner, Gropp 2005, section 4.2.
//! ceil(log2 p) rounds of the whole vector; with k segments a rank passes a segment on while the next one arrives.
//! Loses when: vectors are long, for the root sends the vector ceil(log2 p) times.

use super::relative;
use crate::algorithms::phases::binomial_tree::{children, parent};
use crate::algorithms::{Algorithm, Collective, Parameter, Problem};
use crate::schedule::{Buffer::Recv, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "binomial",
    aliases: &[],
    source: "Thakur, Rabenseifner, Gropp 2005, section 4.2",
    parameters: &[Parameter::Segment],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, segments, .. } = *problem;
    let relative = relative(problem, rank);
    let mut program = Builder::new(relative, size, segments);
    let mut arriving = None;
    let mut leaving: Vec<_> = Vec::new();
    for segment in 0..segments {
        if let Some(parent) = parent(relative) {
            // The next segment's receive is posted before this one's is waited for.
            let current = arriving.take().or_else(|| program.receive(parent, Recv.block(segment)));
            if segment + 1 < segments {
                arriving = program.receive(parent, Recv.block(segment + 1));
            }
            program.wait(current);
        }
        let sends: Vec<_> =
            children(relative, size).filter_map(|child| program.send(child, Recv.block(segment))).collect();
        // At most two segments are on their way to each child.
        program.wait(std::mem::replace(&mut leaving, sends));
    }
    program.build().relabel(problem.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rank_but_the_root_receives_once() {
        let problem = Problem { root: 3, ..Problem::new(10) };
        let sent: usize = (0..10).map(|rank| schedule(&problem, rank).messages_sent()).sum();
        assert_eq!(sent, 9);
        assert_eq!(schedule(&problem, 3).messages_sent(), 4);
    }
}
