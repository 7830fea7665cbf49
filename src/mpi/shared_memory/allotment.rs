//! Which persistent collective has which lane. All ranks prepare persistent collectives in the same order, but start and free them in any
//! order. So the first rank assigns the lanes and publishes the assignment in the shared memory. Each rank publishes how often it has freed
//! a lane. The first rank assigns a lane again after all ranks have freed it. On several nodes, see `agreed_lanes.rs`.

use super::geometry::{LANES, NONBLOCKING, PERSISTENT};
use super::node::NodeMemory;
use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

/// Lanes that are allotted.
const ALLOTTED: Range<usize> = PERSISTENT..LANES;

/// The number of the collective that has the lane, plus one; 0 before the first one. Written by the first rank.
const HOLDER: usize = 0;

/// How often a rank has freed the lane. Written by each rank.
const FREED: usize = 1;

/// In the lane [`NONBLOCKING`]: for how many collectives the first rank has decided whether they get a lane.
const DECIDED: usize = 0;

const FIRST: usize = 0;

/// The shared memory of ranks that are all on one node, and what is known of its lanes.
pub struct Allotment {
    memory: NodeMemory,
    /// How often each lane was assigned. Only the first rank uses it.
    times: [u64; LANES],
    /// The collectives that this rank freed before the first rank decided about them.
    freed_early: BTreeSet<u64>,
}

impl Allotment {
    /// No lane is assigned yet. `freed_early`: the collectives that this rank has freed already.
    pub fn new(memory: NodeMemory, freed_early: BTreeSet<u64>) -> Allotment {
        Allotment { memory, times: [0; LANES], freed_early }
    }

    pub fn memory(&self) -> &NodeMemory {
        &self.memory
    }

    /// The lane of a collective. `None` means that the first rank has not decided yet, `Some(None)` that it gets no lane. `prepared`: how many
    /// collectives this rank has prepared.
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

    /// A collective keeps its lane at least until this rank frees the collective.
    fn known_lane(&self, number: u64) -> Option<Option<usize>> {
        let holder = |lane: &usize| self.memory.number(FIRST, *lane, HOLDER).load(Acquire);
        (self.decided() > number).then(|| ALLOTTED.into_iter().find(|lane| holder(lane) == number + 1))
    }

    /// Decides whether the next collective gets a lane, and which one.
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
