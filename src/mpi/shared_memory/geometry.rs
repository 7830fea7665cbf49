//! The layout of the memory that the ranks of a node share for one communicator.
//!
//! Each rank has a piece, which it alone writes and the others only read. A piece has [`LANES`] lanes, each
//! for one collective at a time. A lane holds:
//!
//! | what | size |
//! |---|---|
//! | the token by which ranks recognise the memory, or numbers that assign the lane (`allotment.rs`) | a cache line |
//! | how many stripes of each kind of slots the rank has ended | a cache line each |
//! | slots in lines, for blocks of up to [`LINE_PAYLOAD`](crate::engine::LINE_PAYLOAD) bytes, each with its flag behind it | banks of cache lines |
//! | flags of short slots, flags of long ones | banks of cache lines |
//! | addresses and lengths of lent blocks, each with its flag behind it | cache lines |
//! | short slots, long ones | banks of at least [`Slots::SHORT_BANK`] bytes, and of as many bytes as the user sets |
//!
//! [`Slots::BANKS`] tells how many banks of each kind there are. Memory that is never written costs nothing. Slots that need
//! less than their bank lie at other places in it each time.

use crate::engine::{CACHE_LINE, SlotBounds, Slots};

/// The lane of blocking collectives, of which there is one at a time.
pub const BLOCKING: usize = 0;

/// The lane of non-blocking collectives. They run one after another, in the order in which they begin.
pub const NONBLOCKING: usize = 1;

/// The first lane for persistent collectives. Ranks may start these in any order, so each one has a lane of
/// its own, as long as any is free.
pub const PERSISTENT: usize = 2;

pub const LANES: usize = 10;

/// Bytes of slots of a kind that the ranks of a communicator use in turn, all together, if banks have room for them. A rank
/// writes several times slower to a slot that still lies in a reader's own cache (levels 1 and 2). This is twice as much as
/// the caches of two processors hold.
const IN_TURN: usize = 4 << 20;

/// The sizes that determine the layout of a lane, and whether blocks may be lent; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    ranks: usize,
    /// Bytes of a bank of long slots.
    pub bank: usize,
    /// Bytes of each bank that short slots use in turn, and long ones.
    in_turn: [u32; 2],
    /// Whether the ranks of each node can copy from each other's own memory.
    pub copies_singly: bool,
}

/// Bytes of the longest pages that Linux has on this processor: on ARM and POWER, some systems have pages of 64 KiB. A rank's
/// piece and the area of short and long slots begin at a page's start, and so does what follows them.
pub const PAGE: usize = if cfg!(target_arch = "x86_64") { 4096 } else { 64 << 10 };

impl Geometry {
    /// Returns the geometry for so many ranks, and for long slots of at least `bank` bytes; without single copies.
    pub fn new(ranks: usize, bank: usize) -> Geometry {
        let bank = SlotBounds::of_ranks(ranks, bank).bank.next_multiple_of(PAGE);
        let of_kind = |kind: usize| IN_TURN / (Slots::BANKS[kind] * ranks);
        let in_turn = [of_kind(1), of_kind(2).min(bank)].map(|bytes| bytes as u32);
        Geometry { ranks, bank, in_turn, copies_singly: false }
    }

    /// Number of slots of a rank, and of flags in a bank.
    pub fn slots(&self) -> usize {
        SlotBounds::slots(self.ranks)
    }

    /// Returns the limits of plans. `stripe`: the user's limit for one block's bytes in shared memory.
    pub fn bounds(&self, stripe: Option<usize>) -> SlotBounds {
        SlotBounds { stripe, ..SlotBounds::of_ranks(self.ranks, self.bank) }
    }

    /// Where the slots begin that lie in their flags' cache lines.
    fn lines(&self) -> usize {
        ended(Slots::KINDS)
    }

