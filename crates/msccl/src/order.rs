//! Finds one order for the steps of all threadblocks.
//!
//! The steps run in rounds. A message that is sent in one round arrives in the next; everything else takes no time.
//! In a round, each threadblock goes on until it must wait for a message or for a step of another threadblock.

use crate::xml::{Algorithm, Chunk, ChunkBuffer, Threadblock, XmlStep};
use rustcoll::algorithms::Collective;
use rustcoll::schedule_file::Misread;
use std::collections::{BTreeMap, HashMap};

/// The acts of all ranks, each rank's in its order.
#[derive(Debug, PartialEq, Eq)]
pub struct Order {
    /// The acts of each rank, each act with the line of its step in the text.
    pub acts: Vec<Vec<(Act, usize)>>,
    pub messages: Vec<Message>,
}

/// One act of a rank. A number identifies a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// From now on, a message may be received.
    Await(usize),
    /// A message has arrived.
    Take(usize),
    /// The rank sends a message.
    Send(usize),
    Copy {
        source: Held,
        target: Location,
    },
    /// Combines two operands into the target. The left operand comes from the lower ranks.
    Reduce {
        operands: [Held; 2],
        target: Location,
    },
}

/// A message from a rank to another one.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub sender: usize,
    pub receiver: usize,
    pub sources: Vec<Held>,
    pub targets: Vec<Location>,
    /// The round that sends the message, and the round in which its receiver begins to await it.
    pub rounds: [usize; 2],
}

/// A place for a chunk in a rank's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Location {
    Input(usize),
    Output(usize),
    /// For an in-place algorithm: holds input at first and output in the end.
    Both(usize),
    Scratch(usize),
    /// A threadblock's place for received data that it will combine with other data.
    Arrived {
        threadblock: usize,
        number: usize,
    },
}

/// A place, and a description of its content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Held {
    pub place: Location,
    /// For a vector, the number of the chunk in this place; chunks of different numbers may have different
    /// lengths. For blocks, the number of the part of a block.
    pub part: usize,
    /// The lowest rank whose operand the content includes.
    pub lowest: usize,
}

impl Order {
    /// Runs all steps. Fails if some of them wait for each other, or do not fit.
    pub fn of(algorithm: &Algorithm) -> Result<Order, Misread> {
        let mut job = Job::new(algorithm);
        while job.round() {
            job.number += 1;
        }
        if let Some((rank, threadblock, step)) = job.waiting() {
            let message = format!(
                "deadlock: this step of GPU {rank}, threadblock {threadblock} is never reached or never ends"
            );
            return Err(Misread { line: step.line, column: 1, message });
        }
        let order = Order { acts: job.acts, messages: job.messages };
        order.acts.iter().flatten().try_for_each(|&(act, line)| {
            let fits = order.check_lengths(act).and_then(|()| order.check_parts(algorithm, act));
            fits.map_err(|message| Misread { line, column: 1, message })
        })?;
        Ok(order)
    }

    /// Fails with the reason if a message has fewer or more chunks than its receiver takes.
    fn check_lengths(&self, act: Act) -> Result<(), String> {
        let Act::Take(number) = act else { return Ok(()) };
        let Message { sender, sources, targets, .. } = &self.messages[number];
        match (sources.len(), targets.len()) {
            (sent, received) if sent == received => Ok(()),
            (sent, received) => {
                Err(format!("this step receives {received} chunks, but GPU {sender} sends {sent}"))
            }
        }
    }

    /// Fails with the reason if a part of a block meets another part, or goes to its place.
    fn check_parts(&self, algorithm: &Algorithm, act: Act) -> Result<(), String> {
        if algorithm.parts() == 1 {
            return Ok(());
        }
        let fits = |part: usize, place: Location| match place.chunk().map(|chunk| algorithm.part(chunk)) {
            Some(other) if other != part => Err(format!(
                "a chunk of part {part} of a block goes where part {other} of a block belongs; in a schedule file a block travels whole"
            )),
            _ => Ok(()),
        };
        match act {
            Act::Take(number) => {
                let Message { sources, targets, .. } = &self.messages[number];
                sources.iter().zip(targets).try_for_each(|(source, target)| fits(source.part, *target))
            }
            Act::Copy { source, target } => fits(source.part, target),
            Act::Reduce { operands: [one, other], .. } if one.part != other.part => {
                Err(format!("this combines part {} of a block with part {}", one.part, other.part))
            }
            Act::Reduce { operands, target } => fits(operands[0].part, target),
            Act::Await(_) | Act::Send(_) => Ok(()),
        }
    }

