//! Messages and ranks in the order of time.
//!
//! A rank goes on by itself until it waits for a message whose time is not known yet. Ports, which ranks
//! share, are assigned event by event, in the order of time. At equal times, leaving comes before entering.
//! Then the order of ranks on their nodes and of their posts decides, so that nodes that do the same take the
//! same time. Flags need no port: a rank that waits for a flag goes on when it is raised.

use super::charge::{Charge, Charged, Level, overhead};
use super::instant::Instant;
use super::network::{Network, PostKind};
use super::program::{Action, Direction, Work};
use super::queue::{Queue, Timed};
use super::signals::GivenSignals;
use super::timeline::{Activity, Recorder, Span};
use super::{Prediction, Progress, SimulationError, Stage};
use crate::cost::machine::{Link, Machine, Port, Shared};
use std::cmp::Ordering;
use std::collections::VecDeque;

/// The observer is called once in so many events.
const EVENTS_BETWEEN_TELLING: u64 = 1 << 16;

/// The bit of [`Event::order`] that puts entering a port behind leaving one.
const ENTERING: u64 = 1 << 63;

/// The bytes of a call.
#[derive(Clone, Copy)]
pub struct Bytes {
    /// Of a block, where the programs leave its length open.
    pub block: f64,
    /// Of the whole call, in the rank that has most of them.
    pub held: f64,
}

/// Carries out all programs. Fails with [`SimulationError::TooSlow`] if that takes more than `limit` seconds.
pub fn run(
    network: &Network,
    bytes: Bytes,
    machine: &Machine,
    limit: f64,
    observe: &mut dyn FnMut(Progress),
) -> Result<Prediction, SimulationError> {
    run_recorded(network, bytes, machine, limit, observe, &mut ()).map(|(prediction, _)| prediction)
}

/// As [`run`], but reports to `recorder` what ranks and ports do. Also returns when each rank is done.
pub fn run_recorded<R: Recorder>(
    network: &Network,
    bytes: Bytes,
    machine: &Machine,
    limit: f64,
    observe: &mut dyn FnMut(Progress),
    recorder: &mut R,
) -> Result<(Prediction, Vec<R::Instant>), SimulationError> {
    let mut run = Run::new(network, bytes, machine, recorder);
    run.obtain_scratch();
    run.advance_all();
    for happened in 0.. {
        let Some(event) = run.events.pop() else { break };
        if event.time() > limit {
            return Err(SimulationError::TooSlow);
        }
        if happened % EVENTS_BETWEEN_TELLING == 0 {
            observe(Progress { stage: Stage::Messages, done: run.done, total: network.ends.len() });
        }
        match event.what {
            What::Packet(post) => run.happen(event, post as usize),
            What::Reading(rank) => run.read_with_others(rank as usize),
        }
        run.advance_all();
    }
    run.prediction()
}

/// Something may take what others share with it.
#[derive(Clone, Copy)]
struct Event<T> {
    time: T,
    order: u64,
    what: What,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    /// A packet of a message is ready to pass a port: of the sender's post if it leaves, of the receiver's if it enters.
    Packet(u32),
    /// A rank is ready to read in slots of others.
    Reading(u32),
}

impl<T: Instant> Ord for Event<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        let [one, two] = [self.time, other.time].map(Instant::seconds);
        one.total_cmp(&two).then((self.order, self.what).cmp(&(other.order, other.what)))
    }
}

impl<T: Instant> Timed for Event<T> {
    fn time(&self) -> f64 {
        self.time.seconds()
    }
}

impl<T: Instant> PartialOrd for Event<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Instant> PartialEq for Event<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Instant> Eq for Event<T> {}

struct Run<'job, R: Recorder> {
    network: &'job Network,
    bytes: Bytes,
    machine: &'job Machine,
    /// Asked for once, because what the machine does not state is derived.
    shared: Shared,
    /// What each byte of work costs.
    work_times: [(Charged, f64); 5],
    ranks: Vec<Rank<R::Instant>>,
    posts: Vec<Post<R::Instant>>,
    /// What posts of each kind cost.
    costs: Vec<Cost<'job>>,
    /// By direction and by whether messages stay on the node.
    ports: [[Vec<PortState<R::Instant>>; 2]; 2],
    /// When what all messages of a node share is free again, as `ports`.
    nodes_free: [[Vec<R::Instant>; 2]; 2],
    /// When the ranks of each node may read in slots again.
    nodes_read: Vec<R::Instant>,
    given: GivenSignals<'job, R::Instant>,
    /// Ranks that may go on.
    ready: Vec<usize>,
    rounds: Vec<f64>,
    events: Queue<Event<R::Instant>>,
    /// How many posts are complete.
    done: usize,
    recorder: &'job mut R,
}

