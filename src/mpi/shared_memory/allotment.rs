//! Which persistent collective has which lane. All ranks prepare them in the same order, but start them in any, and free them whenever they
//! like. So the first rank allots lanes and tells it in memory, and a rank tells how often it has freed each: a lane is allotted again once
//! all ranks have freed it.

use super::geometry::{LANES, NONBLOCKING, PERSISTENT};
use super::node::Memory;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Lanes that are allotted.
const ALLOTTED: Range<usize> = PERSISTENT..LANES;

/// Of the first rank, in the lane: one more than the number of the collective that has it; 0: none had it yet.
const HOLDER: usize = 0;

/// Of each rank, in the lane: how often it has freed it.
const FREED: usize = 1;

/// Of the first rank, in the lane [`NONBLOCKING`]: about how many collectives it has decided.
const DECIDED: usize = 0;

/// The first rank.
const FIRST: usize = 0;

/// The memory of ranks that are all on one node, and what is known of its lanes.
pub struct Allotment {
    memory: Memory,
    /// How often each lane was allotted, as the first rank knows.
    times: [u64; LANES],
    /// The collectives that were freed here before anything was decided about them.
    freed_early: BTreeSet<u64>,
}

impl Allotment {
    /// Nothing is allotted yet, and some collectives were freed here already.
    pub fn new(memory: Memory, freed_early: BTreeSet<u64>) -> Allotment {
        Allotment { memory, times: [0; LANES], freed_early }
    }

    /// The memory.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The lane of the collective that was prepared after so many others, of those that are prepared here by now. `None`: it is not
    /// decided yet; `Some(None)`: it has none.
    pub fn lane(&mut self, number: u64, prepared: u64) -> Option<Option<usize>> {
        if self.memory.rank() == FIRST {
            (self.decided()..prepared).for_each(|number| self.allot(number));
        }
        let early = std::mem::take(&mut self.freed_early);
        early.into_iter().for_each(|number| self.free(number));
        self.known_lane(number)
    }

    /// Notes that this rank has freed a collective.
    pub fn free(&mut self, number: u64) {
        match self.known_lane(number) {
            Some(Some(lane)) => {
                // Release: this rank does not use the lane any more.
                let freed = self.memory.number(self.memory.rank(), lane, FREED);
                freed.store(freed.load(Relaxed) + 1, Release);
            }
            Some(None) => {}
            None => drop(self.freed_early.insert(number)),
        }
    }

    fn decided(&self) -> u64 {
        self.memory.number(FIRST, NONBLOCKING, DECIDED).load(Acquire)
    }

    /// Who has a lane keeps it until this rank has freed it, too.
    fn known_lane(&self, number: u64) -> Option<Option<usize>> {
        let holder = |lane: &usize| self.memory.number(FIRST, *lane, HOLDER).load(Acquire);
        (self.decided() > number).then(|| ALLOTTED.into_iter().find(|lane| holder(lane) == number + 1))
    }

    /// Decides about the next collective.
    fn allot(&mut self, number: u64) {
        if !self.freed_early.remove(&number)
            && let Some(lane) = ALLOTTED.into_iter().find(|&lane| self.is_free(lane))
        {
            self.times[lane] += 1;
            self.memory.number(FIRST, lane, HOLDER).store(number + 1, Release);
        }
        self.memory.number(FIRST, NONBLOCKING, DECIDED).store(number + 1, Release);
    }

    /// Whether all ranks have freed a lane as often as it was allotted.
    fn is_free(&self, lane: usize) -> bool {
        let has_freed = |rank| self.memory.number(rank, lane, FREED).load(Acquire) == self.times[lane];
        (0..self.memory.size()).all(has_freed)
    }
}
