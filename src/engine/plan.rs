//! A schedule bound to elements: operations that post, wait, and copy and reduce regions.

use super::planner::Planner;
use super::repetition::{Loop, posts_at_a_time};
use super::slots::Slots;
use super::{Binding, LentCopy, Operation, Region};
use crate::schedule::{Buffer, Post, ProgramPart, Repeat, Schedule, SlotKind};

/// The most steps, over all iterations, of a loop that is bound in advance. It then runs faster, but takes memory.
const MOST_UNROLLED: usize = 1024;

/// The operations of one rank in calls of one shape. Messages of several runs are packed into staging memory
/// before the send, and unpacked after the receive. Messages without elements are left out on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// The operations in program order.
    pub operations: Vec<Operation>,
    /// The posts of all waits, one wait after the other.
    pub awaited: Vec<Post>,
    /// Loops that are bound during execution, one iteration at a time.
    pub loops: Vec<Loop>,
    /// One more than the highest post number. If there are loops, post numbers are reused.
    pub posts: usize,
    pub scratch_elements: usize,
    /// Elements of the longest region that is reduced into its left operand. A transport whose operators only
    /// write to the right operand needs as many elements behind scratch memory.
    pub spare_elements: usize,
    pub staging_bytes: usize,
    /// Bytes of the copies of all lent regions, if all copies are made.
    pub lent_bytes: usize,
    /// The slots that the plan uses, if any.
    pub slots: Option<Slots>,
    /// Whether elements of the send and of the receive buffer are bytes of data, whatever their datatype.
    pub is_in_bytes: bool,
}

impl Plan {
    /// Binds a schedule. Loops of more than `MOST_UNROLLED` steps, over all iterations, are bound during execution.
    pub fn new(schedule: &Schedule, binding: &Binding) -> Plan {
        let mut plan = Plan::with_loops(schedule, binding, MOST_UNROLLED);
        // Which scratch memory runs use that move in a loop, only its execution shows.
        if plan.scratch_elements > 0 && plan.loops.iter().all(Loop::keeps_scratch) {
            plan.pack_scratch();
        }
        plan
    }

    /// Like [`Plan::new`], with `gap` free elements behind each vector in scratch memory.
    pub fn with_gaps(schedule: &Schedule, binding: Binding, gap: usize) -> Plan {
        if gap == 0 {
            return Plan::new(schedule, &binding);
        }
        let vectors = schedule.scratch_blocks().div_ceil(schedule.blocks.max(1));
        let plan = Plan::with_loops(schedule, &binding.with_gaps(schedule, gap), MOST_UNROLLED);
        Plan { scratch_elements: plan.scratch_elements + vectors * gap, ..plan }
    }

    /// Like [`Plan::new`], with another bound, and all of scratch memory.
    pub fn with_loops(schedule: &Schedule, binding: &Binding, most_unrolled: usize) -> Plan {
        let scratch = Buffer::Scratch.blocks(0..schedule.scratch_blocks());
        // Whether a lent region is written again is only visible if all steps are bound in advance.
        let is_bound_later = |repeat: &Repeat| {
            schedule.slot_kind != SlotKind::Lent
                && repeat.moves.len() * repeat.times as usize > most_unrolled
                && Loop::is_possible(schedule, repeat, binding)
        };
        let posts = match schedule.repeats.iter().any(is_bound_later) {
            true => posts_at_a_time(schedule),
            false => schedule.posts(),
        };
        let plan = Plan {
            posts,
            scratch_elements: binding.scratch.layout.elements(scratch.indices()),
            ..Plan::default()
        };
        let mut planner = Planner::new(plan, schedule.rank, posts, binding);
        for part in schedule.parts() {
            match part {
                ProgramPart::Once(steps) => steps.iter().for_each(|step| planner.step(step)),
                // Only the planner that staged a message unpacks it, in the step that awaits it.
                ProgramPart::Repeat(repeat) if is_bound_later(repeat) && !planner.is_staging() => {
                    planner.repeat(Loop::new(schedule, repeat, posts, binding));
                }
                ProgramPart::Repeat(repeat) => {
                    let times = (0..repeat.times).flat_map(|time| schedule.steps_at(repeat, time));
                    times.for_each(|step| planner.step(&step));
                }
            }
        }
        planner.plan.operations.shrink_to_fit();
        planner.plan.awaited.shrink_to_fit();
        planner.plan
    }

    /// Returns the bytes for lent copies, if one of them is certain: if it is needed, or if what is lent has gaps.
    pub fn bytes_copied_to_lend(&self, has_gaps: impl Fn(Region) -> bool) -> usize {
        let is_one_copied = self.lendings().any(|(region, copy)| copy.is_needed || has_gaps(region));
        if is_one_copied { self.lent_bytes } else { 0 }
    }

    /// Returns all that the rank lends, each with the copy that may be lent instead.
    pub fn lendings(&self) -> impl Iterator<Item = (Region, LentCopy)> {
        self.operations.iter().filter_map(|operation| match operation {
            Operation::Lend { region, copy, .. } => Some((*region, *copy)),
            _ => None,
        })
    }

    /// Returns the elements of scratch memory, with the spare ones behind it.
    pub fn temporary_elements(&self) -> usize {
        self.scratch_elements + self.spare_elements
    }

    /// Returns the same plan with rank `r` called `(r + by) mod size`.
    pub fn relabel(mut self, by: usize, size: usize) -> Plan {
        for operation in &mut self.operations {
            if let Operation::Send { peer, .. } | Operation::Receive { peer, .. } = operation {
                *peer = ((*peer as usize + by) % size) as u32;
            }
        }
        self.loops = self.loops.into_iter().map(|repeated| repeated.relabel(by)).collect();
        self
    }
}
