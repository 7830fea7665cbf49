//! Runs all ranks in one process: a test transport that delivers messages, and shows flags, in a seeded random order.

use super::turns::Turns;
use super::{CACHE_LINE, Execution, LentCopy, Memory, Plan, Region, Slots, Transport};
use crate::random::Random;
use crate::schedule::{Buffer, Post};
use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::ops::Range;

/// When a send completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// At once: the message is buffered.
    Eager,
    /// When the receiver has taken the message.
    Rendezvous,
}

/// The layout of one element: contiguous pieces of data, with gaps and any lower bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// Offset from the element's address and length of each piece, in the order in which the pieces travel.
    pub pieces: Vec<(isize, usize)>,
    /// Bytes from the start of an element to that of the next.
    pub extent: isize,
}

impl ElementType {
    /// Returns a type of `bytes` contiguous bytes.
    pub fn contiguous(bytes: usize) -> Self {
        ElementType { pieces: vec![(0, bytes)], extent: bytes as isize }
    }

    /// Returns a type of `elements` consecutive elements of this one.
    pub fn repeated(&self, elements: usize) -> Self {
        let copy = |index: usize| {
            let shift = index as isize * self.extent;
            self.pieces.iter().map(move |&(offset, length)| (shift + offset, length))
        };
        ElementType {
            pieces: (0..elements).flat_map(copy).collect(),
            extent: elements as isize * self.extent,
        }
    }

    /// Returns the bytes of data in an element.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.1).sum()
    }
}

/// The memory of a buffer, and the places of the elements in it.
#[derive(Clone, Debug)]
pub struct Area {
    /// The memory, gaps included.
    pub bytes: Vec<u8>,
    /// The place of each byte of data in `bytes`, in the order in which the data travel.
    positions: Vec<usize>,
    /// How many bytes of data precede each element; at the end, how many there are in all.
    starts: Vec<usize>,
}

impl Area {
    /// Returns memory for `elements` elements of one type, filled with `byte`.
    pub fn filled(element: &ElementType, elements: usize, byte: u8) -> Self {
        let addresses = (0..elements as isize).map(|index| index * element.extent);
        Area::placed(addresses.map(|address| (address, element)), byte)
    }

    /// Returns memory for elements at the given addresses, filled with `byte`.
    pub fn placed<'a>(elements: impl Iterator<Item = (isize, &'a ElementType)>, byte: u8) -> Self {
        let mut addresses = Vec::new();
        let mut starts = vec![0];
        for (address, element) in elements {
            for &(offset, length) in &element.pieces {
                addresses.extend((address + offset..).take(length));
            }
            starts.push(addresses.len());
        }
        let low = addresses.iter().copied().min().unwrap_or(0);
        let positions: Vec<usize> = addresses.iter().map(|address| (address - low) as usize).collect();
        let length = positions.iter().max().map_or(0, |last| last + 1);
        Area { bytes: vec![byte; length], positions, starts }
    }

    /// Returns the data of some elements, without gaps.
    pub fn gather(&self, offset: usize, elements: usize) -> Vec<u8> {
        self.positions(offset, elements).iter().map(|&at| self.bytes[at]).collect()
    }

    /// Overwrites the data of elements from `offset` on.
    pub fn scatter(&mut self, offset: usize, data: &[u8]) {
        let positions = &self.positions[self.starts[offset]..][..data.len()];
        positions.iter().zip(data).for_each(|(&at, &byte)| self.bytes[at] = byte);
    }

    fn positions(&self, offset: usize, elements: usize) -> &[usize] {
        &self.positions[self.starts[offset]..self.starts[offset + elements]]
    }
}

/// An operator on the data of one element: left, right, result.
pub type Operator<'a> = &'a dyn Fn(&[u8], &[u8]) -> Vec<u8>;

/// A rank's send, receive and scratch buffer, in this order.
pub type Areas = [Area; 3];

/// Why a collective did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No rank can go on, and no message or flag is in flight.
    Deadlock,
    /// A message is longer or shorter than its receive. The fields are sender and receiver.
    Length(usize, usize),
    /// A message was sent, but never received. The fields are sender and receiver.
    Unreceived(usize, usize),
}

impl fmt::Display for Failure {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Failure::Deadlock => formatter.write_str("deadlock: no rank can go on"),
            Failure::Length(from, to) => {
                write!(formatter, "a message from {from} to {to} has the wrong length")
            }
            Failure::Unreceived(from, to) => {
                write!(formatter, "a message from {from} to {to} was never received")
            }
        }
    }
}