    /// Where the flags of a kind of slots begin in a lane. Slots in lines and lent slots begin there themselves.
    pub fn flags(&self, kind: usize) -> usize {
        let banks: usize = Slots::BANKS[..kind].iter().sum();
        self.lines() + banks * self.slots() * CACHE_LINE
    }

    /// Where the short and long slots begin in a lane.
    pub fn data(&self) -> usize {
        self.flags(Slots::KINDS).next_multiple_of(PAGE)
    }

    /// Where a bank of short slots (kind 1) or long slots (kind 2) begins in a lane.
    #[inline]
    pub fn bank(&self, kind: usize, bank: usize) -> usize {
        let short_bank = (self.in_turn[0] as usize).next_multiple_of(PAGE).max(Slots::SHORT_BANK);
        let short = Slots::BANKS[1] * short_bank;
        self.data() + if kind == 1 { bank * short_bank } else { short + bank * self.bank }
    }

    /// In how many places of a bank of short slots (kind 1) or long slots (kind 2) those of so many bytes may lie.
    #[inline]
    pub fn places(&self, kind: usize, bytes: usize) -> usize {
        (self.in_turn[kind - 1] as usize / in_lines(bytes)).max(1)
    }

    /// Bytes of a lane.
    pub fn lane(&self) -> usize {
        self.bank(2, Slots::BANKS[2])
    }

    /// Bytes of a piece.
    pub fn piece(&self) -> usize {
        LANES * self.lane()
    }
}

/// Returns the bytes of the cache lines that so many bytes need.
#[inline]
pub fn in_lines(bytes: usize) -> usize {
    bytes.next_multiple_of(CACHE_LINE)
}

/// Where in a lane a rank publishes how many stripes of a kind of slots it has ended.
pub fn ended(kind: usize) -> usize {
    (1 + kind) * CACHE_LINE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Algorithm, Nodes, Problem, REGISTRY};

    /// Ranks on one node, on nodes of two, and one node with more ranks than each of the others, which are as full as each other.
    fn problems(size: usize) -> impl Iterator<Item = Problem> {
        let nodes = move |first: usize, others: usize| -> Nodes {
            (0..size).map(|rank| rank.saturating_sub(first).div_ceil(others) as u32).collect()
        };
        let uneven = (1..=size).flat_map(move |first| [1, 2, 3, 4, 8].map(|others| nodes(first, others)));
        let pairs = (0..size as u32).map(|rank| rank / 2).collect();
        [pairs].into_iter().chain(uneven).flat_map(move |nodes| {
            [1, 5, 1000].map(|segments| Problem { nodes: nodes.clone(), segments, ..Problem::new(size) })
        })
    }

    #[test]
    fn there_is_a_slot_for_whatever_an_algorithm_shows() {
        let sharing = REGISTRY.iter().copied().filter(|algorithm| algorithm.takes_shared_memory());
        let sharing: Vec<&Algorithm> = sharing.collect();
        for size in 1..=33 {
            let geometry = Geometry::new(size, 0);
            let slots = geometry.slots();
            assert!(geometry.bank >= slots * CACHE_LINE);
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
    fn areas_of_a_lane_follow_each_other() {
        for ranks in 1..=64 {
            let geometry = Geometry::new(ranks, 10_000);
            let flags = |kind: usize| Slots::BANKS[kind] * geometry.slots() * CACHE_LINE;
            assert!(ended(Slots::KINDS - 1) + CACHE_LINE <= geometry.flags(0));
            assert_eq!(geometry.flags(0) + flags(0), geometry.flags(1));
            assert_eq!(geometry.flags(1) + flags(1), geometry.flags(2));
            assert!(geometry.flags(2) + flags(2) <= geometry.data());
            assert_eq!(geometry.bank(1, Slots::BANKS[1]), geometry.bank(2, 0));
            assert_eq!(geometry.bank(2, 0) + Slots::BANKS[2] * geometry.bank, geometry.lane());
            assert!(geometry.data().is_multiple_of(PAGE) && geometry.lane().is_multiple_of(PAGE));
        }
    }
}