    /// Returns, for each part, what all ranks do with this part of blocks. All parts take the same way if these
    /// are equal.
    pub fn by_part(&self, algorithm: &Algorithm) -> Vec<Order> {
        let parts = algorithm.parts();
        let ranks = self.acts.len();
        let mut ways: Vec<Way> = (0..parts).map(|_| Way::new(parts, ranks)).collect();
        for (rank, acts) in self.acts.iter().enumerate() {
            for &(act, _) in acts {
                match act {
                    Act::Await(number) | Act::Take(number) | Act::Send(number) => {
                        let message = &self.messages[number];
                        for (part, chunks) in message.chunks_by_part() {
                            ways[part].pass(rank, act, (number, message), &chunks);
                        }
                    }
                    Act::Copy { source, target } => ways[source.part].copy(rank, source, target),
                    Act::Reduce { operands, target } => ways[operands[0].part].reduce(rank, operands, target),
                }
            }
        }
        ways.into_iter().map(|way| way.order).collect()
    }
}

impl Message {
    /// Returns the positions of the chunks of each part.
    fn chunks_by_part(&self) -> BTreeMap<usize, Vec<usize>> {
        let mut chunks: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for (position, source) in self.sources.iter().enumerate() {
            chunks.entry(source.part).or_default().push(position);
        }
        chunks
    }
}

impl Location {
    /// Returns the number of the chunk that belongs here; `None` if any may be here.
    fn chunk(self) -> Option<usize> {
        match self {
            Location::Input(number) | Location::Output(number) | Location::Both(number) => Some(number),
            Location::Scratch(_) | Location::Arrived { .. } => None,
        }
    }
}

/// What all ranks do with one part of blocks. Messages and other places than those of blocks have numbers in the
/// order in which they first occur.
struct Way {
    /// The number of parts of a block.
    parts: usize,
    order: Order,
    messages: HashMap<usize, usize>,
    places: HashMap<(usize, Location), usize>,
}

impl Way {
    fn new(parts: usize, ranks: usize) -> Way {
        let order = Order { acts: vec![Vec::new(); ranks], messages: Vec::new() };
        Way { parts, order, messages: HashMap::new(), places: HashMap::new() }
    }

    /// Notes an act of a message that carries these chunks of the part.
    fn pass(&mut self, rank: usize, act: Act, (number, message): (usize, &Message), chunks: &[usize]) {
        let number = *self.messages.entry(number).or_insert_with(|| {
            // Not the rounds: parts may go one after the other.
            let Message { sender, receiver, .. } = *message;
            self.order.messages.push(Message { sender, receiver, ..Message::default() });
            self.order.messages.len() - 1
        });
        let renumbered = match act {
            Act::Await(_) => {
                let targets = chunks.iter().map(|&chunk| self.place(rank, message.targets[chunk])).collect();
                self.order.messages[number].targets = targets;
                Act::Await(number)
            }
            Act::Send(_) => {
                let sources = chunks.iter().map(|&chunk| self.held(rank, message.sources[chunk])).collect();
                self.order.messages[number].sources = sources;
                Act::Send(number)
            }
            _ => Act::Take(number),
        };
        self.push(rank, renumbered);
    }

    fn copy(&mut self, rank: usize, source: Held, target: Location) {
        let act = Act::Copy { source: self.held(rank, source), target: self.place(rank, target) };
        self.push(rank, act);
    }

    fn reduce(&mut self, rank: usize, operands: [Held; 2], target: Location) {
        let operands = operands.map(|operand| self.held(rank, operand));
        let act = Act::Reduce { operands, target: self.place(rank, target) };
        self.push(rank, act);
    }

    fn push(&mut self, rank: usize, act: Act) {
        self.order.acts[rank].push((act, 0));
    }

    fn held(&mut self, rank: usize, held: Held) -> Held {
        Held { place: self.place(rank, held.place), part: 0, ..held }
    }

    /// Returns the place with its block in place of the chunk.
    fn place(&mut self, rank: usize, place: Location) -> Location {
        match place {
            Location::Input(number) => Location::Input(number / self.parts),
            Location::Output(number) => Location::Output(number / self.parts),
            Location::Both(number) => Location::Both(number / self.parts),
            Location::Scratch(_) | Location::Arrived { .. } => {
                let next = self.places.len();
                Location::Scratch(*self.places.entry((rank, place)).or_insert(next))
            }
        }
    }
}

