//! Turns an order into the programs of all ranks.

use crate::envelopes::Envelopes;
use crate::order::{Act, Held, Location, Order};
use crate::xml::Algorithm;
use rustcoll::algorithms::Collective;
use rustcoll::schedule::Buffer::{Recv, Scratch, Send};
use rustcoll::schedule::{Buffer, Builder, Message, Post, Run, Schedule};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Returns the programs, each with the line of the text for each of its steps. With `few_messages`, messages
/// between two ranks at the same time become one message.
pub fn of(algorithm: &Algorithm, order: &Order, few_messages: bool) -> Vec<(Schedule, Vec<usize>)> {
    let envelopes = Envelopes::of(order, few_messages);
    let ranks = 0..algorithm.gpus.len();
    ranks.map(|rank| Program::new(algorithm, order, &envelopes, rank).written()).collect()
}

/// The program of one rank, under construction.
struct Program<'a> {
    algorithm: &'a Algorithm,
    order: &'a Order,
    envelopes: &'a Envelopes,
    rank: usize,
    builder: Builder,
    /// The text's line for each step, and below it the line of the current act.
    lines: Vec<usize>,
    line: usize,
    /// By envelope: the line of the first step that awaits it.
    awaited_at: HashMap<usize, usize>,
    scratch: Scratches,
    /// Places whose content has changed since the start.
    written: HashSet<Location>,
    /// By block: the posts that touch it, and whether they write it. Some of these posts are complete.
    touched: HashMap<(Buffer, usize), Vec<(Post, bool)>>,
    outstanding: HashSet<Post>,
    /// By sender: the number of its envelopes that have been posted.
    posted: HashMap<usize, usize>,
    /// All envelopes that have been posted.
    received: HashSet<usize>,
    /// The envelopes that the rank has begun to await, and may post.
    awaited: HashSet<usize>,
    /// The senders of the awaited envelopes.
    expected: BTreeSet<usize>,
    /// The envelopes that were posted before the rank awaited them. They are received into their own scratch blocks.
    early: HashSet<usize>,
}

/// The scratch blocks of a rank. A place has one block for each part that it ever holds, as long as that part.
struct Scratches {
    /// The number of different block lengths.
    lengths: usize,
    numbers: HashMap<(Key, usize), usize>,
    /// By length: the number of blocks given out.
    given: HashMap<usize, usize>,
}

/// The use of a scratch block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Key {
    Of(Location),
    /// The message number and the chunk's position, for a message of an early envelope.
    Early(usize, usize),
}

impl Scratches {
    fn block(&mut self, key: Key, part: usize) -> Run {
        let Scratches { lengths, numbers, given } = self;
        let length = part % *lengths;
        let number = *numbers.entry((key, length)).or_insert_with(|| {
            let before = given.entry(length).or_default();
            *before += 1;
            (*before - 1) * *lengths + length
        });
        Scratch.block(number)
    }
}

