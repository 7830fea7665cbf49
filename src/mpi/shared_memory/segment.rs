//! The memory that the ranks of a node share for one communicator.
//!
//! The first rank of a node makes it, without a name (`memfd`), so that nothing of it outlives the processes that know it. Each rank has a
//! piece there, which it alone writes and the others only read. What lies in a piece:
//!
//! | what | how much |
//! |---|---|
//! | in the first piece a token, by which others see that they found the right memory | a cache line |
//! | how many stripes the rank has ended, of each kind of slots | a cache line each |
//! | slots in lines, for blocks of up to [`LINE_PAYLOAD`] bytes, each with its flag behind it | banks of cache lines |
//! | flags of short slots, flags of long ones | banks of cache lines |
//! | short slots, long ones | banks of [`Slots::SHORT_BANK`], and of as many bytes as the user wants |
//!
//! [`Slots::BANKS`] tells how many banks of each kind there are.

use super::mapping::Mapping;
use super::patience::Patience;
use super::tenancy::{self, Tenant};
use crate::engine::turns::Turns;
use crate::engine::{CACHE_LINE, LINE_PAYLOAD, SlotBounds, Slots};
use crate::mpi::messages::transport::Error;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::process;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release},
};

/// How many numbers a rank tells the others of its piece.
pub const OFFER: usize = 2;

/// What decides where things lie in a piece; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Slots of a rank, and so flags in a bank.
    pub slots: usize,
    /// Bytes of a bank of slots that lie apart from flags.
    pub bank: usize,
}

/// What an area of slots apart from flags is a multiple of.
pub const PAGE: usize = 4096;

impl Geometry {
    /// For so many ranks: one slot for each, for each of two phases, and some more.
    pub fn new(ranks: usize, bank: usize) -> Geometry {
        let slots = 2 * ranks + 6;
        // Room for an element in each slot, at least.
        Geometry { slots, bank: bank.max(slots * CACHE_LINE).next_multiple_of(PAGE) }
    }

    /// What plans must keep to.
    pub fn bounds(&self, stripe: Option<usize>) -> SlotBounds {
        SlotBounds { line: LINE_PAYLOAD, bank: self.bank, stripe }
    }

    fn lines(&self) -> usize {
        ended(Slots::KINDS)
    }

    /// Where the flags of a kind begin; of lines, the lines themselves.
    fn flags(&self, kind: usize) -> usize {
        let banks: usize = Slots::BANKS[..kind].iter().sum();
        self.lines() + banks * self.slots * CACHE_LINE
    }

    /// Where the slots begin that are apart from flags.
    fn data(&self) -> usize {
        self.flags(Slots::KINDS).next_multiple_of(PAGE)
    }

    /// Where a bank of slots begins that are apart from flags.
    fn bank(&self, kind: usize, bank: usize) -> usize {
        let short = Slots::BANKS[1] * Slots::SHORT_BANK;
        self.data() + if kind == 1 { bank * Slots::SHORT_BANK } else { short + bank * self.bank }
    }

    fn bytes(&self) -> usize {
        self.bank(2, Slots::BANKS[2])
    }
}

