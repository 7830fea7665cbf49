//! What each rank does when.
//!
//! A rank's processor works or waits; meanwhile its ports carry messages.

use super::Prediction;
use super::charge::Charge;
use super::instant::Instant;
use super::network::Network;
use super::program::Direction;

/// What all ranks do in one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Timeline {
    /// When all ranks are done.
    pub seconds: f64,
    /// The spans of each rank, sorted by start. Spans of work and waiting follow each other until the rank is
    /// done.
    pub ranks: Vec<Vec<Span>>,
}

/// An activity of a rank and its time, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    pub start: f64,
    pub end: f64,
    pub activity: Activity,
}

/// What a rank, or a port of it or of its node, does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Activity {
    /// A message, or some packets of it, leaves through the sender's port.
    Send {
        /// The receiver.
        peer: usize,
        /// Bytes of these packets.
        bytes: f64,
    },
    /// A message, or some packets of it, enters through the receiver's port.
    Receive {
        /// The sender.
        peer: usize,
        /// Bytes of these packets.
        bytes: f64,
    },
    /// The processor copies, reduces, reads in slots, or handles a message.
    Work,
    /// The rank is idle until something that it needs is there.
    Wait,
}

/// Records what happens in a simulation.
pub trait Recorder {
    /// How the recorder represents moments.
    type Instant: Instant;

    /// Returns the moment `seconds` after `instant`; `charge` is what takes that time.
    fn after(&mut self, instant: Self::Instant, charge: Charge, seconds: f64) -> Self::Instant;

    /// Records that a rank has worked or waited, if the span is not empty.
    fn spent(&mut self, _rank: usize, _span: Span) {}

    /// Records that a packet passes the port of a post.
    fn passes(&mut self, _post: usize, _start: f64, _end: f64) {}
}

/// Records nothing.
impl Recorder for () {
    type Instant = f64;

    fn after(&mut self, instant: f64, _: Charge, seconds: f64) -> f64 {
        instant + seconds
    }
}

/// What happened, by rank and by post.
pub struct Records {
    /// When each rank worked or waited.
    spent: Vec<Vec<Span>>,
    /// What passed the port of each post.
    passages: Vec<Vec<Passage>>,
}

/// Packets of one message that pass a port without a gap.
#[derive(Clone)]
struct Passage {
    start: f64,
    end: f64,
    packets: usize,
}

impl Records {
    pub fn of(network: &Network) -> Records {
        Records {
            spent: vec![Vec::new(); network.programs.len()],
            passages: vec![Vec::new(); network.ends.len()],
        }
    }

    /// Returns what each rank did when. The run must have had blocks of known lengths.
    pub fn timeline(self, network: &Network, prediction: &Prediction) -> Timeline {
        let mut ranks = self.spent;
        for (post, passages) in network.ends.iter().zip(&self.passages) {
            let all_packets: usize = passages.iter().map(|passage| passage.packets).sum();
            let (kind, peer) = (network.kind(post), network.ends[post.partner as usize].rank as usize);
            ranks[post.rank as usize].extend(passages.iter().map(|&Passage { start, end, packets }| {
                let bytes = kind.bytes.with(1.0) * packets as f64 / all_packets as f64;
                let activity = match kind.direction {
                    Direction::Send => Activity::Send { peer, bytes },
                    Direction::Receive => Activity::Receive { peer, bytes },
                };
                Span { start, end, activity }
            }));
        }
        for spans in &mut ranks {
            spans.sort_by(|one, other| one.start.total_cmp(&other.start));
        }
        Timeline { seconds: prediction.time(), ranks }
    }
}

impl Recorder for Records {
    type Instant = f64;

    fn after(&mut self, instant: f64, _: Charge, seconds: f64) -> f64 {
        instant + seconds
    }

    fn spent(&mut self, rank: usize, span: Span) {
        if span.start < span.end {
            self.spent[rank].push(span);
        }
    }

    fn passes(&mut self, post: usize, start: f64, end: f64) {
        match self.passages[post].last_mut() {
            Some(last) if start <= last.end * (1.0 + ROUNDING) => {
                (last.end, last.packets) = (end, last.packets + 1);
            }
            _ => self.passages[post].push(Passage { start, end, packets: 1 }),
        }
    }
}