impl std::error::Error for Failure {}

/// One collective call of all ranks.
pub struct Call<'a> {
    /// The plan of each rank.
    pub plans: &'a [Plan],
    pub areas: &'a mut [Areas],
    pub operator: Operator<'a>,
}

/// Runs all ranks to the end. `seed` determines the order of ranks and of deliveries.
pub fn run(
    plans: &[Plan],
    areas: &mut [Areas],
    operator: Operator,
    semantics: Semantics,
    seed: u64,
) -> Result<(), Failure> {
    run_all(&mut [Call { plans, areas, operator }], semantics, seed)
}

/// Runs several collectives, one after another on each rank. Ranks need not wait for each other in between.
pub fn run_all(calls: &mut [Call], semantics: Semantics, seed: u64) -> Result<(), Failure> {
    let Some(size) = calls.first().map(|call| call.plans.len()) else { return Ok(()) };
    let network = RefCell::new(Network::new(size, semantics));
    let node = RefCell::new(Node::new(size, Random(!seed)));
    let mut random = Random(seed);
    let mut calls: Vec<Vec<Running>> = calls.iter_mut().map(|call| begin(call, &network, &node)).collect();
    let mut positions = vec![0; size];
    let mut running: Vec<usize> = (0..size).collect();
    let mut idle_turns = 0;
    while !running.is_empty() {
        let turn = random.below(running.len());
        let rank = running[turn];
        let moved = network.borrow_mut().deliver_one(&mut random);
        let before = network.borrow().events;
        let Running { plan, execution, port } = &mut calls[positions[rank]][rank];
        if execution.advance(plan, port)? {
            assert!(!node.borrow().has_lent(rank), "who lends waits until all have copied it");
            positions[rank] += 1;
            network.borrow_mut().events += 1;
            if positions[rank] == calls.len() {
                running.swap_remove(turn);
            }
        }
        let quiet = !moved && before == network.borrow().events;
        idle_turns = if quiet { idle_turns + 1 } else { 0 };
        // A rank that can go on is drawn sooner or later. So many quiet draws in a row mean that no rank can.
        if idle_turns > 64 * size + 1000 {
            return Err(Failure::Deadlock);
        }
    }
    let network = network.borrow();
    network.leftover().map_or(Ok(()), |(from, to)| Err(Failure::Unreceived(from, to)))
}

/// A rank in one call.
struct Running<'a> {
    plan: &'a Plan,
    execution: Execution,
    port: Port<'a>,
}

fn begin<'a>(call: &'a mut Call, network: &'a RefCell<Network>, node: &'a RefCell<Node>) -> Vec<Running<'a>> {
    let operator = call.operator;
    let ranks = call.plans.iter().zip(call.areas.iter_mut()).enumerate();
    let begun = ranks.map(|(rank, (plan, areas))| {
        let (staging, receives) = (vec![0; plan.staging_bytes], VecDeque::new());
        let port = Port { rank, network, node, operator, plan, staging, areas, receives };
        Running { plan, execution: Execution::default(), port }
    });
    begun.collect()
}

/// The memory that the ranks share; all ranks are on one node.
struct Node {
    /// By class of slots, bank and rank.
    banks: HashMap<(usize, usize, usize), Bank>,
    /// By rank and class of slots: the rank's turn, and how many ended stripes it has published.
    turns: Vec<[(Turns, u64); CLASSES]>,
    /// By rank and slot.
    lent: HashMap<(usize, usize), Lent>,
    /// Decides which ranks see a change late.
    random: Random,
}

/// The classes of slots: in lines, apart from their flags, and lent.
const CLASSES: usize = 3;

/// Few banks, so tests soon reuse them.
const BANKS: [usize; CLASSES] = [2, 2, 1];

/// A block that a rank has lent, until all others have copied it.
struct Lent {
    data: Vec<u8>,
    /// The lent buffer of the rank, and the lent range of its bytes of data. `None` for a copy.
    place: Option<(usize, Range<usize>)>,
}

/// The slots of a rank in one bank.
#[derive(Default)]
struct Bank {
    flags: Vec<u64>,
    bytes: Vec<u8>,
}

impl Node {
    fn new(size: usize, random: Random) -> Self {
        let turns = vec![BANKS.map(|banks| (Turns::new(banks), 0)); size];
        Node { banks: HashMap::new(), turns, lent: HashMap::new(), random }
    }

