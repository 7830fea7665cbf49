//! The memory of a node's ranks. The first of them creates it without a name (`memfd`), so nothing of it
//! outlives the processes that map it.

use super::geometry::Geometry;
use super::lane_memory::LaneMemory;
use super::mapping::Mapping;
use super::patience::Patience;
use super::single_copy;
use crate::mpi::parameters::settings::{self, SINGLE_COPY, full_name};
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::process;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// The numbers in a rank's offer: its process with the descriptor of the memory, a token, and the token's
/// address in the process.
pub const OFFER: usize = 3;

/// The most bytes of a lane that the system provides at once, from its first flags on: as many as Linux maps at a reader's
/// first access.
const PROVIDED: usize = 64 << 10;

/// The ranks of this rank's node, and the layout of their memory.
pub struct OwnNode {
    geometry: Geometry,
    /// In ascending order.
    ranks: Vec<usize>,
    /// This rank.
    rank: usize,
}

/// What a rank offers to the others of its node.
pub struct Offered {
    /// The memory of the node and the file by which others find it, if this rank creates it.
    made: Option<(Mapping, File)>,
    /// Shows other ranks that they found the right process, and the right memory.
    token: Box<u64>,
}

/// The file and the token, which must live until all ranks have looked for them.
pub struct HeldOffer {
    _file: Option<File>,
    _token: Box<u64>,
}

impl Offered {
    /// The numbers by which other ranks find the memory and the token.
    fn numbers(&self) -> [u64; OFFER] {
        let descriptor = self.made.as_ref().map_or(0, |(_, file)| file.as_raw_fd() as u64);
        let address = ptr::from_ref(&*self.token) as u64;
        [u64::from(process::id()) << 32 | descriptor, *self.token, address]
    }
}

/// Returns the numbers that a rank sends to the others. They are 0 if it cannot share memory.
pub fn offer(offered: &io::Result<Offered>) -> [u64; OFFER] {
    offered.as_ref().map_or([0; OFFER], Offered::numbers)
}

/// Whether the rank that made an offer can share memory.
pub fn can_share([_, token, _]: [u64; OFFER]) -> bool {
    token != 0
}

/// The process of the rank that made an offer.
fn process_of([place, ..]: [u64; OFFER]) -> u32 {
    (place >> 32) as u32
}

impl OwnNode {
    /// Returns the node of `rank`. `neighbours`: for each rank, whether it is on that node.
    pub fn new(geometry: Geometry, neighbours: &[bool], rank: usize) -> OwnNode {
        let ranks = (0..neighbours.len()).filter(|&other| neighbours[other]).collect();
        OwnNode { geometry, ranks, rank }
    }

    fn first(&self) -> usize {
        self.ranks[0]
    }

    fn bytes(&self) -> usize {
        self.ranks.len() * self.geometry.piece()
    }

    /// Where each rank's piece begins; `None` for ranks on other nodes.
    fn starts(&self, size: usize) -> Vec<Option<usize>> {
        let mut starts = vec![None; size];
        for (place, &rank) in self.ranks.iter().enumerate() {
            starts[rank] = Some(place * self.geometry.piece());
        }
        starts
    }

    fn own(&self) -> Range<usize> {
        let place = self.ranks.iter().position(|&rank| rank == self.rank).expect("it is one of them");
        place * self.geometry.piece()..(place + 1) * self.geometry.piece()
    }

    /// Makes this rank's offer. The first rank of the node creates the memory.
    pub fn make(&self) -> io::Result<Offered> {
        Mapping::check_room()?;
        let token = Box::new(token());
        if self.rank != self.first() {
            return Ok(Offered { made: None, token });
        }
        let (mapping, file) = Mapping::new(self.bytes(), self.own())?;
        mapping.number(0).store(*token, Release);
        Ok(Offered { made: Some((mapping, file)), token })
    }