impl<'a> Program<'a> {
    fn new(algorithm: &'a Algorithm, order: &'a Order, envelopes: &'a Envelopes, rank: usize) -> Program<'a> {
        let (ranks, blocks) = (algorithm.gpus.len(), algorithm.blocks());
        Program {
            algorithm,
            order,
            envelopes,
            rank,
            builder: Builder::new(rank, ranks, blocks),
            lines: Vec::new(),
            line: 0,
            awaited_at: HashMap::new(),
            scratch: Scratches {
                lengths: if algorithm.is_of_vectors() { blocks } else { 1 },
                numbers: HashMap::new(),
                given: HashMap::new(),
            },
            written: HashSet::new(),
            touched: HashMap::new(),
            outstanding: HashSet::new(),
            posted: HashMap::new(),
            received: HashSet::new(),
            awaited: HashSet::new(),
            expected: BTreeSet::new(),
            early: HashSet::new(),
        }
    }

    fn written(mut self) -> (Schedule, Vec<usize>) {
        for &(act, line) in &self.order.acts[self.rank] {
            self.line = line;
            match act {
                Act::Await(message) => {
                    self.expected.insert(self.order.messages[message].sender);
                    self.awaited.insert(self.envelopes.of[message]);
                    self.awaited_at.entry(self.envelopes.of[message]).or_insert(line);
                }
                Act::Take(message) => self.take(message),
                Act::Send(message) => self.send(message),
                Act::Copy { source, target } => self.copy(source, target),
                Act::Reduce { operands, target } => self.reduce(operands, target),
            }
            self.post();
            self.mark(line);
        }
        self.finish();
        (self.builder.build(), self.lines)
    }

    /// Records this line for the steps that have none yet.
    fn mark(&mut self, line: usize) {
        self.lines.resize(self.builder.steps(), line);
    }

    /// Posts the receives that need no wait. Each sender's messages must be posted in the order of sending.
    fn post(&mut self) {
        for sender in self.expected.clone() {
            while let Some(envelope) = self.next_of(sender).filter(|next| self.awaited.contains(next)) {
                let targets = self.targets(envelope, false);
                if !self.conflicts(&targets, true).is_empty() {
                    break;
                }
                self.receive(sender, envelope);
            }
        }
    }

    /// Returns a sender's next envelope that is not posted.
    fn next_of(&self, sender: usize) -> Option<usize> {
        let posted = self.posted.get(&sender).copied().unwrap_or(0);
        self.envelopes.between.get(&[sender, self.rank])?.get(posted).copied()
    }

    fn receive(&mut self, sender: usize, envelope: usize) {
        self.mark(self.line);
        *self.posted.entry(sender).or_default() += 1;
        self.received.insert(envelope);
        let is_early = !self.awaited.contains(&envelope);
        let targets = self.targets(envelope, is_early);
        if is_early {
            self.early.insert(envelope);
        } else {
            let order = self.order;
            let messages = self.envelopes.messages[envelope].iter().map(|number| &order.messages[*number]);
            self.written.extend(messages.flat_map(|message| &message.targets));
        }
        self.wait_before(&targets, true);
        let post = self.builder.receive(sender, targets.iter().copied().collect::<Message>());
        self.mark(self.awaited_at.get(&envelope).copied().unwrap_or(self.line));
        self.touch(post, &targets, true);
    }

    /// Returns the blocks into which an envelope is received.
    fn targets(&mut self, envelope: usize, is_early: bool) -> Vec<Run> {
        let mut targets = Vec::new();
        for &number in &self.envelopes.messages[envelope] {
            let message = &self.order.messages[number];
            for (position, (source, target)) in message.sources.iter().zip(&message.targets).enumerate() {
                if self.counts(source.part) {
                    targets.push(match is_early {
                        true => self.scratch.block(Key::Early(number, position), source.part),
                        false => self.home(*target, source.part),
                    });
                }
            }
        }
        targets
    }

    fn take(&mut self, number: usize) {
        let (message, envelope) = (&self.order.messages[number], self.envelopes.of[number]);
        while !self.received.contains(&envelope) {
            let next = self.next_of(message.sender).expect("this one is among them");
            self.receive(message.sender, next);
        }
        if self.early.contains(&envelope) {
            for (position, (source, target)) in message.sources.iter().zip(&message.targets).enumerate() {
                if self.counts(source.part) {
                    let from = self.scratch.block(Key::Early(number, position), source.part);
                    self.copy_run(from, *target, source.part);
                }
            }
        }
    }

    fn send(&mut self, message: usize) {
        let messages = &self.envelopes.messages[self.envelopes.of[message]];
        if messages[0] != message {
            return;
        }
        let (order, receiver) = (self.order, self.order.messages[message].receiver);
        let held = messages.iter().flat_map(|number| &order.messages[*number].sources);
        let held: Vec<Held> = held.copied().filter(|held| self.counts(held.part)).collect();
        let sources: Vec<Run> = held.into_iter().map(|held| self.readable(held.place, held.part)).collect();
        self.wait_before(&sources, false);
        let post = self.builder.send(receiver, sources.iter().copied().collect::<Message>());
        self.touch(post, &sources, false);
    }

    fn copy(&mut self, source: Held, target: Location) {
        if self.counts(source.part) {
            let from = self.readable(source.place, source.part);
            self.copy_run(from, target, source.part);
        }
    }

    fn copy_run(&mut self, source: Run, target: Location, part: usize) {
        let target = self.writable(target, part);
        self.wait_before(&[source], false);
        self.wait_before(&[target], true);
        self.builder.copy(source, target);
    }

    fn reduce(&mut self, operands: [Held; 2], target: Location) {
        if self.counts(operands[0].part) {
            let [left, right] = operands.map(|operand| self.readable(operand.place, operand.part));
            let target = self.writable(target, operands[0].part);
            self.wait_before(&[left, right], false);
            self.wait_before(&[target], true);
            self.builder.reduce(left, right, target);
        }
    }

    /// In an in-place algorithm, copies results that are not in the output yet: input that was never written.
    fn finish(&mut self) {
        if !self.algorithm.is_in_place {
            return;
        }
        let own = self.rank * self.algorithm.parts();
        let outputs = match self.algorithm.collective {
            Collective::ReduceScatterBlock => own..own + 1,
            _ => 0..self.algorithm.chunks,
        };
        for number in outputs {
            let (place, part) = (Location::Both(number), self.algorithm.part(number));
            if self.counts(part) {
                let from = self.readable(place, part);
                let to = self.output(number);
                if from != to {
                    self.wait_before(&[from], false);
                    self.builder.copy(from, to);
                }
            }
        }
    }

    /// Whether the program moves this part. All parts of a block take the same way, so the first one
    /// represents the block.
    fn counts(&self, part: usize) -> bool {
        self.algorithm.is_of_vectors() || part == 0
    }

    /// Returns the block that holds the current content of a place.
    fn readable(&mut self, place: Location, part: usize) -> Run {
        match place {
            Location::Input(number) | Location::Both(number) if !self.written.contains(&place) => {
                self.input(place, number)
            }
            _ => self.home(place, part),
        }
    }

    /// Returns the block for new content of a place, and marks the place as written.
    fn writable(&mut self, place: Location, part: usize) -> Run {
        self.written.insert(place);
        self.home(place, part)
    }

    /// Returns the block that holds content written to a place.
    fn home(&mut self, place: Location, part: usize) -> Run {
        match place {
            Location::Output(number) => self.output(number),
            Location::Both(number) if self.is_output(number) => self.output(number),
            _ => self.scratch.block(Key::Of(place), part),
        }
    }

    /// Returns the block that holds the initial content of a place of the input.
    fn input(&self, place: Location, number: usize) -> Run {
        let block = number / self.algorithm.parts();
        match (self.algorithm.collective, place) {
            (Collective::Allgather, Location::Input(_)) => Send.block(self.rank),
            // At the start, the blocks of other ranks hold nothing.
            (Collective::Allgather, _) if block != self.rank => Recv.block(block),
            _ => Send.block(block),
        }
    }

    /// Whether this chunk is part of the rank's result.
    fn is_output(&self, number: usize) -> bool {
        self.algorithm.collective != Collective::ReduceScatterBlock
            || number / self.algorithm.parts() == self.rank
    }

    fn output(&self, number: usize) -> Run {
        match self.algorithm.collective {
            Collective::ReduceScatterBlock => Recv.block(self.rank),
            _ => Recv.block(number / self.algorithm.parts()),
        }
    }

    /// Waits for all posts that must be complete before the program reads these blocks, or writes them.
    fn wait_before(&mut self, runs: &[Run], writes: bool) {
        let conflicts = self.conflicts(runs, writes);
        self.outstanding.retain(|post| !conflicts.contains(post));
        self.builder.wait(conflicts);
    }

    fn conflicts(&self, runs: &[Run], writes: bool) -> BTreeSet<Post> {
        let blocks = runs.iter().flat_map(|run| run.indices().map(|index| (run.buffer, index)));
        let posts = blocks.filter_map(|block| self.touched.get(&block)).flatten();
        let conflicts =
            posts.filter(|(post, is_written)| (writes || *is_written) && self.outstanding.contains(post));
        conflicts.map(|(post, _)| *post).collect()
    }

    fn touch(&mut self, post: Option<Post>, runs: &[Run], writes: bool) {
        let Some(post) = post else { return };
        self.outstanding.insert(post);
        for run in runs {
            let touched = self.touched.entry((run.buffer, run.first as usize)).or_default();
            touched.retain(|(post, _)| self.outstanding.contains(post));
            touched.push((post, writes));
        }
    }
}
