//! Decisions about first calls, kept for other communicators that are alike. Otherwise programs that make many communicators for
//! a few calls each would decide the same on each of them.

use super::key::Key;
use super::planning::{Planned, Served};
use crate::algorithms::Collective;
use crate::mpi::decision::schedules::{Form, Lasting};
use crate::mpi::messages::work::Group;
use crate::mpi::parameters::settings::Values;
use crate::mpi::shared_memory::nodes::Seen;
use crate::mpi::shim::bindings::rustcoll_call;
use std::collections::VecDeque;
use std::mem::Discriminant;
use std::sync::{Mutex, MutexGuard};

/// The most decisions that a process keeps; then it forgets the oldest.
const MOST: usize = 32;

/// The most operations and elements of a kept decision. Where calls take longer, deciding is a small part of them.
const MOST_WEIGHT: usize = 128;

/// All on which a decision depends besides the call, if the communicator has nothing of its own that bears on it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Place {
    pub collective: Collective,
    pub group: Group,
    pub form: Form,
    pub seen: Discriminant<Seen>,
    pub goes_by_tcp: bool,
}

struct Precedent {
    place: Place,
    key: Key,
    planned: Planned,
}

static PRECEDENTS: Mutex<VecDeque<Precedent>> = Mutex::new(VecDeque::new());

/// Returns the decision about the same call at the same place; `None` if there is no such place.
///
/// # Safety
/// The call comes from the shim, on a communicator of that place.
pub unsafe fn find(place: Option<&Place>, call: &rustcoll_call, values: &Values) -> Option<Planned> {
    let place = place?;
    // SAFETY: by this function's contract; at one place all calls have as many blocks.
    let is_same = |known: &&Precedent| known.place == *place && unsafe { known.key.is_of(call, values) };
    precedents().iter().find(is_same).map(|known| known.planned.clone())
}

/// Keeps a decision. All that it depends on is in the place and in the key.
pub fn keep(place: Place, key: Key, planned: &Planned) {
    let is_short = planned.operations() + key.elements() <= MOST_WEIGHT;
    let holds_elsewhere = match planned.lasting {
        Lasting::WhileSpared(..) => true,
        Lasting::Always => !planned.depends_on_memory,
        Lasting::While(_) | Lasting::Tried(_) => false,
    };
    if is_short && holds_elsewhere && matches!(planned.served, Served::Here(_) | Served::Below) {
        let mut precedents = precedents();
        if precedents.len() == MOST {
            precedents.pop_front();
        }
        precedents.push_back(Precedent { place, key, planned: planned.clone() });
    }
}

fn precedents() -> MutexGuard<'static, VecDeque<Precedent>> {
    PRECEDENTS.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}
