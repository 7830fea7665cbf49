//! Träff's round-optimal broadcast of several segments along the circulant graph.
//!
//! Source: Träff 2022 (arXiv 2205.10072), 2023 (arXiv 2312.11236).
//! With k segments k − 1 + ceil(log2 p) rounds of one segment, for any p; nobody receives a segment twice. A schedule
//! is made in O(p log p) steps without communication; the paper needs O(log p).
//! Loses when: vectors are too short to be cut.

use crate::algorithms::phases::circulant_broadcast::{CirculantBroadcast, Round};
use crate::algorithms::{Algorithm, Collective, Parameter, Problem};
use crate::schedule::{Buffer::Recv, Builder, Message, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collective: Collective::Bcast,
    name: "circulant_pipelined",
    aliases: &["circ_graph"],
    source: "Träff 2022, 2023",
    parameters: &[Parameter::Segment],
    requires: &[],
    schedule,
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, root, segments, .. } = *problem;
    let rank = problem.relative(rank);
    let message = |segment: Option<usize>| -> Message {
        segment.map(|segment| Recv.block(segment)).into_iter().collect()
    };
    let mut program = Builder::new(rank, size, segments);
    for Round { skip, sent, received } in CirculantBroadcast::new(size, segments).rounds(rank) {
        let (target, source) = ((rank + skip) % size, (rank + size - skip) % size);
        program.exchange((target, message(sent)), (source, message(received)));
    }
    program.build().relabel(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_and_messages() {
        for size in 1..70 {
            let problem = Problem { segments: 5, root: size / 3, ..Problem::new(size) };
            let schedules = (0..size).map(|rank| schedule(&problem, rank));
            let messages: usize = schedules.clone().map(|schedule| schedule.messages_sent()).sum();
            let rounds = schedules.map(|schedule| schedule.rounds()).max().unwrap();
            assert_eq!(messages, 5 * (size - 1));
            assert!(rounds <= 4 + size.next_power_of_two().ilog2() as usize);
        }
    }
}