/// The progress of a port.
#[derive(Clone)]
struct PortState<T> {
    /// When it is free again.
    free: T,
    /// Where messages of a node share more than ports: the packets that wait for this port. The first one is also among the
    /// events, at the time at which it may pass.
    waiting: VecDeque<Event<T>>,
}

/// The progress of a post.
#[derive(Clone)]
struct Post<T> {
    /// When it was started; unknown before.
    started: T,
    /// When it was complete; unknown before.
    completed: T,
    /// How many packets have yet to pass its port; set when its message may leave.
    packets: u32,
}

/// The cost of the posts of a kind in a run.
struct Cost<'job> {
    direction: Direction,
    level: Level,
    /// Under which parameter its passing of a port is charged.
    passing: Charged,
    /// The processor's part, and how long it takes.
    overhead: (Charged, f64),
    link: &'job Link,
    bytes: f64,
    packets: u32,
    latency: f64,
    /// Seconds for each byte.
    byte_time: f64,
    crossing: f64,
}

impl<'job> Cost<'job> {
    fn of(kind: &PostKind, bytes: Bytes, machine: &'job Machine) -> Self {
        let level = Level::of(kind.is_within);
        let link = if kind.is_within { &machine.within } else { &machine.between };
        let bytes = kind.bytes.with(bytes.block);
        let (latency, byte_time) = link.hockney(bytes, kind.company);
        let (packets, crossing) = (link.packets(bytes), f64::from(kind.crossing));
        let passing = match link.is_exchanged(kind.company) {
            true => Charged::Exchange(level),
            false => Charged::Transfer(level),
        };
        let direction = kind.direction;
        let overhead = overhead(link, level, direction, kind.repeats);
        Cost { direction, level, passing, overhead, link, bytes, packets, latency, byte_time, crossing }
    }

    fn is_send(&self) -> bool {
        self.direction == Direction::Send
    }

    /// Returns the indices of a port in [`Run::ports`]: its direction and its level.
    fn index(&self) -> (usize, usize) {
        (usize::from(self.is_send()), usize::from(self.level == Level::Within))
    }
}

/// The progress of a rank.
#[derive(Clone)]
struct Rank<T> {
    time: T,
    step: usize,
    posts: usize,
    waits: u32,
    /// How many posts of its present wait are not complete; 0 if it does not wait.
    missing: usize,
}

impl<'job, R: Recorder> Run<'job, R> {
    fn new(network: &'job Network, bytes: Bytes, machine: &'job Machine, recorder: &'job mut R) -> Self {
        let ranks = network.programs.len();
        let nodes = || vec![R::Instant::BEGIN; ranks];
        let ports = || vec![PortState { free: R::Instant::BEGIN, waiting: VecDeque::new() }; ranks];
        let unknown = Post { started: R::Instant::UNKNOWN, completed: R::Instant::UNKNOWN, packets: 0 };
        let begin = Rank { time: R::Instant::BEGIN, step: 0, posts: 0, waits: 0, missing: 0 };
        Run {
            network,
            bytes,
            machine,
            shared: machine.shared(),
            work_times: Work::times(machine, bytes.held),
            ranks: vec![begin; ranks],
            posts: vec![unknown; network.ends.len()],
            costs: network.kinds.iter().map(|kind| Cost::of(kind, bytes, machine)).collect(),
            ports: [[ports(), ports()], [ports(), ports()]],
            nodes_free: [[nodes(), nodes()], [nodes(), nodes()]],
            nodes_read: nodes(),
            given: GivenSignals::none(&network.signals),
            ready: (0..ranks).rev().collect(),
            rounds: Vec::new(),
            events: Queue::new(),
            done: 0,
            recorder,
        }
    }

    /// Charges scratch memory that a rank does not keep from call to call: the system hands it out.
    fn obtain_scratch(&mut self) {
        let processor = &self.machine.processor;
        for (rank, program) in self.network.programs.iter().enumerate() {
            let amount = program.scratch.with(self.bytes.block);
            if amount > processor.kept as f64 {
                let charge = Charge { what: Charged::Fresh, bytes: self.bytes.held, amount };
                self.spend(rank, charge, amount * processor.fresh_time.at(self.bytes.held));
            }
        }
    }