    /// Returns the flag of a slot of `owner`, as `rank` sees it in its stripe.
    fn flag(&mut self, rank: usize, class: usize, owner: usize, slot: u32) -> &mut u64 {
        let flags = &mut self.bank(rank, class, owner).flags;
        flags.resize(flags.len().max(slot as usize + 1), 0);
        &mut flags[slot as usize]
    }

    /// Returns the data of a region in slots of `owner`, `bytes` bytes, as `rank` sees it in its stripe.
    fn slot(&mut self, rank: usize, slots: Slots, (owner, region): (u32, Region), bytes: usize) -> &mut [u8] {
        let Region { offset, elements, .. } = region;
        let (start, most) = match slots {
            Slots::Lines => (offset * CACHE_LINE, CACHE_LINE),
            Slots::Apart { stride, .. } => (offset * stride, stride),
            // Elements lie as in a vector, but without gaps.
            Slots::Joined { extent, bytes: all } => {
                let element = bytes / elements;
                (offset * element, (all / extent - offset) * element)
            }
            Slots::Lent => unreachable!("what is lent is in no slot"),
        };
        assert!(bytes <= most, "{bytes} bytes in a slot of {most}");
        let memory = &mut self.bank(rank, class_of(slots), owner as usize).bytes;
        memory.resize(memory.len().max(start + bytes), 0);
        &mut memory[start..][..bytes]
    }

    fn bank(&mut self, rank: usize, class: usize, owner: usize) -> &mut Bank {
        let (turns, _) = &self.turns[rank][class];
        self.banks.entry((class, turns.bank(), owner)).or_default()
    }

    fn may_write(&mut self, rank: usize, class: usize) -> bool {
        let peers = (0..self.turns.len()).filter(|&peer| peer != rank);
        let least = peers.map(|peer| self.turns[peer][class].1).min().unwrap_or(u64::MAX);
        let may_write = self.turns[rank][class].0.may_write(|| least);
        if may_write && class == class_of(Slots::Lent) {
            self.lent.retain(|&(owner, _), _| owner != rank);
        }
        may_write
    }

    fn has_lent(&self, rank: usize) -> bool {
        self.lent.keys().any(|&(owner, _)| owner == rank)
    }

    /// Whether any of these bytes of data of a rank's buffer are lent.
    fn is_lent(&self, rank: usize, (index, data): (usize, &Range<usize>)) -> bool {
        self.lent.iter().any(|(&(owner, _), lent)| match &lent.place {
            Some((lent_index, lent)) => {
                (owner, *lent_index) == (rank, index) && lent.start < data.end && data.start < lent.end
            }
            None => false,
        })
    }
}

fn class_of(slots: Slots) -> usize {
    match slots {
        Slots::Lines => 0,
        Slots::Apart { .. } | Slots::Joined { .. } => 1,
        Slots::Lent => 2,
    }
}

/// Messages between each ordered pair of ranks, in the order in which they were sent.
struct Network {
    size: usize,
    semantics: Semantics,
    /// By sender, then receiver: messages that were sent and have not arrived.
    on_the_way: Vec<VecDeque<(Post, Vec<u8>)>>,
    /// By sender, then receiver: messages that have arrived and no receive has taken.
    arrived: Vec<VecDeque<(Post, Vec<u8>)>>,
    /// By rank: sends whose message no receive has taken.
    unfinished_sends: Vec<Vec<Post>>,
    /// Counts changes, to notice when nothing changes.
    events: u64,
}

impl Network {
    fn new(size: usize, semantics: Semantics) -> Self {
        Network {
            size,
            semantics,
            on_the_way: vec![VecDeque::new(); size * size],
            arrived: vec![VecDeque::new(); size * size],
            unfinished_sends: vec![Vec::new(); size],
            events: 0,
        }
    }

    fn deliver_one(&mut self, random: &mut Random) -> bool {
        let waiting: Vec<usize> =
            (0..self.size * self.size).filter(|&pair| !self.on_the_way[pair].is_empty()).collect();
        if waiting.is_empty() {
            return false;
        }
        let pair = waiting[random.below(waiting.len())];
        let message = self.on_the_way[pair].pop_front();
        self.arrived[pair].extend(message);
        true
    }

    fn send(&mut self, from: usize, to: usize, post: Post, data: Vec<u8>) {
        if self.semantics == Semantics::Rendezvous {
            self.unfinished_sends[from].push(post);
        }
        self.on_the_way[from * self.size + to].push_back((post, data));
        self.events += 1;
    }

