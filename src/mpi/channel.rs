//! Where a collective's messages go: on an inter-communicator, the ranks of the two groups are reached by different
//! communicators.

use std::ffi::{c_int, c_void};

/// A communicator and a tag on it.
#[derive(Clone, Copy)]
pub struct Line {
    /// The communicator's handle.
    pub communicator: *const c_void,
    /// The tag of all messages.
    pub tag: c_int,
}

/// Where a collective runs.
#[derive(Clone, Copy)]
pub struct Channel {
    /// To the ranks of the own group, which are all ranks if there is but one.
    pub own: Line,
    /// To the ranks of the other group, whose numbers follow those of the own.
    pub other: Line,
    /// Number of ranks in the own group.
    pub own_size: usize,
}

impl Channel {
    /// How a peer is reached, and its rank there.
    #[inline]
    pub fn to(&self, peer: u32) -> (Line, c_int) {
        match (peer as usize).checked_sub(self.own_size) {
            None => (self.own, peer as c_int),
            Some(rank) => (self.other, rank as c_int),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_counted_anew_in_the_other_group() {
        let line = |tag| Line { communicator: std::ptr::null(), tag };
        let channel = Channel { own: line(1), other: line(2), own_size: 3 };
        let reached = [0, 2, 3, 7].map(|peer| channel.to(peer)).map(|(line, rank)| (line.tag, rank));
        assert_eq!(reached, [(1, 0), (1, 2), (2, 0), (2, 4)]);
    }
}