    /// Maps the node's memory, given the offers of all ranks. The caller keeps [`HeldOffer`] until all ranks have done so.
    pub fn join(
        self,
        offered: Offered,
        offers: &[[u64; OFFER]],
        patience: Patience,
    ) -> (io::Result<NodeMemory>, HeldOffer) {
        let (mapping, file) = match offered.made {
            Some((mapping, file)) => (Ok(mapping), Some(file)),
            None => (self.found(offers[self.first()]), None),
        };
        let is_here = |rank| self.ranks.binary_search(&rank).is_ok();
        let process = |rank| if is_here(rank) { process_of(offers[rank]) } else { 0 };
        let processes: Arc<[u32]> = (0..offers.len()).map(process).collect();
        let patience = patience.of_processes(&processes);
        let size = offers.len();
        let memory =
            |mapping| NodeMemory { node: self, mapping: Arc::new(mapping), processes, size, patience };
        (mapping.map(memory), HeldOffer { _file: file, _token: offered.token })
    }

    /// Maps the memory that the first rank offers, and checks its token.
    fn found(&self, offer: [u64; OFFER]) -> io::Result<Mapping> {
        let [place, token, _] = offer;
        let mapping = Mapping::of_process(process_of(offer), place as u32, self.bytes(), self.own())?;
        match mapping.number(0).load(Acquire) == token {
            true => Ok(mapping),
            false => Err(io::Error::other("another memory stands where a rank offers its own")),
        }
    }
}

/// A random number, practically different from that of any other memory; neither 0 nor 1.
fn token() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process::id()) | 2
}

/// The memory that the ranks of a node share.
pub struct NodeMemory {
    node: OwnNode,
    mapping: Arc<Mapping>,
    /// The process of each rank; 0 for ranks on other nodes.
    processes: Arc<[u32]>,
    /// Number of ranks of the communicator.
    size: usize,
    patience: Patience,
}

impl NodeMemory {
    pub fn geometry(&self) -> Geometry {
        self.node.geometry
    }

    /// Fails if this rank must not or cannot copy from the memory of some other rank of its node, or finds a wrong token there.
    pub fn check_single_copies(&self, offers: &[[u64; OFFER]]) -> io::Result<()> {
        if !settings::may_copy_singly() {
            return Err(io::Error::other(format!("{} is off", full_name(SINGLE_COPY))));
        }
        let OwnNode { ranks, rank: own, .. } = &self.node;
        ranks.iter().filter(|rank| *rank != own).try_for_each(|&rank| {
            let [_, token, address] = offers[rank];
            match single_copy::number_at(self.processes[rank], address)? == token {
                true => Ok(()),
                false => Err(io::Error::other("another process stands where a rank offers itself")),
            }
        })
    }

    /// Notes whether all ranks of the communicator can make single copies.
    pub fn note_single_copies(&mut self, can_all: bool) {
        self.node.geometry.copies_singly = can_all;
    }

    pub fn rank(&self) -> usize {
        self.node.rank
    }

    /// Number of ranks of the communicator.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether all ranks of the communicator are on this node.
    pub fn has_all_ranks(&self) -> bool {
        self.node.ranks.len() == self.size
    }

    /// A number at the start of a rank's lane, which that rank alone writes. All ranks must be on one node.
    pub fn number(&self, rank: usize, lane: usize, index: usize) -> &AtomicU64 {
        let geometry = self.node.geometry;
        let start = rank * geometry.piece() + lane * geometry.lane();
        self.mapping.number(start + index * size_of::<u64>())
    }

    /// Returns a lane. Each lane may be taken only once.
    pub fn lane_memory(&self, lane: usize) -> LaneMemory {
        let OwnNode { geometry, rank, .. } = self.node;
        let start = |start: Option<usize>| start.map(|start| start + lane * geometry.lane());
        let starts: Vec<Option<usize>> = self.node.starts(self.size).into_iter().map(start).collect();
        if let Some(own) = starts[rank] {
            self.mapping.provide(own..own + geometry.flags(1).min(PROVIDED));
        }
        let (mapping, processes) = (Arc::clone(&self.mapping), Arc::clone(&self.processes));
        LaneMemory::new(geometry, mapping, starts, rank, processes, self.patience)
    }
}
