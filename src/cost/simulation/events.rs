//! Messages and ranks in the order of time.
//!
//! A rank goes on by itself until it waits for a message whose time is not known yet. What ranks share, ports, is given
//! away event by event, in the order of time. Of what happens at one time, leaving comes before entering, then the order
//! of ranks on their nodes and of their posts decides, so that nodes which do the same take the same time. Flags are nobody's
//! to give away: who waits for one goes on when it is raised.

use super::network::Network;
use super::program::{Action, Direction};
use super::queue::{Queue, Timed};
use super::signals::Given;
use super::timeline::{Activity, Recorder, Span};
use super::{Prediction, Progress, SimulationError, Stage};
use crate::cost::machine::{Link, Machine, Port};
use std::cmp::Ordering;

/// After so many events the observer is told.
const EVENTS_BETWEEN_TELLING: u64 = 1 << 16;

/// The bit of [`Event::order`] by which messages enter ports after others have left.
const ENTERING: u64 = 1 << 63;

/// Carries out all programs, with blocks of so many bytes where these are not known.
pub fn run(
    network: &Network,
    block_bytes: f64,
    machine: &Machine,
    observe: &mut dyn FnMut(Progress),
) -> Result<Prediction, SimulationError> {
    run_recorded(network, block_bytes, machine, observe, &mut ())
}

/// The same, and tells what ranks and ports do.
pub fn run_recorded(
    network: &Network,
    block_bytes: f64,
    machine: &Machine,
    observe: &mut dyn FnMut(Progress),
    recorder: &mut impl Recorder,
) -> Result<Prediction, SimulationError> {
    let mut run = Run::new(network, block_bytes, machine, recorder);
    run.advance_all();
    for happened in 0.. {
        let Some(event) = run.events.pop() else { break };
        if happened % EVENTS_BETWEEN_TELLING == 0 {
            observe(Progress { stage: Stage::Messages, done: run.done, total: network.ends.len() });
        }
        run.happen(event);
        run.advance_all();
    }
    run.prediction()
}

/// Something happens to a message at a port.
#[derive(Clone, Copy)]
struct Event {
    time: f64,
    order: u64,
    /// Of the sender, if the message is about to leave, else of the receiver.
    post: u32,
}

impl Ord for Event {
    fn cmp(&self, other: &Event) -> Ordering {
        self.time.total_cmp(&other.time).then((self.order, self.post).cmp(&(other.order, other.post)))
    }
}

impl Timed for Event {
    fn time(&self) -> f64 {
        self.time
    }
}

impl PartialOrd for Event {
    fn partial_cmp(&self, other: &Event) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Event {
    fn eq(&self, other: &Event) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Event {}

struct Run<'job, R> {
    network: &'job Network,
    block_bytes: f64,
    machine: &'job Machine,
    ranks: Vec<Rank>,
    /// When each post was started; not a number before.
    started: Vec<f64>,
    /// When each post was complete; not a number before that is known.
    completed: Vec<f64>,
    /// How many packets of each post have yet to pass its port, from when its message may leave.
    packets: Vec<u32>,
    /// From when on each port is free, by direction and by whether messages stay on the node.
    free: [[Vec<f64>; 2]; 2],
    given: Given<'job>,
    /// Ranks that may go on.
    ready: Vec<usize>,
    rounds: Vec<f64>,
    events: Queue<Event>,
    /// How many posts are complete.
    done: usize,
    recorder: &'job mut R,
}

/// How far a rank is.
#[derive(Clone, Default)]
struct Rank {
    time: f64,
    step: usize,
    posts: usize,
    waits: u32,
    /// The posts of its present wait that are not known to be complete; 0 if it does not wait.
    missing: usize,
}

impl<'job, R: Recorder> Run<'job, R> {
    fn new(network: &'job Network, block_bytes: f64, machine: &'job Machine, recorder: &'job mut R) -> Self {
        let ranks = network.programs.len();
        let ports = || vec![0.0; ranks];
        let unknown = vec![f64::NAN; network.ends.len()];
        Run {
            network,
            block_bytes,
            machine,
            ranks: vec![Rank::default(); ranks],
            started: unknown.clone(),
            completed: unknown,
            packets: vec![0; network.ends.len()],
            free: [[ports(), ports()], [ports(), ports()]],
            given: Given::none(&network.signals),
            ready: (0..ranks).rev().collect(),
            rounds: Vec::new(),
            events: Queue::new(),
            done: 0,
            recorder,
        }
    }