/// Where a rank tells how many stripes of a kind of slots it has ended, behind the token.
fn ended(kind: usize) -> usize {
    (1 + kind) * CACHE_LINE
}

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
        self.ranks.len() * self.geometry.bytes()
    }

    /// Where the pieces begin, by rank; `None` for those on other nodes.
    fn starts(&self, size: usize) -> Vec<Option<usize>> {
        let mut starts = vec![None; size];
        for (place, &rank) in self.ranks.iter().enumerate() {
            starts[rank] = Some(place * self.geometry.bytes());
        }
        starts
    }

    fn own(&self) -> Range<usize> {
        let place = self.ranks.iter().position(|&rank| rank == self.rank).expect("it is one of them");
        place * self.geometry.bytes()..(place + 1) * self.geometry.bytes()
    }

    /// New memory, if this rank is to make it.
    pub fn make(&self) -> io::Result<Option<Made>> {
        tenancy::check_room()?;
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
    ) -> (io::Result<Segment>, Option<File>) {
        let (mapping, file) = match made {
            Some(Made { mapping, file, .. }) => (Ok(mapping), Some(file)),
            None => (self.found(offers[self.first()]), None),
        };
        (mapping.map(|mapping| self.segment(mapping, offers.len(), patience)), file)
    }

    /// The memory that the first rank offers.
    fn found(&self, [place, token]: [u64; OFFER]) -> io::Result<Mapping> {
        let mapping = Mapping::of_process((place >> 32) as u32, place as u32, self.bytes(), self.own())?;
        match mapping.number(0).load(Acquire) == token {
            true => Ok(mapping),
            false => Err(io::Error::other("another memory stands where a rank offers its own")),
        }
    }

    fn segment(self, mapping: Mapping, size: usize, patience: Patience) -> Segment {
        let Node { geometry, rank, .. } = self;
        let base = mapping.base();
        let starts = self.starts(size);
        let bases =
            starts.iter().map(|start| start.map_or(ptr::null_mut(), |start| base.wrapping_add(start)));
        Segment {
            geometry,
            rank,
            bases: bases.collect(),
            tenant: Tenant::new(mapping, starts, rank, geometry.data()..geometry.bytes(), [1, 2].map(ended)),
            turns: Slots::BANKS.map(Turns::new),
            offsets: Offsets::default(),
            patience,
        }
    }
}

/// A number that no other memory bears, as far as it matters; neither 0 nor 1.
fn token() -> u64 {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(process::id()) | 2
}

impl Segment {
    /// What decides where things lie.
    pub fn geometry(&self) -> Geometry {
        self.geometry
    }
}

/// The memory of a communicator's ranks that share this rank's node.
pub struct Segment {
    geometry: Geometry,
    rank: usize,
    tenant: Arc<Tenant>,
    /// Where each rank's piece is.
    bases: Vec<*mut u8>,
    /// Of each kind of slots.
    turns: [Turns; Slots::KINDS],
    offsets: Offsets,
    patience: Patience,
}

/// Where the slots of the plan are that is carried out, from the start of each piece on.
#[derive(Clone, Copy, Default)]
struct Offsets {
    /// Which of [`Segment::turns`].
    kind: usize,
    slots: usize,
    slot_stride: usize,
    flags: usize,
}

impl Segment {
    #[inline]
    fn turn_to(&mut self, slots: Slots) {
        let kind = slots.kind();
        let bank = self.turns[kind].bank();
        let flags = self.geometry.flags(kind) + bank * self.geometry.slots * CACHE_LINE;
        self.offsets = match slots {
            Slots::Lines => {
                Offsets { kind, slots: flags, slot_stride: CACHE_LINE, flags: flags + LINE_PAYLOAD }
            }
            Slots::Apart { stride, .. } => {
                Offsets { kind, slots: self.geometry.bank(kind, bank), slot_stride: stride, flags }
            }
        };
    }

    /// Begins to use a kind of slots.
    #[inline]
    pub fn enter(&mut self, slots: Slots) {
        if let Slots::Apart { bytes, .. } = slots {
            // Who has long slots may have had short ones.
            let short = Slots::BANKS[1] * Slots::SHORT_BANK;
            self.tenant.enter(if slots.kind() == 1 { short } else { short + slots.banks() * bytes });
        }
        self.turn_to(slots);
    }

    /// Ends to use them, but not after an error: others may still read what this rank wrote, and it does not know when they have.
    #[inline]
    pub fn leave(&mut self, slots: Slots) {
        if slots != Slots::Lines {
            self.tenant.leave();
        }
    }

    /// Address of a rank's slot.
    #[inline]
    pub fn slot(&self, rank: u32, slot: usize) -> *mut u8 {
        self.bases[rank as usize].wrapping_add(self.offsets.slots + slot * self.offsets.slot_stride)
    }

    #[inline]
    fn number(&self, rank: usize, offset: usize) -> &AtomicU64 {
        self.tenant.number(rank, offset)
    }

    #[inline]
    fn flag(&self, rank: usize, slot: u32) -> &AtomicU64 {
        self.number(rank, self.offsets.flags + slot as usize * CACHE_LINE)
    }

