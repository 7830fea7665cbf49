//! All ranks in one process: a transport for tests that delivers messages in a seeded random order.

use super::{Execution, Memory, Plan, Region, Transport};
use crate::random::Random;
use crate::schedule::Post;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;

/// When a send completes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// At once: the message is buffered.
    Eager,
    /// When the receiver has taken the message.
    Rendezvous,
}

/// The bytes of data of one element, with gaps and any lower bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementType {
    /// Offset from the element's address and length of each contiguous piece, in the order in which they travel.
    pub pieces: Vec<(isize, usize)>,
    /// Distance of consecutive elements in bytes.
    pub extent: isize,
}

impl ElementType {
    /// Elements of `bytes` contiguous bytes.
    pub fn contiguous(bytes: usize) -> Self {
        ElementType { pieces: vec![(0, bytes)], extent: bytes as isize }
    }

    /// So many consecutive elements, taken as one.
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

    /// Bytes of data.
    pub fn bytes(&self) -> usize {
        self.pieces.iter().map(|piece| piece.1).sum()
    }
}

/// Memory of a buffer, and where in it the elements are.
#[derive(Clone, Debug)]
pub struct Area {
    /// The memory, gaps included.
    pub bytes: Vec<u8>,
    /// Where each byte of data is, in the order in which the data travel.
    positions: Vec<usize>,
    /// How many bytes of data precede each element; at the end, how many there are.
    starts: Vec<usize>,
}

impl Area {
    /// Memory for `elements` elements of one type, filled with a byte.
    pub fn filled(element: &ElementType, elements: usize, byte: u8) -> Self {
        let addresses = (0..elements as isize).map(|index| index * element.extent);
        Area::placed(addresses.map(|address| (address, element)), byte)
    }

    /// Memory for elements at addresses of their own, filled with a byte.
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

    /// The data of some elements, without gaps.
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

/// A rank's send, receive and scratch buffer.
pub type Areas = [Area; 3];

/// Why a collective did not end well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No rank can go on and no message is on its way.
    Deadlock,
    /// A message is longer or shorter than its receive: sender, receiver.
    Length(usize, usize),
    /// A message was sent that nobody received: sender, receiver.
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

/// Runs all ranks to the end, interleaved and delivering in an order drawn from `seed`.
pub fn run(
    plans: &[Plan],
    areas: &mut [Areas],
    operator: Operator,
    semantics: Semantics,
    seed: u64,
) -> Result<(), Failure> {
    let size = plans.len();
    let network = RefCell::new(Network::new(size, semantics));
    let mut random = Random(seed);
    let mut ports: Vec<Port> = Vec::new();
    for (rank, (plan, areas)) in plans.iter().zip(areas).enumerate() {
        let staging = vec![0; plan.staging_bytes];
        ports.push(Port { rank, network: &network, operator, staging, areas, receives: VecDeque::new() });
    }
    let mut executions = vec![Execution::default(); size];
    let mut running: Vec<usize> = (0..size).collect();
    let mut idle_turns = 0;
    while !running.is_empty() {
        let turn = random.below(running.len());
        let rank = running[turn];
        let moved = network.borrow_mut().deliver_one(&mut random);
        let before = network.borrow().events;
        if executions[rank].advance(&plans[rank], &mut ports[rank])? {
            running.swap_remove(turn);
        }
        let quiet = !moved && before == network.borrow().events;
        idle_turns = if quiet { idle_turns + 1 } else { 0 };
        // A rank that can go on is drawn sooner or later; so many quiet draws in a row mean that there is none.
        if idle_turns > 64 * size + 1000 {
            return Err(Failure::Deadlock);
        }
    }
    let network = network.borrow();
    network.leftover().map_or(Ok(()), |(from, to)| Err(Failure::Unreceived(from, to)))
}

/// Messages between each ordered pair of ranks, in the order in which they were sent.
struct Network {
    size: usize,
    semantics: Semantics,
    /// By sender, then receiver: sent and not yet arrived.
    on_the_way: Vec<VecDeque<(Post, Vec<u8>)>>,
    /// By sender, then receiver: arrived and not yet taken.
    arrived: Vec<VecDeque<(Post, Vec<u8>)>>,
    /// By rank: sends whose message was not yet taken.
    unfinished_sends: Vec<Vec<Post>>,
    /// Counts what changed, to notice when nothing does.
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

/// One rank's end of the network.
struct Port<'a> {
    rank: usize,
    network: &'a RefCell<Network>,
    operator: Operator<'a>,
    staging: Vec<u8>,
    areas: &'a mut Areas,
    /// Posted and not yet matched, in order.
    receives: VecDeque<(Post, u32, Region)>,
}

impl Port<'_> {
    fn read(&self, region: Region) -> Vec<u8> {
        match region.memory {
            Memory::Buffer(buffer) => {
                self.areas[buffer.private().expect("todo: slots")].gather(region.offset, region.elements)
            }
            Memory::Staging => self.staging[region.offset..region.offset + region.elements].to_vec(),
        }
    }

    fn write(&mut self, region: Region, data: &[u8]) {
        match region.memory {
            Memory::Buffer(buffer) => {
                self.areas[buffer.private().expect("todo: slots")].scatter(region.offset, data)
            }
            Memory::Staging => {
                self.staging[region.offset..region.offset + region.elements].copy_from_slice(data)
            }
        }
    }

    fn bytes(&self, region: Region) -> usize {
        match region.memory {
            Memory::Buffer(buffer) => self.areas[buffer.private().expect("todo: slots")]
                .positions(region.offset, region.elements)
                .len(),
            Memory::Staging => region.elements,
        }
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

    /// Cannot block: whoever would complete the posts runs in this very thread.
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
        let data = self.read(source);
        self.write(target, &data);
        Ok(())
    }

    fn reduce(&mut self, left: Region, right: Region, target: Region) -> Result<(), Failure> {
        let size = self.bytes(target) / target.elements;
        let (left_data, right_data) = (self.read(left), self.read(right));
        let operands = left_data.chunks(size).zip(right_data.chunks(size));
        let result: Vec<u8> = operands.flat_map(|(left, right)| (self.operator)(left, right)).collect();
        self.write(target, &result);
        Ok(())
    }

    fn notify(&mut self, _slot: u32) -> Result<(), Failure> {
        todo!()
    }

    fn is_notified(&mut self, _rank: u32, _slot: u32, _times: u32) -> Result<bool, Failure> {
        todo!()
    }

    fn await_notification(&mut self, _rank: u32, _slot: u32, _times: u32) -> Result<(), Failure> {
        todo!()
    }

    fn are_slots_free(&mut self) -> Result<bool, Failure> {
        todo!()
    }

    fn await_free_slots(&mut self) -> Result<(), Failure> {
        todo!()
    }

    fn end_stripe(&mut self) {
        todo!()
    }
}
