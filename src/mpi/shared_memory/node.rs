//! The memory of a node's ranks, and how they find it: the first of them makes it, without a name (`memfd`), so that nothing of it outlives
//! the processes that know it.

use super::geometry::Geometry;
use super::mapping::Mapping;
use super::patience::Patience;
use super::segment::Segment;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::process;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Release},
};

/// How many numbers a rank tells the others of its piece.
pub const OFFER: usize = 2;

/// The ranks of this rank's node, and how their memory lies.
pub struct Node {
    geometry: Geometry,
    /// In ascending order.
    ranks: Vec<usize>,
    /// Whose node it is.
    rank: usize,
}

/// The memory of a node, before the others know it.
pub struct Made {
    mapping: Mapping,
    /// What others find it by.
    file: File,
    token: u64,
}

/// What a rank tells whose node another rank makes memory for.
const NOTHING_TO_OFFER: [u64; OFFER] = [0, 1];

impl Made {
    /// What others must know to find it.
    fn offer(&self) -> [u64; OFFER] {
        [u64::from(process::id()) << 32 | self.file.as_raw_fd() as u64, self.token]
    }
}

/// What a rank tells the others. That of one that cannot share memory is 0.
pub fn offer(made: &io::Result<Option<Made>>) -> [u64; OFFER] {
    made.as_ref().map_or([0; OFFER], |made| made.as_ref().map_or(NOTHING_TO_OFFER, Made::offer))
}

/// Whether a rank can share memory, as far as it knows.
pub fn can_share([_, token]: [u64; OFFER]) -> bool {
    token != 0
}

impl Node {
    /// That of a rank. `neighbours`: of each rank whether it is there.
    pub fn new(geometry: Geometry, neighbours: &[bool], rank: usize) -> Node {
        let ranks = (0..neighbours.len()).filter(|&other| neighbours[other]).collect();
        Node { geometry, ranks, rank }
    }

    fn first(&self) -> usize {
        self.ranks[0]
    }

    fn bytes(&self) -> usize {
        self.ranks.len() * self.geometry.piece()
    }

    /// Where the pieces begin, by rank; `None` for those on other nodes.
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

    /// New memory, if this rank is to make it.
    pub fn make(&self) -> io::Result<Option<Made>> {
        Mapping::check_room()?;
        if self.rank != self.first() {
            return Ok(None);
        }
        let (mapping, file) = Mapping::new(self.bytes(), self.own())?;
        let token = token();
        mapping.number(0).store(token, Release);
        Ok(Some(Made { mapping, file, token }))
    }

    /// The memory of the node's ranks, as all offer it; and what others find it by, to be kept until all have looked.
    pub fn join(
        self,
        made: Option<Made>,
        offers: &[[u64; OFFER]],
        patience: Patience,
    ) -> (io::Result<Memory>, Option<File>) {
        let (mapping, file) = match made {
            Some(Made { mapping, file, .. }) => (Ok(mapping), Some(file)),
            None => (self.found(offers[self.first()]), None),
        };
        let memory =
            |mapping| Memory { node: self, mapping: Arc::new(mapping), size: offers.len(), patience };
        (mapping.map(memory), file)
    }

    /// The memory that the first rank offers.
    fn found(&self, [place, token]: [u64; OFFER]) -> io::Result<Mapping> {
        let mapping = Mapping::of_process((place >> 32) as u32, place as u32, self.bytes(), self.own())?;
        match mapping.number(0).load(Acquire) == token {
            true => Ok(mapping),
            false => Err(io::Error::other("another memory stands where a rank offers its own")),
        }
    }
}

/// A number that no other memory bears, as far as it matters; neither 0 nor 1.
fn token() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process::id()) | 2
}

/// The memory that the ranks of a node share.
pub struct Memory {
    node: Node,
    mapping: Arc<Mapping>,
    /// Number of ranks of the communicator.
    size: usize,
    patience: Patience,
}

impl Memory {
    /// How it lies.
    pub fn geometry(&self) -> Geometry {
        self.node.geometry
    }

    /// This rank.
    pub fn rank(&self) -> usize {
        self.node.rank
    }

    /// Number of ranks of the communicator.
    pub fn size(&self) -> usize {
        self.size
    }

    /// A number at the start of a lane, which its rank alone changes, of ranks that are all on one node.
    pub fn number(&self, rank: usize, lane: usize, index: usize) -> &AtomicU64 {
        let geometry = self.node.geometry;
        let start = rank * geometry.piece() + lane * geometry.lane();
        self.mapping.number(start + index * size_of::<u64>())
    }

    /// A lane of it, of which each is had once.
    pub fn segment(&self, lane: usize) -> Segment {
        let Node { geometry, rank, .. } = self.node;
        let start = |start: Option<usize>| start.map(|start| start + lane * geometry.lane());
        let starts = self.node.starts(self.size).into_iter().map(start).collect();
        Segment::new(geometry, Arc::clone(&self.mapping), starts, rank, self.patience)
    }
}
