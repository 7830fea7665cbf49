//! Träff's round-optimal broadcast of several segments along the circulant graph.
//!
//! With k segments k − 1 + ceil(log2 p) rounds of one segment, for any p; no rank receives a segment twice. A rank
//! makes its schedule in O(log^3 p) steps without communication; the paper's algorithm takes O(log p).
//! A rank waits only for segments that it sends on, so the root sends segments back to back. The time is about n beta +
//! ceil(log2 p) (alpha + n/k beta) in Hockney's model. If messages queue, there may be one round more.

use crate::algorithms::building_blocks::AHEAD;
use crate::algorithms::building_blocks::circulant_broadcast::{CirculantBroadcast, Round};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem};
use crate::schedule::{Buffer::Recv, Builder, Message, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "circulant_pipelined",
    aliases: &["circ_graph"],
    source: "Träff 2022 (arXiv 2205.10072), 2023 (arXiv 2312.11236)",
    idea: "Segments travel along a circulant graph, whose skips are used in turn, so that after the fewest \
            possible rounds all ranks have all of them.",
    avoid_when: "vectors are too short to be cut into segments.",
    parameters: &[Parameter::Segment],
    requires: &[],
    body: Body::Messages(schedule),
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
    program.build().relabel(root).overlapped(AHEAD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_receives_a_segment_twice() {
        for size in 1..70 {
            let problem = Problem { segments: 5, root: size / 3, ..Problem::new(size) };
            let schedules = (0..size).map(|rank| schedule(&problem, rank));
            let messages: usize = schedules.map(|schedule| schedule.messages_sent()).sum();
            assert_eq!(messages, 5 * (size - 1));
        }
    }
}