/// The largest relative difference between the end of a packet and the start of one that follows directly:
/// both are sums of the same times in another order.
const ROUNDING: f64 = 1e-12;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective::{Allgather, Allreduce, Bcast};
    use crate::algorithms::{Algorithm, Problem, REGISTRY};
    use crate::cost::simulation::{Simulation, SimulationError};
    use crate::cost::{Link, Machine, Processor, Shared};
    use crate::verify::problems;
    use Activity::{Receive, Send, Wait, Work};

    /// Bytes that give exact times, which can be compared for equality.
    const BYTES: usize = 240;

    /// Machines with several ranks on a node, and with one. Several ranks have shared memory, overhead, gap
    /// and packets.
    fn machines() -> [Machine; 3] {
        let hockney = Machine::hockney(64.0, 2.0, 0.5);
        let link = Link { overhead: 1.0, gap: 10.0, eager_limit: 20, packet: 8, ..hockney.between };
        let rich = Machine {
            ranks_per_node: 2,
            tcp: false,
            between: link,
            within: Link { latency: 4.0, byte_time: 0.5.into(), ..hockney.within },
            shared: Some(Shared::copying_twice(2.0, 0.25.into())),
            processor: Processor {
                reduce_time: 0.25.into(),
                copy_time: 0.125.into(),
                ..Processor::default()
            },
            beyond: Default::default(),
            groups: None,
        };
        [Machine { ranks_per_node: 8, ..rich.clone() }, rich, hockney]
    }

    fn timeline(
        algorithm: &'static Algorithm,
        problem: &Problem,
        bytes: usize,
        machine: &Machine,
    ) -> Timeline {
        Simulation::new(algorithm.contract(), algorithm, problem, machine).unwrap().timeline(bytes).unwrap()
    }

    /// Calls `check` for every algorithm on every machine that it can serve, with its prediction.
    fn for_each_sample(check: impl Fn(&Timeline, &Prediction, &str)) {
        for algorithm in REGISTRY {
            for size in [5, 8] {
                for problem in problems(algorithm, size).iter().step_by(7) {
                    for machine in &machines() {
                        let mut simulation =
                            match Simulation::new(algorithm.contract(), algorithm, problem, machine) {
                                Err(SimulationError::DoesNotServe(_)) => continue,
                                other => other.unwrap(),
                            };
                        let label = format!("{}, {problem:?}", algorithm.title());
                        let prediction = match simulation.predict(BYTES) {
                            Err(SimulationError::DoesNotServe(_)) => continue,
                            other => other.unwrap(),
                        };
                        check(&simulation.timeline(BYTES).unwrap(), &prediction, &label);
                    }
                }
            }
        }
    }

    #[test]
    fn ranks_are_done_when_it_is_predicted() {
        for_each_sample(|timeline, prediction, label| {
            assert_eq!(timeline.seconds, prediction.time(), "{label}");
            for (rank, spans) in timeline.ranks.iter().enumerate() {
                let last = spans.iter().map(|span| span.end).fold(0.0, f64::max);
                assert_eq!(last, prediction.of_rank(rank), "{label}, rank {rank}");
            }
        });
    }

    /// On more than 32 ranks, blocks have the mean length, which here is no whole number of bytes.
    #[test]
    fn many_ranks_are_done_when_it_is_predicted() {
        for name in ["circulant", "binary_blocks", "ring"] {
            let algorithm = Allreduce.algorithm(name).unwrap();
            for machine in &machines() {
                for bytes in [1000, 30] {
                    let mut simulation =
                        Simulation::new(algorithm.contract(), algorithm, &Problem::new(45), machine).unwrap();
                    let predicted = simulation.predict(bytes).unwrap().time();
                    let seconds = simulation.timeline(bytes).unwrap().seconds;
                    assert!((seconds / predicted - 1.0).abs() < 1e-9, "{name}, {bytes} bytes");
                }
            }
        }
    }

    /// Some of these blocks share programs, as they pass slots in equal stripes; others do not.
    #[test]
    fn blocks_in_slots_are_done_when_it_is_predicted() {
        for (collective, name) in [(Allgather, "shared_leaders"), (Allreduce, "shared_multi_leaders")] {
            let algorithm = collective.algorithm(name).unwrap();
            for machine in &machines()[..2] {
                let mut simulation =
                    Simulation::new(collective, algorithm, &Problem::new(64), machine).unwrap();
                for bytes in [1, 16, 64, 1 << 10, 3 << 10, 1 << 14, 1 << 16, 1 << 18, 1 << 20] {
                    let predicted = simulation.predict(bytes).unwrap().time();
                    let seconds = simulation.timeline(bytes).unwrap().seconds;
                    assert!((seconds / predicted - 1.0).abs() < 1e-9, "{name}, {bytes} bytes");
                }
            }
        }
    }

    #[test]
    fn a_processor_works_or_waits() {
        for_each_sample(|timeline, prediction, label| {
            for (rank, spans) in timeline.ranks.iter().enumerate() {
                let mut time = 0.0;
                for span in spans.iter().filter(|span| matches!(span.activity, Work | Wait)) {
                    assert_eq!(span.start, time, "{label}, rank {rank}");
                    time = span.end;
                }
                assert_eq!(time, prediction.of_rank(rank), "{label}, rank {rank}");
            }
        });
    }

    #[test]
    fn what_leaves_arrives() {
        for_each_sample(|timeline, prediction, label| {
            let size = timeline.ranks.len();
            let (mut sent, mut received) = (vec![0.0; size * size], vec![0.0; size * size]);
            for (rank, span) in timeline
                .ranks
                .iter()
                .enumerate()
                .flat_map(|(rank, spans)| spans.iter().map(move |span| (rank, span)))
            {
                match span.activity {
                    Send { peer, bytes } => sent[rank * size + peer] += bytes,
                    Receive { peer, bytes } => received[peer * size + rank] += bytes,
                    Work | Wait => {}
                }
            }
            let total: f64 = sent.iter().sum();
            let close = |one: f64, other: f64| (one - other).abs() < 1e-6;
            assert!(sent.iter().zip(&received).all(|(sent, received)| close(*sent, *received)), "{label}");
            assert!(close(total, prediction.within.bytes + prediction.between.bytes), "{label}");
        });
    }

    fn span(start: f64, end: f64, activity: Activity) -> Span {
        Span { start, end, activity }
    }

    #[test]
    fn a_broadcast_goes_down_its_tree() {
        let machine = Machine::hockney(64.0, 2.0, 0.0);
        let found = timeline(Bcast.algorithm("binomial").unwrap(), &Problem::new(4), 8, &machine);
        let (send, receive) = (|peer| Send { peer, bytes: 8.0 }, |peer| Receive { peer, bytes: 8.0 });
        let expected = [
            vec![span(0.0, 32.0, Wait), span(0.0, 16.0, send(2)), span(16.0, 32.0, send(1))],
            vec![span(0.0, 96.0, Wait), span(80.0, 96.0, receive(0))],
            vec![
                span(0.0, 80.0, Wait),
                span(64.0, 80.0, receive(0)),
                span(80.0, 96.0, Wait),
                span(80.0, 96.0, send(3)),
            ],
            vec![span(0.0, 160.0, Wait), span(144.0, 160.0, receive(2))],
        ];
        assert_eq!(found, Timeline { seconds: 160.0, ranks: expected.to_vec() });
    }

    #[test]
    fn a_ring_turns_step_by_step() {
        let machine = Machine::hockney(64.0, 2.0, 0.0);
        let found = timeline(Allgather.algorithm("ring").unwrap(), &Problem::new(3), 8, &machine);
        assert_eq!(found.seconds, 2.0 * (64.0 + 16.0));
        for (rank, spans) in found.ranks.iter().enumerate() {
            let (next, previous) = ((rank + 1) % 3, (rank + 2) % 3);
            let step = |start: f64| {
                [
                    span(start, start + 80.0, Wait),
                    span(start, start + 16.0, Send { peer: next, bytes: 8.0 }),
                    span(start + 64.0, start + 80.0, Receive { peer: previous, bytes: 8.0 }),
                ]
            };
            assert_eq!(*spans, [step(0.0), step(80.0)].concat(), "rank {rank}");
        }
    }

    #[test]
    fn packets_are_told_together_unless_others_come_between() {
        let hockney = Machine::hockney(64.0, 2.0, 0.0);
        let machine = Machine { between: Link { packet: 4, ..hockney.between }, ..hockney };
        let linear = Bcast.algorithm("linear").unwrap();
        let alone = timeline(linear, &Problem::new(2), 8, &machine);
        assert_eq!(alone.ranks[0][1..], [span(0.0, 16.0, Send { peer: 1, bytes: 8.0 })]);
        let shared = timeline(linear, &Problem::new(3), 8, &machine);
        let packet = |start, peer| span(start, start + 8.0, Send { peer, bytes: 4.0 });
        assert_eq!(shared.ranks[0][1..], [packet(0.0, 1), packet(8.0, 2), packet(16.0, 1), packet(24.0, 2)]);
    }

    #[test]
    fn symmetry_stands_for_nobody() {
        let machine = Machine::hockney(64.0, 2.0, 0.0);
        let ring = Allgather.algorithm("ring").unwrap();
        let found = timeline(ring, &Problem::new(48), 8, &machine);
        assert_eq!((found.ranks.len(), found.seconds), (48, 47.0 * 80.0));
    }

    #[test]
    fn more_ranks_than_can_be_looked_at_are_refused() {
        let machine = Machine::hockney(64.0, 2.0, 0.0);
        let binomial = Bcast.algorithm("binomial").unwrap();
        let simulation = Simulation::new(Bcast, binomial, &Problem::new(1025), &machine).unwrap();
        let error = simulation.timeline(8).unwrap_err();
        assert_eq!(error, SimulationError::TooManyRanks(1025));
        assert_eq!(error.to_string(), "1025 ranks are too many for a timeline; it shows at most 1024");
    }
}