/// The state of all threadblocks while they run.
struct Job<'a> {
    algorithm: &'a Algorithm,
    states: Vec<Vec<State>>,
    /// By sender, receiver and channel number.
    channels: HashMap<[usize; 3], Channel>,
    messages: Vec<Message>,
    /// By rank: the content of each place that was written.
    held: Vec<HashMap<Location, Held>>,
    acts: Vec<Vec<(Act, usize)>>,
    /// The number of the current round.
    number: usize,
}

#[derive(Clone, Default)]
struct State {
    /// The number of finished steps.
    done: usize,
    /// The message that the current step awaits.
    awaited: Option<usize>,
    /// Whether the awaited message has arrived.
    has_arrived: bool,
}

#[derive(Default)]
struct Channel {
    messages: Vec<usize>,
    sent: usize,
    awaited: usize,
}

impl<'a> Job<'a> {
    fn new(algorithm: &'a Algorithm) -> Job<'a> {
        let ranks = algorithm.gpus.len();
        let states = algorithm.gpus.iter().map(|gpu| vec![State::default(); gpu.len()]).collect();
        Job {
            algorithm,
            states,
            channels: HashMap::new(),
            messages: Vec::new(),
            held: vec![HashMap::new(); ranks],
            acts: vec![Vec::new(); ranks],
            number: 0,
        }
    }

    /// Runs one round. Returns whether any threadblock did anything.
    fn round(&mut self) -> bool {
        let mut is_useful = false;
        while self.arrivals() | self.steps() {
            is_useful = true;
        }
        is_useful
    }

    /// Takes the awaited messages that were sent in earlier rounds. Returns whether there were any.
    fn arrivals(&mut self) -> bool {
        let mut any = false;
        for (rank, threadblock) in self.all() {
            let state = &mut self.states[rank][threadblock];
            let Some(number) = state.awaited.filter(|_| !state.has_arrived) else { continue };
            let message = &self.messages[number];
            if message.sources.is_empty() || message.rounds[0] >= self.number {
                continue;
            }
            state.has_arrived = true;
            any = true;
            let line = self.algorithm.gpus[rank][threadblock].steps[state.done].line;
            self.acts[rank].push((Act::Take(number), line));
            for (source, target) in message.sources.iter().zip(&message.targets) {
                self.held[rank].insert(*target, *source);
            }
        }
        any
    }

    /// Lets each threadblock go on as far as it can. Returns whether any did anything.
    fn steps(&mut self) -> bool {
        let mut any = false;
        for (rank, threadblock) in self.all() {
            while let Some(step) = self.next(rank, threadblock) {
                if !self.is_free(rank, step) {
                    break;
                }
                let state = &self.states[rank][threadblock];
                if step.kind.receives && state.awaited.is_none() {
                    self.expect(rank, threadblock, step);
                    any = true;
                } else if step.kind.receives && !state.has_arrived {
                    break;
                } else {
                    self.finish(rank, threadblock, step);
                    any = true;
                }
            }
        }
        any
    }

    fn all(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let counts: Vec<usize> = self.states.iter().map(Vec::len).collect();
        counts.into_iter().enumerate().flat_map(|(rank, count)| (0..count).map(move |number| (rank, number)))
    }

    fn threadblock(&self, rank: usize, threadblock: usize) -> &'a Threadblock {
        &self.algorithm.gpus[rank][threadblock]
    }