    /// Goes on with all ranks that may, also those for which others have just raised flags.
    fn advance_all(&mut self) {
        while let Some(rank) = self.ready.pop() {
            self.advance(rank);
        }
    }

    /// Goes on with a rank's program to the first wait whose end is not known.
    fn advance(&mut self, rank: usize) {
        let program = &self.network.programs[rank];
        while let Some(action) = program.actions.get(self.ranks[rank].step) {
            match action {
                Action::Work(time) => self.work(rank, time.with(self.block_bytes)),
                Action::Post => self.start(rank),
                Action::Give => {
                    let released = self.given.give(rank, self.ranks[rank].time);
                    self.ready.extend(released);
                }
                Action::Expect => match self.given.expect(rank) {
                    Some(given) => self.end_round(rank, given + self.machine.shared().latency),
                    None => return,
                },
                Action::Wait(awaited) => {
                    let awaited = &program.awaited[awaited.start as usize..awaited.end as usize];
                    let number = |&post: &u32| self.network.first[rank] + post as usize;
                    let missing = awaited.iter().filter(|post| self.completed[number(post)].is_nan()).count();
                    self.ranks[rank].missing = missing;
                    if missing > 0 {
                        return;
                    }
                    self.end_wait(rank, awaited);
                }
            }
            self.ranks[rank].step += 1;
        }
    }

    /// A rank's processor is busy for so long.
    fn work(&mut self, rank: usize, time: f64) {
        self.spend(rank, self.ranks[rank].time + time, Activity::Work);
    }

    /// A rank waits for something that is there at some time, if it is not yet.
    fn wait(&mut self, rank: usize, time: f64) {
        self.spend(rank, self.ranks[rank].time.max(time), Activity::Wait);
    }

    fn spend(&mut self, rank: usize, end: f64, activity: Activity) {
        let start = std::mem::replace(&mut self.ranks[rank].time, end);
        self.recorder.spent(rank, Span { start, end, activity });
    }

    /// Starts a rank's next post. Its message may leave once the sender has done its part and, if it is long, once the
    /// receiver has answered.
    fn start(&mut self, rank: usize) {
        let number = self.network.first[rank] + self.ranks[rank].posts;
        self.ranks[rank].posts += 1;
        let is_send = self.is_send(number);
        let link = self.link(number);
        let is_eager = self.bytes(number) <= link.eager_limit as f64;
        let (latency, overhead) = (self.hockney(number).0, link.overhead);
        if is_send {
            self.work(rank, overhead);
        }
        let time = self.ranks[rank].time;
        self.started[number] = time;
        let partner = self.network.ends[number].partner as usize;
        let other = self.started[partner];
        match is_send {
            true if is_eager => self.leave(number, time),
            false if is_eager => {}
            _ if other.is_nan() => {}
            true => self.leave(number, (time + latency).max(other) + latency),
            false => self.leave(partner, (other + latency).max(time) + latency),
        }
    }

    /// A message is ready to leave.
    fn leave(&mut self, send: usize, time: f64) {
        let packets = self.link(send).packets(self.bytes(send));
        (self.packets[send], self.packets[self.network.ends[send].partner as usize]) = (packets, packets);
        self.events.push(Event { time, order: self.order(send), post: send as u32 });
    }