    /// Goes on with all ranks that may, including those whose awaited flags are raised meanwhile.
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
                Action::Work(work) if self.reads_with_others(work) => {
                    let order = self.order_on_node(rank);
                    let time = self.ranks[rank].time;
                    self.events.push(Event { time, order, what: What::Reading(rank as u32) });
                    return;
                }
                Action::Work(work) => self.work(rank, work),
                Action::Post => self.start(rank),
                Action::Give => {
                    self.handle_flag(rank);
                    let released = self.given.give(rank, self.ranks[rank].time);
                    self.ready.extend(released);
                }
                Action::Expect => match self.given.expect(rank) {
                    Some(given) => {
                        let seen = self.recorder.after(given, once(Charged::Flag), self.shared.latency);
                        self.end_round(rank, seen);
                        self.handle_flag(rank);
                    }
                    None => return,
                },
                Action::Wait(awaited) => {
                    let awaited = &program.awaited[awaited.start as usize..awaited.end as usize];
                    let number = |&post: &u32| self.network.first[rank] + post as usize;
                    let missing =
                        awaited.iter().filter(|post| !self.posts[number(post)].completed.is_known()).count();
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

    /// Charges a rank's processor for copies, reductions and reads.
    fn work(&mut self, rank: usize, work: &Work) {
        let bytes = self.bytes.held;
        for (amount, (what, time)) in work.amounts().into_iter().zip(self.work_times) {
            let amount = amount.with(self.bytes.block);
            self.spend(rank, Charge { what, bytes, amount }, amount * time);
        }
    }

    /// Returns whether ranks of a node share what this work takes.
    fn reads_with_others(&self, work: &Work) -> bool {
        !self.shared.node_byte_time.is_none() && self.bytes_from_slots(work) > 0.0
    }

    fn bytes_from_slots(&self, work: &Work) -> f64 {
        work.in_slots().into_iter().map(|amount| amount.with(self.bytes.block)).sum()
    }

    /// Lets a rank read when what its node shares is free, and go on.
    fn read_with_others(&mut self, rank: usize) {
        let Action::Work(work) = &self.network.programs[rank].actions[self.ranks[rank].step] else {
            unreachable!("the rank came to a work that reads")
        };
        let (amount, bytes) = (self.bytes_from_slots(work), self.bytes.held);
        let node = self.network.places[rank].node as usize;
        let charge = Charge { what: Charged::NodeReading, bytes, amount };
        let seconds = amount * self.shared.node_byte_time.at(bytes);
        let free = &mut self.nodes_read[node];
        let begin = take(self.recorder, free, self.ranks[rank].time, charge, seconds);
        self.wait(rank, begin);
        self.work(rank, work);
        self.ranks[rank].step += 1;
        self.ready.push(rank);
    }

    /// Charges a rank's processor for a flag that it raises or sees.
    fn handle_flag(&mut self, rank: usize) {
        self.spend(rank, once(Charged::FlagOverhead), self.shared.overhead);
    }

    /// Keeps a rank's processor busy for so long.
    fn spend(&mut self, rank: usize, charge: Charge, seconds: f64) {
        let end = self.recorder.after(self.ranks[rank].time, charge, seconds);
        self.go_to(rank, end, Activity::Work);
    }

    /// Lets a rank wait until `time`, unless it is already later.
    fn wait(&mut self, rank: usize, time: R::Instant) {
        self.go_to(rank, self.ranks[rank].time.or_later(time), Activity::Wait);
    }

    fn go_to(&mut self, rank: usize, end: R::Instant, activity: Activity) {
        let start = std::mem::replace(&mut self.ranks[rank].time, end);
        self.recorder.spent(rank, Span { start: start.seconds(), end: end.seconds(), activity });
    }

    /// Starts a rank's next post. Its message may leave once the sender has spent its overhead and, if the
    /// message is longer than the eager limit, once the receiver has answered.
    fn start(&mut self, rank: usize) {
        let number = self.network.first[rank] + self.ranks[rank].posts;
        self.ranks[rank].posts += 1;
        let &Cost { link, overhead, bytes, .. } = self.cost(number);
        let is_send = self.cost(number).is_send();
        let is_eager = bytes <= link.eager_limit as f64;
        if is_send {
            self.spend(rank, once(overhead.0), overhead.1);
        }
        let time = self.ranks[rank].time;
        self.posts[number].started = time;
        let partner = self.network.ends[number].partner as usize;
        let other = self.posts[partner].started;
        let (send, send_time, receive_time) = match is_send {
            true if is_eager => return self.leave(number, time),
            false if is_eager => return,
            _ if !other.is_known() => return,
            true => (number, time, other),
            false => (partner, other, time),
        };
        let asked = self.under_way(number, send_time).or_later(receive_time);
        let answered = self.under_way(number, asked);
        self.leave(send, answered);
    }

    /// Returns when the head of something sent at `sent` from one end of a message reaches the other end.
    fn under_way(&mut self, number: usize, sent: R::Instant) -> R::Instant {
        let &Cost { latency, level, crossing: amount, .. } = self.cost(number);
        let arrived = self.recorder.after(sent, once(Charged::Latency(level)), latency);
        let crossing = Charge { what: Charged::Crossing, bytes: 0.0, amount };
        self.recorder.after(arrived, crossing, amount * self.machine.between.group_latency)
    }

    /// Notes that a message is ready to leave.
    fn leave(&mut self, send: usize, time: R::Instant) {
        let packets = self.cost(send).packets;
        self.posts[send].packets = packets;
        self.posts[self.network.ends[send].partner as usize].packets = packets;
        self.events.push(Event { time, order: self.order(send), what: What::Packet(send as u32) });
    }

    /// Lets a packet pass a port, once it is its turn. Behind it queue packets that came to the port earlier, then the next one
    /// of its message.
    fn happen(&mut self, event: Event<R::Instant>, number: usize) {
        let &Cost { link, level, passing, bytes, packets, byte_time, .. } = self.cost(number);
        let is_entering = event.order & ENTERING != 0;
        let has_port = is_entering || link.port != Port::Receiver;
        let queues = has_port && !link.node_byte_time.is_none();
        if queues && !self.takes_turn(event, number) {
            return;
        }
        let transfer = bytes * byte_time / f64::from(packets);
        let gap = if self.posts[number].packets == packets { link.gap } else { 0.0 };
        let amount = bytes / f64::from(packets);
        let ready = if has_port { event.time.or_later(self.port(number).free) } else { event.time };
        let begin =
            self.pass_node(number, ready, Charge { what: Charged::NodeTransfer(level), bytes, amount });
        let passing = Charge { what: passing, bytes, amount };
        let end = self.recorder.after(begin, passing, transfer);
        if has_port {
            self.port(number).free = match gap > transfer {
                true => self.recorder.after(begin, once(Charged::Gap(level)), gap),
                false => end,
            };
        }
        if queues {
            self.call_next(number);
        }
        self.posts[number].packets -= 1;
        self.recorder.passes(number, begin.seconds(), end.seconds());
        if !is_entering {
            let receive = self.network.ends[number].partner;
            let order = self.order(receive as usize) | ENTERING;
            let time = self.under_way(number, begin);
            self.events.push(Event { time, order, what: What::Packet(receive) });
        }
        match self.posts[number].packets {
            0 => self.complete(number, end),
            _ if is_entering => {}
            _ => self.events.push(Event { time: end, ..event }),
        }
    }

    /// Returns whether a packet may pass its port now. Otherwise it waits in the port's queue: if it took already what all
    /// messages of its node share, it would keep others from it as long as its port is busy.
    fn takes_turn(&mut self, event: Event<R::Instant>, number: usize) -> bool {
        let port = self.port(number);
        if port.waiting.front() == Some(&event) {
            port.waiting.pop_front();
            return true;
        }
        let is_first = port.waiting.is_empty();
        if is_first && port.free.seconds() <= event.time() {
            return true;
        }
        port.waiting.push_back(event);
        if is_first {
            self.call_next(number);
        }
        false
    }

    /// Lets the first packet that waits for a post's port pass when the port is free.
    fn call_next(&mut self, number: usize) {
        let port = self.port(number);
        let free = port.free;
        if let Some(next) = port.waiting.front_mut() {
            next.time = next.time.or_later(free);
            let next = *next;
            self.events.push(next);
        }
    }

    /// Notes that a post is complete. Its rank goes on if it waits for nothing else.
    fn complete(&mut self, number: usize, time: R::Instant) {
        self.posts[number].completed = time;
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

    /// Ends a wait for messages. The processor handles each received message when it has arrived.
    fn end_wait(&mut self, rank: usize, awaited: &[u32]) {
        let first = self.network.first[rank];
        let mut time = self.ranks[rank].time;
        let mut arrived: Vec<(R::Instant, usize)> = Vec::new();
        for number in awaited.iter().map(|&post| first + post as usize) {
            let completed = self.posts[number].completed;
            let cost = self.cost(number);
            match cost.direction {
                Direction::Receive if cost.overhead.1 > 0.0 => arrived.push((completed, number)),
                _ => time = time.or_later(completed),
            }
        }
        arrived.sort_by(|one, other| one.0.seconds().total_cmp(&other.0.seconds()));
        for (arrival, number) in arrived {
            self.wait(rank, arrival);
            let (charged, seconds) = self.cost(number).overhead;
            self.spend(rank, once(charged), seconds);
        }
        self.end_round(rank, time);
    }

    /// Ends a wait for something that was there at `time`.
    fn end_round(&mut self, rank: usize, time: R::Instant) {
        self.wait(rank, time);
        let state = &mut self.ranks[rank];
        let round = state.waits as usize;
        state.waits += 1;
        let end = state.time.seconds();
        if self.rounds.len() <= round {
            self.rounds.resize(round + 1, 0.0);
        }
        self.rounds[round] = self.rounds[round].max(end);
    }

    fn cost(&self, number: usize) -> &Cost<'job> {
        &self.costs[self.network.ends[number].kind as usize]
    }

    /// Returns when a packet begins to pass what all messages of a node share.
    fn pass_node(&mut self, number: usize, ready: R::Instant, charge: Charge) -> R::Instant {
        let cost = self.cost(number);
        let (byte_time, (direction, level)) = (cost.link.node_byte_time, cost.index());
        if byte_time.is_none() {
            return ready;
        }
        let node = self.network.places[self.network.ends[number].rank as usize].node;
        let free = &mut self.nodes_free[direction][level][node as usize];
        take(self.recorder, free, ready, charge, charge.amount * byte_time.at(charge.bytes))
    }

    fn port(&mut self, number: usize) -> &mut PortState<R::Instant> {
        let rank = self.network.ends[number].rank;
        let cost = self.cost(number);
        let (direction, level) = cost.index();
        let port = match cost.link.port {
            Port::Rank | Port::Receiver => rank,
            Port::Node => self.network.places[rank as usize].node,
        };
        &mut self.ports[direction][level][port as usize]
    }

    /// Returns the order of a post's event among those of the same time.
    fn order(&self, number: usize) -> u64 {
        let rank = self.network.ends[number].rank as usize;
        let post = number - self.network.first[rank];
        self.order_on_node(rank) | post as u64
    }

    /// Returns the part of an event's order that tells the ranks of a node apart.
    fn order_on_node(&self, rank: usize) -> u64 {
        u64::from(self.network.places[rank].local) << 32
    }

    fn prediction(self) -> Result<(Prediction, Vec<R::Instant>), SimulationError> {
        let waits_for_ever =
            |&rank: &usize| self.ranks[rank].step < self.network.programs[rank].actions.len();
        if let Some(rank) = (0..self.ranks.len()).find(waits_for_ever) {
            return Err(SimulationError::Deadlock { rank });
        }
        let ends: Vec<R::Instant> = self.ranks.iter().map(|rank| rank.time).collect();
        let ranks = ends.iter().map(|end| end.seconds()).collect();
        let traffic = self.network.traffic(self.bytes.block);
        Ok((Prediction { ranks, rounds: self.rounds, ..traffic }, ends))
    }
}

/// Takes something that others share from when it is free, or from `ready` if that is later. Returns when that begins.
fn take<R: Recorder>(
    recorder: &mut R,
    free: &mut R::Instant,
    ready: R::Instant,
    charge: Charge,
    seconds: f64,
) -> R::Instant {
    let begin = ready.or_later(*free);
    *free = recorder.after(begin, charge, seconds);
    begin
}

/// Returns a charge for something that happens once and does not depend on bytes.
fn once(what: Charged) -> Charge {
    Charge { what, bytes: 0.0, amount: 1.0 }
}
