//! A lane of the memory that a node's ranks share: its slots and their flags. One collective at a time uses it.

use super::geometry::{Geometry, ended, in_lines};
use super::mapping::Mapping;
use super::patience::Patience;
use super::single_copy::{Lent, copy_from};
use super::slot_writer::SlotWriter;
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
pub struct LaneMemory {
    geometry: Geometry,
    rank: usize,
    /// The process of each rank; 0 for ranks on other nodes.
    processes: Arc<[u32]>,
    tenant: Arc<Tenant>,
    /// Where each rank's part of the lane begins; null for ranks on other nodes.
    bases: Vec<*mut u8>,
    /// The stripes and the bank of each kind of slots.
    turns: [Turns; Slots::KINDS],
    offsets: Offsets,
    /// Writes long blocks to this rank's slots.
    pub writer: SlotWriter,
    patience: Patience,
    /// Whether a collective uses slots that another communicator's call could otherwise give back.
    is_entered: bool,
    /// What a collective that does not block awaits, and how often it has looked in vain. Counted if long waits are logged.
    in_vain: (Option<Awaited>, u32),
}

/// How often a collective that does not block looks in vain before its wait is a long one.
const LOOKS_IN_VAIN: u32 = 1000;

/// What a rank waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Awaited {
    /// That a rank raises the flag of a slot to a value.
    Flag { rank: u32, slot: u32, value: u64 },
    /// That it may write its slots in a stripe.
    FreeSlots { stripe: u64 },
}

/// Where the current plan's slots and flags are, in bytes from the start of each rank's part of the lane.
#[derive(Clone, Copy, Default)]
struct Offsets {
    /// The index in [`LaneMemory::turns`].
    kind: usize,
    slots: usize,
    slot_stride: usize,
    flags: usize,
}

impl LaneMemory {
    /// A lane that nothing has used yet. `starts`: where each rank's part begins; `None` for ranks on other nodes.
    pub fn new(
        geometry: Geometry,
        mapping: Arc<Mapping>,
        starts: Vec<Option<usize>>,
        rank: usize,
        processes: Arc<[u32]>,
        patience: Patience,
    ) -> LaneMemory {
        let base = mapping.base();
        let bases =
            starts.iter().map(|start| start.map_or(ptr::null_mut(), |start| base.wrapping_add(start)));
        LaneMemory {
            geometry,
            rank,
            processes,
            bases: bases.collect(),
            tenant: Tenant::new(mapping, starts, rank, geometry.data()..geometry.lane(), [1, 2].map(ended)),
            turns: Slots::BANKS.map(Turns::new),
            offsets: Offsets::default(),
            writer: SlotWriter::default(),
            patience,
            is_entered: false,
            in_vain: (None, 0),
        }
    }

    #[inline(always)]
    fn turn_to(&mut self, slots: Slots) {
        let kind = slots.kind();
        let bank = self.turns[kind].bank();
        let flags = self.geometry.flags(kind) + bank * self.geometry.slots() * CACHE_LINE;
        self.offsets = match slots {
            Slots::Lines | Slots::Lent => {
                Offsets { kind, slots: flags, slot_stride: CACHE_LINE, flags: flags + LINE_PAYLOAD }
            }
            Slots::Apart { stride, bytes } | Slots::Joined { extent: stride, bytes } => {
                let place = self.turns[kind].place(self.geometry.places(kind, bytes)) * in_lines(bytes);
                Offsets { kind, slots: self.geometry.bank(kind, bank) + place, slot_stride: stride, flags }
            }
        };
    }

    /// Starts or continues to use a kind of slots.
    #[inline(always)]
    pub fn enter(&mut self, slots: Slots) {
        if let Slots::Apart { bytes, .. } | Slots::Joined { bytes, .. } = slots
            && !self.is_entered
        {
            self.is_entered = true;
            // The short slots come first, and this rank may have used them before.
            let short = self.held(1, Slots::SHORT_BANK);
            self.tenant.enter(if slots.kind() == 1 { short } else { short + self.held(2, bytes) });
        }
        self.turn_to(slots);
    }