    /// A packet passes a port. Behind it queue what came to the port before, and then its message's next one.
    fn happen(&mut self, event: Event) {
        let number = event.post as usize;
        let (link, (latency, byte_time)) = (self.link(number), self.hockney(number));
        let (bytes, is_entering) = (self.bytes(number), event.order & ENTERING != 0);
        let packets = link.packets(bytes);
        let transfer = bytes * byte_time / f64::from(packets);
        let gap = if self.packets[number] == packets { link.gap } else { 0.0 };
        let free = self.port(number);
        let begin = event.time.max(*free);
        *free = begin + transfer.max(gap);
        self.packets[number] -= 1;
        let end = begin + transfer;
        self.recorder.passes(number, begin, end);
        if !is_entering {
            let receive = self.network.ends[number].partner;
            let order = self.order(receive as usize) | ENTERING;
            self.events.push(Event { time: begin + latency, order, post: receive });
        }
        match self.packets[number] {
            0 => self.complete(number, end),
            _ if is_entering => {}
            _ => self.events.push(Event { time: end, ..event }),
        }
    }

    /// Notes when a post is complete. Whoever waits for nothing else goes on.
    fn complete(&mut self, number: usize, time: f64) {
        self.completed[number] = time;
        self.done += 1;
        let rank = self.network.ends[number].rank as usize;
        let wait = self.network.ends[number].wait;
        let state = &mut self.ranks[rank];
        if state.missing > 0 && wait <= state.waits {
            state.missing -= 1;
            if state.missing == 0 {
                self.ready.push(rank);
            }
        }
    }

    /// Of the messages that a wait awaits, the processor handles each when it has arrived.
    fn end_wait(&mut self, rank: usize, awaited: &[u32]) {
        let first = self.network.first[rank];
        let mut time = self.ranks[rank].time;
        let mut arrived: Vec<(f64, f64)> = Vec::new();
        for number in awaited.iter().map(|&post| first + post as usize) {
            let overhead = self.link(number).overhead;
            match self.network.ends[number].direction {
                Direction::Receive if overhead > 0.0 => arrived.push((self.completed[number], overhead)),
                _ => time = time.max(self.completed[number]),
            }
        }
        arrived.sort_unstable_by(|one, other| one.0.total_cmp(&other.0));
        for (arrival, overhead) in arrived {
            self.wait(rank, arrival);
            self.work(rank, overhead);
        }
        self.end_round(rank, time);
    }

    /// Ends a wait for what was there at some time.
    fn end_round(&mut self, rank: usize, time: f64) {
        self.wait(rank, time);
        let state = &mut self.ranks[rank];
        let round = state.waits as usize;
        state.waits += 1;
        let end = state.time;
        if self.rounds.len() <= round {
            self.rounds.resize(round + 1, 0.0);
        }
        self.rounds[round] = self.rounds[round].max(end);
    }

    fn is_send(&self, number: usize) -> bool {
        self.network.ends[number].direction == Direction::Send
    }

    fn bytes(&self, number: usize) -> f64 {
        self.network.ends[number].bytes.with(self.block_bytes)
    }

    fn link(&self, number: usize) -> &'job Link {
        let machine = self.machine;
        if self.network.ends[number].is_within { &machine.within } else { &machine.between }
    }

    fn hockney(&self, number: usize) -> (f64, f64) {
        self.link(number).hockney(self.network.ends[number].is_unidirectional)
    }

    /// From when on a post's port is free.
    fn port(&mut self, number: usize) -> &mut f64 {
        let end = self.network.ends[number];
        let port = match self.link(number).port {
            Port::Rank => end.rank,
            Port::Node => self.network.places[end.rank as usize].node,
        };
        let is_send = self.is_send(number);
        &mut self.free[usize::from(is_send)][usize::from(end.is_within)][port as usize]
    }

    /// The place of a post's event among those of the same time.
    fn order(&self, number: usize) -> u64 {
        let rank = self.network.ends[number].rank as usize;
        let post = number - self.network.first[rank];
        u64::from(self.network.places[rank].local) << 32 | post as u64
    }

    fn prediction(self) -> Result<Prediction, SimulationError> {
        let waits_for_ever =
            |&rank: &usize| self.ranks[rank].step < self.network.programs[rank].actions.len();
        match (0..self.ranks.len()).find(waits_for_ever) {
            Some(rank) => Err(SimulationError::Deadlock { rank }),
            None => Ok(Prediction {
                ranks: self.ranks.iter().map(|rank| rank.time).collect(),
                rounds: self.rounds,
                ..self.network.traffic(self.block_bytes)
            }),
        }
    }
}