    fn take(&mut self, from: usize, to: usize) -> Option<Vec<u8>> {
        let (post, data) = self.arrived[from * self.size + to].pop_front()?;
        self.unfinished_sends[from].retain(|&unfinished| unfinished != post);
        self.events += 1;
        Some(data)
    }

    fn leftover(&self) -> Option<(usize, usize)> {
        let pair = (0..self.size * self.size)
            .find(|&pair| !self.on_the_way[pair].is_empty() || !self.arrived[pair].is_empty())?;
        Some((pair / self.size, pair % self.size))
    }
}

/// One rank's end of the network, and its view of the node.
struct Port<'a> {
    rank: usize,
    network: &'a RefCell<Network>,
    node: &'a RefCell<Node>,
    operator: Operator<'a>,
    plan: &'a Plan,
    staging: Vec<u8>,
    areas: &'a mut Areas,
    /// Posted receives without a message so far, in order.
    receives: VecDeque<(Post, u32, Region)>,
}

impl Port<'_> {
    /// Returns the index of one of the rank's own buffers, and the range of its bytes of data that a region covers.
    fn data(&self, buffer: Buffer, region: Region) -> (usize, Range<usize>) {
        let index = buffer.private().expect("slots are read and written by their bytes");
        let (start, end) = (region.offset, region.offset + region.elements);
        match self.plan.is_in_bytes && buffer != Buffer::Scratch {
            true => (index, start..end),
            false => (index, self.areas[index].starts[start]..self.areas[index].starts[end]),
        }
    }

    fn read(&self, region: Region) -> Vec<u8> {
        match region.memory {
            Memory::Buffer(buffer) => {
                let (index, data) = self.data(buffer, region);
                let Area { bytes, positions, .. } = &self.areas[index];
                positions[data].iter().map(|&at| bytes[at]).collect()
            }
            Memory::Staging => self.staging[region.offset..region.offset + region.elements].to_vec(),
        }
    }

    fn write(&mut self, region: Region, data: &[u8]) {
        match region.memory {
            Memory::Buffer(Buffer::Shared(owner)) => {
                assert_eq!(owner as usize, self.rank, "a slot is written by its owner");
                let slots = self.slots();
                let mut node = self.node.borrow_mut();
                node.slot(self.rank, slots, (owner, region), data.len()).copy_from_slice(data);
            }
            Memory::Buffer(buffer) => {
                let (index, places) = self.data(buffer, region);
                let is_lent = self.node.borrow().is_lent(self.rank, (index, &places));
                assert!(!is_lent, "what is lent is not written before all have copied it");
                let Area { bytes, positions, .. } = &mut self.areas[index];
                let positions = &positions[places][..data.len()];
                positions.iter().zip(data).for_each(|(&at, &byte)| bytes[at] = byte);
            }
            Memory::Staging => {
                self.staging[region.offset..region.offset + region.elements].copy_from_slice(data)
            }
        }
    }

    /// Reads `bytes` bytes of a slot, or all bytes of another region.
    fn read_bytes(&self, region: Region, bytes: usize) -> Vec<u8> {
        match region.memory {
            Memory::Buffer(Buffer::Shared(owner)) if self.slots() == Slots::Lent => {
                self.node.borrow().lent[&(owner as usize, region.offset)].data[..bytes].to_vec()
            }
            Memory::Buffer(Buffer::Shared(owner)) => {
                self.node.borrow_mut().slot(self.rank, self.slots(), (owner, region), bytes).to_vec()
            }
            _ => self.read(region),
        }
    }

    fn bytes(&self, region: Region) -> usize {
        match region.memory {
            Memory::Buffer(buffer) => self.data(buffer, region).1.len(),
            Memory::Staging => region.elements,
        }
    }

    fn slots(&self) -> Slots {
        self.plan.slots.expect("the plan says how its slots lie")
    }

    /// Whether the rank already sees an event that has happened. Chance decides.
    fn is_seen(&self, happened: bool) -> bool {
        let seen = happened && self.node.borrow_mut().random.below(2) == 0;
        self.network.borrow_mut().events += u64::from(seen);
        seen
    }

    /// Matches arrived messages with posted receives, in order for each sender.
    fn progress(&mut self) -> Result<(), Failure> {
        let mut unmatched = VecDeque::new();
        while let Some((post, peer, region)) = self.receives.pop_front() {
            let blocked = unmatched.iter().any(|&(_, other, _)| other == peer);
            let message =
                if blocked { None } else { self.network.borrow_mut().take(peer as usize, self.rank) };
            match message {
                Some(data) if data.len() == self.bytes(region) => self.write(region, &data),
                Some(_) => return Err(Failure::Length(peer as usize, self.rank)),
                None => unmatched.push_back((post, peer, region)),
            }
        }
        self.receives = unmatched;
        Ok(())
    }
}