    /// Raises the flag of a slot of this rank's. Release: whoever sees it sees what this rank wrote before.
    #[inline]
    pub fn notify(&mut self, slot: u32) {
        let flag = self.flag(self.rank, slot);
        let raised = self.turns[self.offsets.kind].raised(flag.load(Relaxed));
        flag.store(raised, Release);
    }

    /// Whether a rank has raised a flag so many times in this stripe. Acquire: what that rank wrote before is seen.
    #[inline]
    pub fn is_notified(&self, rank: u32, slot: u32, times: u32) -> bool {
        self.flag(rank as usize, slot).load(Acquire) >= self.turns[self.offsets.kind].flag_value(times)
    }

    /// Waits for that.
    #[inline]
    pub fn await_notification(&self, rank: u32, slot: u32, times: u32) -> Result<(), Error> {
        let value = self.turns[self.offsets.kind].flag_value(times);
        let flag = self.flag(rank as usize, slot);
        self.patience.wait_until(|| flag.load(Acquire) >= value)
    }

    /// Whether this rank's slots may be written in this stripe. Acquire: what the others read before they ended theirs
    /// has been read.
    pub fn are_slots_free(&mut self) -> bool {
        let Segment { tenant, turns, offsets, .. } = self;
        let place_of_ended = ended(offsets.kind);
        let by_peers = tenant.peers.iter().map(|&peer| tenant.ended_by(peer, place_of_ended));
        turns[offsets.kind].may_write(|| by_peers.min().unwrap_or(u64::MAX))
    }

    /// Waits for that.
    #[inline]
    pub fn await_free_slots(&mut self) -> Result<(), Error> {
        let patience = self.patience;
        if self.are_slots_free() { Ok(()) } else { patience.wait_until(|| self.are_slots_free()) }
    }

    /// Ends a stripe. Release: this rank has read what it wanted to.
    #[inline]
    pub fn end_stripe(&mut self, slots: Slots) {
        let place = ended(self.offsets.kind);
        let ended = self.turns[self.offsets.kind].end();
        self.number(self.rank, place).store(ended, Release);
        self.turn_to(slots);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Algorithm, Problem, REGISTRY};

    /// Ranks on one node, and on nodes of two.
    fn problems(size: usize) -> impl Iterator<Item = Problem> {
        let problem = move |nodes, segments| Problem { nodes, segments, ..Problem::new(size) };
        [1, 5, 1000].into_iter().flat_map(move |segments| {
            let pairs = (0..size as u32).map(|rank| rank / 2).collect();
            [problem(vec![0; size].into(), segments), problem(pairs, segments)]
        })
    }

    #[test]
    fn there_is_a_slot_for_whatever_an_algorithm_shows() {
        let sharing = REGISTRY.iter().copied().filter(|algorithm| algorithm.takes_shared_memory());
        let sharing: Vec<&Algorithm> = sharing.collect();
        for size in 1..=33 {
            let Geometry { slots, bank } = Geometry::new(size, 0);
            assert!(bank >= slots * CACHE_LINE);
            for algorithm in sharing.iter().filter(|algorithm| algorithm.serves(size, 0, true).is_ok()) {
                for problem in problems(size) {
                    let schedule = algorithm.schedule(&problem, size - 1);
                    let name = algorithm.name;
                    assert!(schedule.slots <= slots, "{name} has {} on {size} ranks", schedule.slots);
                }
            }
        }
    }

    #[test]
    fn areas_of_a_piece_follow_each_other() {
        for ranks in 1..=64 {
            let geometry = Geometry::new(ranks, 10_000);
            let flags = |kind: usize| Slots::BANKS[kind] * geometry.slots * CACHE_LINE;
            assert!(ended(Slots::KINDS - 1) + CACHE_LINE <= geometry.flags(0));
            assert_eq!(geometry.flags(0) + flags(0), geometry.flags(1));
            assert_eq!(geometry.flags(1) + flags(1), geometry.flags(2));
            assert!(geometry.flags(2) + flags(2) <= geometry.data());
            assert_eq!(geometry.bank(1, Slots::BANKS[1]), geometry.bank(2, 0));
            assert_eq!(geometry.bank(2, 0) + Slots::BANKS[2] * geometry.bank, geometry.bytes());
            assert!(geometry.data().is_multiple_of(PAGE) && geometry.bytes().is_multiple_of(PAGE));
        }
    }
}