    /// Returns how many bytes of slots of a kind are in use, if they have `bytes` bytes at a time.
    #[inline(always)]
    fn held(&self, kind: usize, bytes: usize) -> usize {
        let places = self.turns[kind].places(self.geometry.places(kind, bytes));
        Slots::BANKS[kind] * places * in_lines(bytes)
    }

    /// Stops using the slots, if it uses any. Not called after an error: this rank does not know when others have read what it
    /// wrote.
    #[inline]
    pub fn leave(&mut self, slots: Slots) {
        if let Slots::Apart { .. } | Slots::Joined { .. } = slots
            && self.is_entered
        {
            self.is_entered = false;
            self.tenant.leave();
        }
    }

    /// The address of a rank's slot; if slots lie together, of the element with the number `slot`.
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

    /// The numbers of a lent slot: the stripe in which a block was lent, its address, and its bytes.
    fn lent_numbers(&self, rank: usize, slot: usize) -> [&AtomicU64; 3] {
        let first = self.offsets.slots + slot * self.offsets.slot_stride;
        [0, 1, 2].map(|number| self.number(rank, first + number * size_of::<u64>()))
    }

    /// The number of this stripe in lent slots.
    fn stripe(&self) -> u64 {
        self.turns[self.offsets.kind].flag_value(0)
    }

    /// Writes a lent block's place to a slot of this rank. Others read it only after the slot's flag is raised.
    pub fn lend(&self, slot: u32, lent: Lent) {
        let numbers = self.lent_numbers(self.rank, slot as usize);
        let values = [self.stripe(), lent.address, lent.bytes];
        numbers.iter().zip(values).for_each(|(number, value)| number.store(value, Relaxed));
    }

    /// Takes back all that this rank has lent, after an error. A rank that copies it meanwhile notices this and fails.
    pub fn withdraw(&self) {
        for slot in 0..self.geometry.slots() {
            self.lent_numbers(self.rank, slot)[0].store(0, Relaxed);
        }
        // No rank sees the caller's later writes before it sees these stores.
        fence(SeqCst);
    }

    /// Returns what a rank lends in this stripe. Fails if the rank has taken it back.
    pub fn lent(&self, rank: u32, slot: usize) -> io::Result<Lent> {
        let [_, address, bytes] = self.lent_numbers(rank as usize, slot).map(|number| number.load(Relaxed));
        self.check_lent(rank, slot).map(|()| Lent { address, bytes })
    }

    /// Fails if a rank has taken back what it lent in this stripe.
    fn check_lent(&self, rank: u32, slot: usize) -> io::Result<()> {
        match self.lent_numbers(rank as usize, slot)[0].load(Relaxed) == self.stripe() {
            true => Ok(()),
            false => Err(io::Error::other("another rank failed and took back what it lent")),
        }
    }

    /// Copies bytes of a block that a rank lends. Fails if they cannot be read, or were taken back meanwhile.
    ///
    /// # Safety
    /// `target` has room for the bytes of `lent`.
    pub unsafe fn copy_lent(
        &self,
        (rank, slot): (u32, usize),
        lent: Lent,
        target: *mut u8,
    ) -> io::Result<()> {
        // SAFETY: by this function's contract.
        unsafe { copy_from(self.processes[rank as usize], lent, target)? };
        fence(Acquire);
        self.check_lent(rank, slot)
    }

    /// Waits some time for MPI to learn why a rank cannot be read, and fails if it does: another process has failed, perhaps that rank.
    pub fn learn_of_failure(&self) -> Result<(), Error> {
        self.patience.learn_of_failure()
    }

    /// Raises the flag of a slot of this rank. Release: a rank that sees it also sees what this rank wrote before.
    #[inline]
    pub fn notify(&mut self, slot: u32) {
        let flag = self.flag(self.rank, slot);
        let raised = self.turns[self.offsets.kind].raised(flag.load(Relaxed));
        flag.store(raised, Release);
    }

