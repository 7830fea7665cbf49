//! Maps peers to communicators. On an inter-communicator, one communicator reaches the ranks of the own
//! group, and another one those of the other group.

use super::transport::{Error, check};
use crate::mpi::shim::bindings::rustcoll_shim_failure;
use std::ffi::{c_int, c_void};

/// A communicator and a tag on it.
#[derive(Clone, Copy)]
pub struct Route {
    /// The communicator's handle.
    pub communicator: *const c_void,
    pub tag: c_int,
}

/// The communicators and tags that a collective's messages use.
#[derive(Clone, Copy)]
pub struct Channel {
    /// Reaches the ranks of the own group; on an intra-communicator, all ranks.
    pub own: Route,
    /// Reaches the ranks of the other group. They are numbered after those of the own group.
    pub other: Route,
    /// Number of ranks in the own group.
    pub own_size: u32,
    /// This rank, in its own group.
    pub rank: u32,
}

impl Channel {
    /// Fails if MPI knows that a process of the communicator has failed, or that the communicator was revoked.
    pub fn check(&self) -> Result<(), Error> {
        // SAFETY: the handle is that of the call's communicator.
        check(unsafe { rustcoll_shim_failure(self.other.communicator) })
    }

    /// Returns the route to a peer, and the peer's rank there.
    #[inline]
    pub fn to(&self, peer: u32) -> (Route, c_int) {
        match peer.checked_sub(self.own_size) {
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
        let route = |tag| Route { communicator: std::ptr::null(), tag };
        let channel = Channel { own: route(1), other: route(2), own_size: 3, rank: 0 };
        let reached = [0, 2, 3, 7].map(|peer| channel.to(peer)).map(|(route, rank)| (route.tag, rank));
        assert_eq!(reached, [(1, 0), (1, 2), (2, 0), (2, 4)]);
    }
}
