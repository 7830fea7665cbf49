//! A lane of the memory that the ranks of a node share, in which one collective at a time goes on: its slots and their flags.

use super::geometry::{Geometry, ended};
use super::mapping::Mapping;
use super::patience::Patience;
use super::single_copy::{Lent, copy_from};
use super::tenancy::Tenant;
use crate::engine::turns::Turns;
use crate::engine::{CACHE_LINE, LINE_PAYLOAD, Slots};
use crate::mpi::messages::transport::Error;
use std::io;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{
    AtomicU64,
    Ordering::{Acquire, Relaxed, Release, SeqCst},
    fence,
};

/// A lane of the memory of a communicator's ranks that share this rank's node.
pub struct Segment {
    geometry: Geometry,
    rank: usize,
    /// The ranks' processes; 0 for those on other nodes.
    processes: Arc<[u32]>,
    tenant: Arc<Tenant>,
    /// Where each rank's part of the lane is.
    bases: Vec<*mut u8>,
    /// Of each kind of slots.
    turns: [Turns; Slots::KINDS],
    offsets: Offsets,
    patience: Patience,
    /// Whether a collective uses slots that others could want to give back.
    is_entered: bool,
}

/// Where the slots of the plan are that is carried out, from the start of each rank's part of the lane on.
#[derive(Clone, Copy, Default)]
struct Offsets {
    /// Which of [`Segment::turns`].
    kind: usize,
    slots: usize,
    slot_stride: usize,
    flags: usize,
}

impl Segment {
    /// A lane that nothing has used yet. `starts`: where it begins, by rank; `None` for those on other nodes.
    pub fn new(
        geometry: Geometry,
        mapping: Arc<Mapping>,
        starts: Vec<Option<usize>>,
        rank: usize,
        processes: Arc<[u32]>,
        patience: Patience,
    ) -> Segment {
        let base = mapping.base();
        let bases =
            starts.iter().map(|start| start.map_or(ptr::null_mut(), |start| base.wrapping_add(start)));
        Segment {
            geometry,
            rank,
            processes,
            bases: bases.collect(),
            tenant: Tenant::new(mapping, starts, rank, geometry.data()..geometry.lane(), [1, 2].map(ended)),
            turns: Slots::BANKS.map(Turns::new),
            offsets: Offsets::default(),
            patience,
            is_entered: false,
        }
    }

    #[inline]
    fn turn_to(&mut self, slots: Slots) {
        let kind = slots.kind();
        let bank = self.turns[kind].bank();
        let flags = self.geometry.flags(kind) + bank * self.geometry.slots * CACHE_LINE;
        self.offsets = match slots {
            Slots::Lines | Slots::Lent => {
                Offsets { kind, slots: flags, slot_stride: CACHE_LINE, flags: flags + LINE_PAYLOAD }
            }
            Slots::Apart { stride, .. } | Slots::Joined { extent: stride, .. } => {
                Offsets { kind, slots: self.geometry.bank(kind, bank), slot_stride: stride, flags }
            }
        };
    }

    /// Begins to use a kind of slots, or goes on.
    #[inline]
    pub fn enter(&mut self, slots: Slots) {
        if let Slots::Apart { bytes, .. } | Slots::Joined { bytes, .. } = slots
            && !self.is_entered
        {
            self.is_entered = true;
            // Who has long slots may have had short ones.
            let short = Slots::BANKS[1] * Slots::SHORT_BANK;
            self.tenant.enter(if slots.kind() == 1 { short } else { short + slots.banks() * bytes });
        }
        self.turn_to(slots);
    }

    /// Ends to use them, but not after an error: others may still read what this rank wrote, and it does not know when they have.
    #[inline]
    pub fn leave(&mut self, slots: Slots) {
        if let Slots::Apart { .. } | Slots::Joined { .. } = slots {
            self.is_entered = false;
            self.tenant.leave();
        }
    }

    /// Address of a rank's slot; where slots lie together, of an element in them.
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

    /// The numbers of a lent slot: in which stripe something was lent, where it lies, and how many bytes it has.
    fn lent_numbers(&self, rank: usize, slot: usize) -> [&AtomicU64; 3] {
        let first = self.offsets.slots + slot * self.offsets.slot_stride;
        [0, 1, 2].map(|number| self.number(rank, first + number * size_of::<u64>()))
    }

    /// What stands for this stripe in lent slots.
    fn stripe(&self) -> u64 {
        self.turns[self.offsets.kind].flag_value(0)
    }

    /// Tells in a slot of this rank's where something lies, which nobody looks at before its flag is raised.
    pub fn lend(&self, slot: u32, lent: Lent) {
        let numbers = self.lent_numbers(self.rank, slot as usize);
        let values = [self.stripe(), lent.address, lent.bytes];
        numbers.iter().zip(values).for_each(|(number, value)| number.store(value, Relaxed));
    }

    /// Takes back what this rank has lent, after an error. A rank that copies it at the same time sees that, and fails.
    pub fn withdraw(&self) {
        for slot in 0..self.geometry.slots {
            self.lent_numbers(self.rank, slot)[0].store(0, Relaxed);
        }
        // What the caller writes to its memory from now on is not seen before this.
        fence(SeqCst);
    }

    /// What a rank lends in this stripe; nothing, if it has lent nothing there, or has taken it back.
    pub fn lent(&self, rank: u32, slot: usize) -> Lent {
        let [stripe, address, bytes] =
            self.lent_numbers(rank as usize, slot).map(|number| number.load(Relaxed));
        if stripe == self.stripe() { Lent { address, bytes } } else { Lent { address: 0, bytes: 0 } }
    }

    /// Copies some bytes of what a rank lends. An error: they cannot be read, or were taken back meanwhile.
    ///
    /// # Safety
    /// There is room for so many bytes at the target.
    pub unsafe fn copy_lent(
        &self,
        (rank, slot): (u32, usize),
        lent: Lent,
        target: *mut u8,
    ) -> io::Result<()> {
        // SAFETY: by this function's contract.
        unsafe { copy_from(self.processes[rank as usize], lent, target)? };
        fence(Acquire);
        match self.lent_numbers(rank as usize, slot)[0].load(Relaxed) == self.stripe() {
            true => Ok(()),
            false => Err(io::Error::other("another rank failed and took back what it lent")),
        }
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
