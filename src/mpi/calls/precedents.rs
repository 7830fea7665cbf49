//! Decisions about first calls, kept for other communicators that are alike. Otherwise programs that make many communicators for
//! a few calls each would decide the same on each of them.

use super::key::Key;
use super::planning::{CallPlan, Planned, Served};
use crate::algorithms::Collective;
use crate::mpi::decision::decided::Lack;
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
    /// What the ranks see of their nodes. Whether messages go by TCP follows from that.
    pub seen: Discriminant<Seen>,
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

/// Keeps a decision, if other communicators may follow it. All that it depends on is in the place and in the key.
pub fn keep(place: Place, planned: &Planned, key: impl FnOnce() -> Key) {
    let holds_elsewhere = match planned.lasting {
        Lasting::WhileSpared(..) => true,
        Lasting::Always => !planned.depends_on_memory,
        Lasting::While(_) | Lasting::Tried(_) => false,
    };
    // Of a lack of room, each communicator warns.
    let is_silent = !planned.decision.decided.is_without(Lack::RoomForCalls);
    // An exchange of lengths keeps more than its operations: lengths, and the last second stage.
    let is_bounded = match planned.served {
        Served::Here(CallPlan::Plan(_)) | Served::Below => planned.operations() <= MOST_WEIGHT,
        Served::Here(CallPlan::Exchange(_)) | Served::Calls(_) | Served::Nothing => false,
    };
    if !(holds_elsewhere && is_silent && is_bounded) {
        return;
    }
    let key = key();
    if planned.operations() + key.elements() <= MOST_WEIGHT {
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

#[cfg(test)]
mod tests {
    use super::super::job::tests::call;
    use super::*;
    use crate::algorithms::Problem;
    use crate::engine::{Counts, LengthExchange, Operation, Plan, bind};
    use crate::mpi::decision::decided::{Decided, Decision};
    use crate::mpi::parameters::settings::Settings;
    use std::mem::discriminant;
    use std::sync::Arc;

    /// Keeps a decision, and returns whether another communicator finds it. `count`: that of the call, which no other decision has.
    fn is_kept(planned: Planned, count: usize) -> bool {
        let form = Form {
            has_below: true,
            is_blocking: true,
            uses_map: true,
            all_come: true,
            may_share: true,
            calls_others: true,
        };
        let group = Group { rank: 1, size: 4, remote: 0 };
        let seen = discriminant(&Seen::Several);
        let place = Place { collective: Collective::Bcast, group, form, seen };
        let values = Settings::of(Collective::Bcast).values();
        let call = call(count);
        // SAFETY: pointers are NULL, so no buffer has blocks.
        unsafe {
            keep(place, &planned, || Key::new(&call, values, (0, 0)));
            find(Some(&place), &call, &values).is_some()
        }
    }

    fn of_operations(number: usize) -> Planned {
        let plan = Plan { operations: vec![Operation::AwaitSlots; number], ..Plan::default() };
        Planned { served: Served::Here(CallPlan::Plan(Arc::new(plan))), ..Planned::nothing() }
    }

    #[test]
    fn short_decisions_are_kept() {
        assert!(is_kept(of_operations(MOST_WEIGHT), 1));
        assert!(!is_kept(of_operations(MOST_WEIGHT + 1), 2));
        let alltoallv = Collective::Alltoallv.algorithm("bruck_two_phase").unwrap();
        let schedule = Arc::new(alltoallv.schedule(&Problem::new(4), 1));
        let counts = Counts::Each { places: [(0, 1), (1, 2), (3, 3), (6, 4)].into(), bytes: 8 };
        let binding = bind(Collective::Alltoallv, 1, 4, &counts, &counts);
        let exchange = LengthExchange::new(alltoallv, &Problem::new(4), &schedule, &binding).unwrap();
        let served = Served::Here(CallPlan::Exchange(Arc::new(exchange)));
        assert!(!is_kept(Planned { served, ..Planned::nothing() }, 3));
    }

    #[test]
    fn decisions_of_which_each_communicator_warns_are_not_kept() {
        let decided = |lack| {
            let decided = Decided::Without(lack, Box::new(Decided::NoRule));
            let decided = Decided::Without(Lack::SharedMemoryYet, Box::new(decided));
            Planned { decision: Decision { decided, ..Decision::nothing_to_do() }, ..of_operations(1) }
        };
        assert!(is_kept(decided(Lack::SharedMemory), 4));
        assert!(!is_kept(decided(Lack::RoomForCalls), 5));
    }
}
