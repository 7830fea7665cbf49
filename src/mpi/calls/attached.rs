//! What the shim attaches to a communicator. The state of its calls is made at the first of them: a process of a large job has
//! many communicators, and uses few of them.

use super::communicator::Communicator;
use crate::mpi::decision::info::{self, Info};
use crate::mpi::messages::work::{Group, Name};
use crate::mpi::shim::bindings::rustcoll_below;
use std::ffi::{c_int, c_void};
use std::sync::{Arc, OnceLock};

/// What never changes of a communicator.
#[derive(Clone, Copy)]
pub struct Facts {
    /// By this the shim knows it.
    pub handle: *const c_void,
    /// On an inter-communicator, the handle that reaches the own group; otherwise `handle`.
    pub own_group: *const c_void,
    pub group: Group,
    /// The last of the tags that no collective on it has.
    pub last_tag: c_int,
    /// Names it in log lines.
    pub identifier: u32,
    pub below: rustcoll_below,
}

/// A communicator's facts, and its state from the first call on.
pub struct Attached {
    pub facts: Facts,
    state: OnceLock<Box<Communicator>>,
}

impl Facts {
    pub fn name(&self) -> Name {
        Name { group: self.group, identifier: self.identifier }
    }
}

impl Attached {
    /// Reads the info keys. A communicator that has any keeps them in its state, which is therefore made now.
    pub fn new(facts: Facts) -> Attached {
        let keyed = Info::of(facts.handle).map(|(info, faults)| {
            info::report(&faults, &facts);
            Box::new(Communicator::new(facts, Arc::new(info)))
        });
        Attached { facts, state: keyed.map_or_else(OnceLock::new, OnceLock::from) }
    }

    #[inline]
    pub fn communicator(&self) -> &Communicator {
        self.state.get_or_init(|| Box::new(Communicator::new(self.facts, Info::none())))
    }
}