    /// Whether a rank has raised a flag so many times in this stripe. Acquire: that rank's earlier writes are visible.
    #[inline]
    pub fn is_notified(&mut self, rank: u32, slot: u32, times: u32) -> bool {
        let value = self.turns[self.offsets.kind].flag_value(times);
        let is_raised = self.flag(rank as usize, slot).load(Acquire) >= value;
        if !is_raised {
            self.note_look_in_vain(Awaited::Flag { rank, slot, value });
        }
        is_raised
    }

    /// Waits until [`LaneMemory::is_notified`] holds.
    #[inline]
    pub fn await_notification(&self, rank: u32, slot: u32, times: u32) -> Result<(), Error> {
        let value = self.turns[self.offsets.kind].flag_value(times);
        let flag = self.flag(rank as usize, slot);
        let is_raised = || flag.load(Acquire) >= value;
        if Patience::is_over_at_once(is_raised) || self.patience.is_over_soon(is_raised) {
            return Ok(());
        }
        self.tell_long_wait(Awaited::Flag { rank, slot, value });
        self.patience.wait_until(is_raised)
    }

    /// Whether this rank may write its slots in this stripe. Acquire: the peers' reads in stripes that they
    /// ended are done.
    pub fn are_slots_free(&mut self) -> bool {
        let are_free = self.may_write();
        if !are_free {
            self.note_look_in_vain(Awaited::FreeSlots { stripe: self.stripe() });
        }
        are_free
    }

    /// Waits until [`LaneMemory::are_slots_free`] holds.
    #[inline]
    pub fn await_free_slots(&mut self) -> Result<(), Error> {
        let patience = self.patience;
        if Patience::is_over_at_once(|| self.may_write()) || patience.is_over_soon(|| self.may_write()) {
            return Ok(());
        }
        self.tell_long_wait(Awaited::FreeSlots { stripe: self.stripe() });
        patience.wait_until(|| self.may_write())
    }

    fn may_write(&mut self) -> bool {
        let LaneMemory { tenant, turns, offsets, .. } = self;
        let place_of_ended = ended(offsets.kind);
        let by_peers = tenant.peers.iter().map(|&peer| tenant.ended_by(peer, place_of_ended));
        turns[offsets.kind].may_write(|| by_peers.min().unwrap_or(u64::MAX))
    }

    /// Notes that a collective that does not block looked in vain, and logs a long wait once.
    fn note_look_in_vain(&mut self, awaited: Awaited) {
        if !log::log_enabled!(log::Level::Trace) {
            return;
        }
        let looks = if self.in_vain.0 == Some(awaited) { self.in_vain.1.saturating_add(1) } else { 1 };
        self.in_vain = (Some(awaited), looks);
        if looks == LOOKS_IN_VAIN {
            self.tell_long_wait(awaited);
        }
    }

    #[cold]
    fn tell_long_wait(&self, awaited: Awaited) {
        match awaited {
            Awaited::Flag { rank, slot, .. } => {
                log::trace!("rank {} waits for slot {slot} of rank {rank}", self.rank);
            }
            Awaited::FreeSlots { .. } => {
                log::trace!("rank {} waits until rank {} has read its slots", self.rank, self.last_reader());
            }
        }
    }

    /// Returns the other rank of this node that has ended the fewest stripes.
    fn last_reader(&self) -> usize {
        let LaneMemory { tenant, offsets, rank, .. } = self;
        let last =
            tenant.peers.iter().copied().min_by_key(|&peer| tenant.ended_by(peer, ended(offsets.kind)));
        last.unwrap_or(*rank)
    }

    /// Ends a stripe. Release: this rank's reads in the stripe are done.
    #[inline(always)]
    pub fn end_stripe(&mut self, slots: Slots) {
        let place = ended(self.offsets.kind);
        let ended = self.turns[self.offsets.kind].end();
        self.number(self.rank, place).store(ended, Release);
        self.turn_to(slots);
    }
}