impl Transport for Port<'_> {
    type Error = Failure;

    fn send(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Failure> {
        let data = self.read(region);
        self.network.borrow_mut().send(self.rank, peer as usize, post, data);
        Ok(())
    }

    fn receive(&mut self, post: Post, peer: u32, region: Region) -> Result<(), Failure> {
        self.receives.push_back((post, peer, region));
        Ok(())
    }

    /// Cannot block: the ranks that would complete the posts run on this very thread.
    fn wait(&mut self, posts: &[Post]) -> Result<(), Failure> {
        if self.test(posts)? { Ok(()) } else { Err(Failure::Deadlock) }
    }

    fn test(&mut self, posts: &[Post]) -> Result<bool, Failure> {
        self.progress()?;
        let network = self.network.borrow();
        let sending = &network.unfinished_sends[self.rank];
        Ok(posts
            .iter()
            .all(|post| !sending.contains(post) && self.receives.iter().all(|(receive, ..)| receive != post)))
    }

    fn copy(&mut self, source: Region, target: Region) -> Result<(), Failure> {
        let bytes = self.bytes(known_length(&[target, source]));
        let data = self.read_bytes(source, bytes);
        self.write(target, &data);
        Ok(())
    }

    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Failure> {
        let known = known_length(&[target, left, right]);
        let bytes = self.bytes(known);
        let size = bytes / known.elements;
        let (left_data, right_data) = (self.read_bytes(left, bytes), self.read_bytes(right, bytes));
        let operands = left_data.chunks(size).zip(right_data.chunks(size));
        let result: Vec<u8> = operands.flat_map(|(left, right)| (self.operator)(left, right)).collect();
        self.write(target, &result);
        Ok(())
    }

    fn lend(&mut self, region: Region, slot: u32, copy: LentCopy) -> Result<(), Failure> {
        let Memory::Buffer(buffer) = region.memory else { unreachable!("buffers are lent") };
        let data = self.read(region);
        assert_eq!(data.len(), copy.bytes);
        let place = (!copy.is_needed).then(|| self.data(buffer, region));
        self.node.borrow_mut().lent.insert((self.rank, slot as usize), Lent { data, place });
        Ok(())
    }

    fn notify(&mut self, slot: u32) -> Result<(), Failure> {
        let (rank, class, mut node) = (self.rank, class_of(self.slots()), self.node.borrow_mut());
        let (turns, _) = node.turns[rank][class];
        let flag = node.flag(rank, class, rank, slot);
        *flag = turns.raised(*flag);
        self.network.borrow_mut().events += 1;
        Ok(())
    }

    fn is_notified(&mut self, rank: u32, slot: u32, times: u32) -> Result<bool, Failure> {
        let is_raised = {
            let (class, mut node) = (class_of(self.slots()), self.node.borrow_mut());
            let (turns, _) = node.turns[self.rank][class];
            *node.flag(self.rank, class, rank as usize, slot) >= turns.flag_value(times)
        };
        Ok(self.is_seen(is_raised))
    }

    /// Cannot block, like [`Port::wait`].
    fn await_notification(&mut self, rank: u32, slot: u32, times: u32) -> Result<(), Failure> {
        if self.is_notified(rank, slot, times)? { Ok(()) } else { Err(Failure::Deadlock) }
    }

    fn are_slots_free(&mut self) -> Result<bool, Failure> {
        let is_free = self.node.borrow_mut().may_write(self.rank, class_of(self.slots()));
        Ok(self.is_seen(is_free))
    }

    /// Cannot block, like [`Port::wait`].
    fn await_free_slots(&mut self) -> Result<(), Failure> {
        if self.are_slots_free()? { Ok(()) } else { Err(Failure::Deadlock) }
    }

    fn end_stripe(&mut self) {
        let class = class_of(self.slots());
        let (turns, published) = &mut self.node.borrow_mut().turns[self.rank][class];
        *published = turns.end();
        self.network.borrow_mut().events += 1;
    }
}

/// Returns a region that is not a slot, because the region of a slot does not know its length.
fn known_length(regions: &[Region]) -> Region {
    let is_known = |region: &&Region| !matches!(region.memory, Memory::Buffer(Buffer::Shared(_)));
    *regions.iter().find(is_known).expect("slots meet other memory only")
}
