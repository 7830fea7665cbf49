//! Which persistent collective of ranks on several nodes has which lane. These ranks have no memory in common, and all nodes must assign
//! lanes alike. All ranks prepare persistent collectives in the same order, but free them in any order. So a rank assigns lanes by itself
//! as long as some were never assigned. Before each later preparation, the ranks agree by messages on the lanes that all of them have
//! freed: it may wait for all.

use super::geometry::{LANES, PERSISTENT};
use std::collections::BTreeSet;

/// How many lanes there are for persistent collectives.
pub const NUMBER: usize = LANES - PERSISTENT;

/// The lanes of persistent collectives, the same on all ranks.
#[derive(Default)]
pub struct AgreedLanes {
    /// The number of the collective that has the lane.
    holders: [Option<u64>; NUMBER],
    /// The collectives that this rank has freed, as long as they have lanes.
    freed: BTreeSet<u64>,
    /// The first collective that was to be assigned a lane. All later ones are, too.
    first: Option<u64>,
}

impl AgreedLanes {
    /// Assigns a lane to a collective, if there is one.
    pub fn assign(&mut self, number: u64) {
        self.first.get_or_insert(number);
        if let Some(holder) = self.holders.iter_mut().find(|holder| holder.is_none()) {
            *holder = Some(number);
        }
    }

    /// The lane of a collective, if it has one.
    pub fn lane(&self, number: u64) -> Option<usize> {
        self.holders.iter().position(|holder| *holder == Some(number)).map(|lane| PERSISTENT + lane)
    }

    /// Notes that this rank has freed a collective. Returns whether that was to be assigned a lane here.
    pub fn free(&mut self, number: u64) -> bool {
        if self.lane(number).is_some() {
            self.freed.insert(number);
        }
        self.first.is_some_and(|first| number >= first)
    }

    /// For each lane 1 if this rank may still use it, else 0.
    pub fn kept(&self) -> Vec<u64> {
        let is_kept = |holder: &Option<u64>| holder.is_some_and(|number| !self.freed.contains(&number));
        self.holders.iter().map(|holder| is_kept(holder).into()).collect()
    }

    /// Takes back the lanes that no rank keeps.
    pub fn take_back(&mut self, kept: &[u64]) {
        for (holder, _) in self.holders.iter_mut().zip(kept).filter(|(_, kept)| **kept == 0) {
            holder.take().map(|number| self.freed.remove(&number));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_is_assigned_again_when_no_rank_keeps_it() {
        let mut ranks = [AgreedLanes::default(), AgreedLanes::default()];
        for number in 0..NUMBER as u64 + 1 {
            ranks.iter_mut().for_each(|lanes| lanes.assign(number));
        }
        let number = NUMBER as u64;
        assert!(ranks.iter().all(|lanes| lanes.lane(number).is_none()));
        // Both ranks free collective 3, one of them collective 5.
        assert!(ranks[0].free(3) && ranks[1].free(5) && ranks[1].free(3));
        let kept: Vec<u64> =
            ranks[0].kept().into_iter().zip(ranks[1].kept()).map(|(one, other)| one.max(other)).collect();
        for lanes in &mut ranks {
            lanes.take_back(&kept);
            lanes.assign(number + 1);
            assert_eq!(lanes.lane(number + 1), Some(PERSISTENT + 3));
            assert_eq!((lanes.lane(3), lanes.lane(5)), (None, Some(PERSISTENT + 5)));
        }
    }
}