    fn next(&self, rank: usize, threadblock: usize) -> Option<&'a XmlStep> {
        self.threadblock(rank, threadblock).steps.get(self.states[rank][threadblock].done)
    }

    /// Whether the step that this step waits for has ended.
    fn is_free(&self, rank: usize, step: &XmlStep) -> bool {
        step.after.is_none_or(|(threadblock, waited)| self.states[rank][threadblock].done > waited)
    }

    fn waiting(&self) -> Option<(usize, usize, &'a XmlStep)> {
        self.all().find_map(|(rank, threadblock)| Some((rank, threadblock, self.next(rank, threadblock)?)))
    }

    /// Begins to await the message of a step.
    fn expect(&mut self, rank: usize, threadblock: usize, step: &XmlStep) {
        let own = self.threadblock(rank, threadblock);
        let sender = own.from.expect("the text was checked");
        let channel = self.channels.entry([sender, rank, own.channel]).or_default();
        let message = channel.number(channel.awaited, &mut self.messages);
        channel.awaited += 1;
        let arrived = |number| Location::Arrived { threadblock, number };
        self.messages[message].targets = match step.kind.reduces {
            true => (0..step.count).map(arrived).collect(),
            false => self.places(rank, step.target, step.count),
        };
        self.messages[message].rounds[1] = self.number;
        self.states[rank][threadblock].awaited = Some(message);
        self.acts[rank].push((Act::Await(message), step.line));
    }

    /// Does the rest of a step. If the step receives a message, the message has arrived.
    fn finish(&mut self, rank: usize, threadblock: usize, step: &XmlStep) {
        let state = &mut self.states[rank][threadblock];
        let arrived = state.awaited.take();
        (state.done, state.has_arrived) = (state.done + 1, false);
        let sources = self.places(rank, step.source, step.count);
        let targets = self.places(rank, step.target, step.count);
        // The places of the data that the step works on.
        let mut current = match arrived {
            Some(message) => self.messages[message].targets.clone(),
            None => sources.clone(),
        };
        if step.kind.reduces {
            // Received data are combined with the source; without a message, the source with the target.
            let others = if arrived.is_some() { sources } else { targets.clone() };
            let results = if step.kind.stores { targets } else { current.clone() };
            for ((one, other), result) in current.iter().zip(&others).zip(&results) {
                let mut operands = [self.at(rank, *other), self.at(rank, *one)];
                operands.sort_by_key(|operand| operand.lowest);
                let act = Act::Reduce { operands, target: *result };
                self.put(rank, *result, operands[0], (act, step.line));
            }
            current = results;
        } else if step.kind.stores && arrived.is_none() {
            for (source, target) in sources.iter().zip(&targets) {
                let source = self.at(rank, *source);
                self.put(rank, *target, source, (Act::Copy { source, target: *target }, step.line));
            }
        }
        if step.kind.sends {
            let sources = current.iter().map(|place| self.at(rank, *place)).collect();
            self.send(rank, threadblock, sources, step.line);
        }
    }

    fn put(&mut self, rank: usize, target: Location, held: Held, act: (Act, usize)) {
        self.held[rank].insert(target, held);
        self.acts[rank].push(act);
    }

    fn send(&mut self, rank: usize, threadblock: usize, sources: Vec<Held>, line: usize) {
        let own = self.threadblock(rank, threadblock);
        let receiver = own.to.expect("the text was checked");
        let channel = self.channels.entry([rank, receiver, own.channel]).or_default();
        let number = channel.number(channel.sent, &mut self.messages);
        channel.sent += 1;
        let message = &mut self.messages[number];
        (message.sender, message.receiver, message.sources) = (rank, receiver, sources);
        message.rounds[0] = self.number;
        self.acts[rank].push((Act::Send(number), line));
    }

    fn places(&self, rank: usize, first: Chunk, count: usize) -> Vec<Location> {
        let places =
            (first.number..first.number + count).map(|number| self.place(rank, first.memory, number));
        places.collect()
    }

    fn place(&self, rank: usize, memory: ChunkBuffer, number: usize) -> Location {
        let own = rank * self.algorithm.chunks / self.algorithm.gpus.len();
        match (memory, self.algorithm.collective) {
            (ChunkBuffer::Scratch, _) => Location::Scratch(number),
            (ChunkBuffer::Input, _) if !self.algorithm.is_in_place => Location::Input(number),
            (ChunkBuffer::Output, _) if !self.algorithm.is_in_place => Location::Output(number),
            (ChunkBuffer::Input, Collective::Allgather)
            | (ChunkBuffer::Output, Collective::ReduceScatterBlock) => Location::Both(own + number),
            _ => Location::Both(number),
        }
    }

    /// Returns a place with the description of its content.
    fn at(&self, rank: usize, place: Location) -> Held {
        let held = self.held[rank].get(&place);
        let (lowest, part) = held.map_or((rank, 0), |held| (held.lowest, held.part));
        let part = match place {
            Location::Input(number) | Location::Output(number) | Location::Both(number) => {
                self.algorithm.part(number)
            }
            Location::Scratch(_) | Location::Arrived { .. } => part,
        };
        Held { place, part, lowest }
    }
}

impl Channel {
    /// Returns the number of the channel's message at this position. Makes the message if neither its sender
    /// nor its receiver has come to it before.
    fn number(&mut self, position: usize, messages: &mut Vec<Message>) -> usize {
        if position == self.messages.len() {
            self.messages.push(messages.len());
            messages.push(Message::default());
        }
        self.messages[position]
    }
}
