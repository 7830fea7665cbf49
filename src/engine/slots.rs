//! How slots lie in the memory that a node shares, and into how many stripes blocks are cut to fit into them.

use crate::schedule::SlotKind;

/// The bytes that processors hand each other at a time.
pub const CACHE_LINE: usize = 64;

/// The most bytes in a slot that shares a cache line with its flag.
pub const LINE_PAYLOAD: usize = CACHE_LINE - size_of::<u64>();

/// How slots lie in the memory that a node shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Each slot is in one cache line with its flag.
    Lines,
    /// Slots lie apart from the flags.
    Apart {
        /// Bytes from one slot to the next.
        stride: usize,
        /// Bytes of all slots of a rank.
        bytes: usize,
    },
    /// Slots lie together, apart from the flags. Regions in them are counted in elements, not in slots.
    Joined {
        /// Bytes from one element to the next.
        extent: usize,
        /// The most bytes of all slots of a rank.
        bytes: usize,
    },
    /// Each slot is in one cache line with its flag, and says where a block lies.
    Lent,
}

impl Slots {
    /// Number of kinds of slots. Different kinds never use the same memory.
    pub const KINDS: usize = 4;

    /// Number of banks of each kind. Small banks are many, so ranks seldom have to check whether others are
    /// done with them. Lent slots have one bank, because their rank waits for the others in any case.
    pub const BANKS: [usize; Slots::KINDS] = [16, 16, 4, 1];

    /// Bytes of a bank of short slots. Slots are of this kind if a rank's slots have no more bytes together.
    pub const SHORT_BANK: usize = 16 << 10;

    /// Returns the number of the kind: 0 in lines, 1 short, 2 long, 3 lent.
    #[inline]
    pub fn kind(self) -> usize {
        match self {
            Slots::Lines => 0,
            Slots::Apart { bytes, .. } | Slots::Joined { bytes, .. } if bytes <= Slots::SHORT_BANK => 1,
            Slots::Apart { .. } | Slots::Joined { .. } => 2,
            Slots::Lent => 3,
        }
    }

    pub fn banks(self) -> usize {
        Slots::BANKS[self.kind()]
    }
}

/// Decides how a plan uses slots. The bounds are the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBounds {
    /// The most bytes in a slot that shares a cache line with its flag.
    pub line: usize,
    /// The most bytes of all slots of a rank, if they lie apart from the flags.
    pub bank: usize,
    /// The most bytes of a block in shared memory at a time, if the user limits them.
    pub stripe: Option<usize>,
    /// If ranks learn the length of the longest block, blocks are lent only if it has at least this many
    /// bytes. Of shorter blocks, two copies through caches take less time than one by the system.
    pub least_lent: usize,
}

impl SlotBounds {
    /// `line`: a cache line without its flag. `bank`: as much as stays in the caches of all ranks that read it.
    pub const DEFAULT: SlotBounds =
        SlotBounds { line: LINE_PAYLOAD, bank: 1 << 20, stripe: None, least_lent: 1 << 20 };

    /// Returns the bounds for `ranks` ranks and a bank of at least `bank` bytes, with room for an element in each slot.
    pub fn of_ranks(ranks: usize, bank: usize) -> SlotBounds {
        let bank = bank.max(SlotBounds::slots(ranks) * CACHE_LINE);
        SlotBounds { bank, ..SlotBounds::DEFAULT }
    }

    /// Returns the slots of each rank: one for each of `ranks` ranks in each of two phases, and some more.
    pub const fn slots(ranks: usize) -> usize {
        2 * ranks + 6
    }

    /// Returns the most bytes of a block in shared memory at a time, if a rank has `slots` slots.
    pub fn longest_stripe(&self, slots: usize) -> usize {
        self.longest_in(self.bank, slots)
    }

    fn longest_in(&self, bank: usize, slots: usize) -> usize {
        let most = bank / slots.max(1) / CACHE_LINE * CACHE_LINE;
        self.stripe.unwrap_or(most).min(most)
    }

    /// Returns the most bytes of a block in a short slot, if a rank has `slots` slots.
    pub fn longest_short_block(&self, slots: usize) -> usize {
        self.longest_in(Slots::SHORT_BANK, slots)
    }

    /// Returns slots of which a rank's `slots` fill a bank of short slots. They hold blocks whose lengths the ranks do not
    /// know in advance.
    pub fn short_slots(&self, slots: usize) -> Slots {
        let stride = self.longest_short_block(slots);
        Slots::Apart { stride, bytes: stride * slots }
    }

    /// Returns the elements of a stripe, and the slots that all stripes use. A rank has `slots` slots of a kind; the
    /// longest block has `longest` elements of `extent` bytes. Stripes of different blocks do not follow each other, so
    /// slots lie together only if each block fits into one stripe. Lent blocks are one stripe.
    pub fn cut(&self, (slots, kind): (usize, SlotKind), longest: usize, extent: usize) -> (usize, Slots) {
        if kind == SlotKind::Lent {
            return (longest.max(1), Slots::Lent);
        }
        let step = (self.longest_stripe(slots).min(longest * extent) / extent).max(1);
        let together = longest * extent * slots;
        let used = match () {
            () if kind == SlotKind::Together && (1..=step).contains(&longest) && together <= self.bank => {
                Slots::Joined { extent, bytes: together }
            }
            () if longest * extent <= self.line => Slots::Lines,
            () => {
                let stride = (step * extent).next_multiple_of(CACHE_LINE);
                Slots::Apart { stride, bytes: stride * slots }
            }
        };
        (step, used)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_lie_apart_where_blocks_are_cut_or_empty() {
        let cut = |longest| {
            SlotBounds { line: 48, bank: 4 * CACHE_LINE, ..SlotBounds::DEFAULT }
                .cut((2, SlotKind::Together), longest, 4)
                .1
        };
        assert_eq!(cut(0), Slots::Lines);
        assert_eq!(cut(32), Slots::Joined { extent: 4, bytes: 2 * 32 * 4 });
        assert_eq!(cut(33), Slots::Apart { stride: 2 * CACHE_LINE, bytes: 4 * CACHE_LINE });
    }
}
