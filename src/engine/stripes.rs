//! Plans of schedules with slots. Blocks that are longer than slots are cut into stripes.

use super::slots::{SlotBounds, Slots};
use super::{Binding, Memory, Operation, Plan, Region, View};
use crate::schedule::{Buffer, Schedule, SlotKind};
use std::collections::BTreeSet;

impl Plan {
    /// Binds a schedule that uses slots, all [`Stripes`] one after the other.
    pub fn in_stripes(schedule: &Schedule, binding: &Binding, extent: usize, bounds: &SlotBounds) -> Plan {
        Stripes::new(schedule, binding, extent, bounds).all()
    }

    /// Binds a schedule that moves data through slots. Slots hold elements or, if blocks are cut into
    /// stripes, bytes. So all ranks cut at the same places, whatever their datatypes.
    pub fn through_slots(
        schedule: &Schedule,
        elements: &Binding,
        bytes: &Binding,
        bounds: &SlotBounds,
    ) -> Plan {
        let whole = Stripes::new(schedule, elements, 1, bounds);
        match whole.count {
            1 => whole.all(),
            _ => Plan { is_in_bytes: true, ..Plan::in_stripes(schedule, bytes, 1, bounds) },
        }
    }

    /// Whether all regions fit into their slots, if an element of scratch memory takes `extent` bytes.
    pub fn keeps_to_slots(&self, extent: usize, bounds: &SlotBounds) -> bool {
        let fits = |region: &Region| match (region.memory, self.slots) {
            (Memory::Buffer(Buffer::Shared(_)), Some(Slots::Apart { stride, .. })) => {
                region.elements * extent <= stride
            }
            (Memory::Buffer(Buffer::Shared(_)), Some(Slots::Joined { bytes, .. })) => {
                (region.offset + region.elements) * extent <= bytes
            }
            (Memory::Buffer(Buffer::Shared(_)), Some(Slots::Lent)) => true,
            (Memory::Buffer(Buffer::Shared(_)), _) => region.elements * extent <= bounds.line,
            _ => true,
        };
        self.operations.iter().all(|operation| match operation {
            Operation::Copy { source, target, rows } => {
                rows.each([*source, *target]).flatten().all(|region| fits(&region))
            }
            Operation::Reduce { left, right, target, elements, rows } => {
                let first = [left, right, target].map(|location| location.region(*elements));
                rows.each(first).flatten().all(|region| fits(&region))
            }
            Operation::Send { region, .. } | Operation::Receive { region, .. } => fits(region),
            _ => true,
        })
    }

    /// Returns how often a schedule with slots is carried out.
    pub fn stripes(&self) -> usize {
        self.kinds_of_stripes().map(|(_, times)| times).sum()
    }

    /// Returns the operations of each kind of stripe, ending with its end, and the number of stripes of this kind.
    pub fn kinds_of_stripes(&self) -> impl Iterator<Item = (&[Operation], usize)> {
        self.operations.iter().enumerate().filter_map(|(end, operation)| match *operation {
            Operation::EndStripe { first, times, .. } => Some((&self.operations[first..=end], times)),
            _ => None,
        })
    }

    /// Appends a complete plan that runs `times` times, each time `step` elements further on. At its end all
    /// its posts are complete, so the next plan may use their numbers.
    fn append(&mut self, next: Plan, times: usize, step: usize) {
        let first = self.operations.len();
        if first == 0 {
            *self = Plan { slots: self.slots, ..next };
        } else {
            self.extend(next);
        }
        self.operations.reserve_exact(1);
        self.operations.push(Operation::EndStripe { first, times, step });
    }

    fn extend(&mut self, next: Plan) {
        let awaited = self.awaited.len();
        self.awaited.extend(next.awaited);
        self.operations.reserve_exact(next.operations.len());
        self.operations.extend(next.operations.into_iter().map(|operation| match operation {
            Operation::Wait { awaited: range } => {
                Operation::Wait { awaited: range.start + awaited..range.end + awaited }
            }
            other => other,
        }));
        self.posts = self.posts.max(next.posts);
        self.scratch_elements = self.scratch_elements.max(next.scratch_elements);
        self.spare_elements = self.spare_elements.max(next.spare_elements);
        self.staging_bytes = self.staging_bytes.max(next.staging_bytes);
        self.lent_bytes = self.lent_bytes.max(next.lent_bytes);
    }
}

/// How a schedule with slots is carried out. Blocks that are longer than slots are cut into stripes, and the
/// schedule runs once for each stripe. Then the elements of counterpart blocks must have equal bytes.
pub struct Stripes<'a> {
    schedule: &'a Schedule,
    binding: &'a Binding,
    /// Elements of each stripe of a block but the last.
    step: usize,
    /// Number of stripes, at least one.
    pub count: usize,
    /// The slots that all stripes use.
    pub slots: Slots,
}

impl<'a> Stripes<'a> {
    /// Cuts blocks into stripes, if an element of scratch memory takes `extent` bytes.
    pub fn new(schedule: &'a Schedule, binding: &'a Binding, extent: usize, bounds: &SlotBounds) -> Self {
        let longest = binding.scratch.layout.longest(schedule.blocks);
        let (step, slots) = bounds.cut((schedule.slots, schedule.slot_kind), longest, extent);
        Stripes { schedule, binding, step, count: longest.div_ceil(step).max(1), slots }
    }

    /// Returns the plan of all stripes. Stripes of one kind are in the plan once.
    pub fn all(&self) -> Plan {
        let mut plan = Plan { slots: Some(self.slots), ..Plan::default() };
        let starts = self.starts();
        for (place, &start) in starts.iter().enumerate() {
            let end = starts.get(place + 1).copied().unwrap_or(self.count);
            plan.append(self.plan(start), end - start, self.step);
        }
        if plan.lent_bytes > 0 {
            // The caller may write to lent memory again once all ranks have copied it.
            plan.operations.push(Operation::AwaitSlots);
        }
        plan
    }

    /// Returns the first stripe of each kind, ascending. Consecutive stripes are alike if each block fills both or is
    /// in neither. They then differ only in where the caller's elements lie, by the elements of a stripe.
    fn starts(&self) -> Vec<usize> {
        let Stripes { schedule, binding, step, count, .. } = *self;
        if count == 1 {
            return vec![0];
        }
        let views = [&binding.send, &binding.recv, &binding.scratch];
        let lengths = views.into_iter().flat_map(|view| view.layout.lengths(schedule.blocks));
        let around_end = |length: usize| [length / step, length.div_ceil(step)];
        let starts: BTreeSet<usize> =
            lengths.flat_map(around_end).chain([0]).filter(|start| *start < count).collect();
        starts.into_iter().collect()
    }

    /// Binds one stripe, without its end.
    fn plan(&self, stripe: usize) -> Plan {
        let Stripes { schedule, binding, step, .. } = *self;
        if self.count == 1 {
            let slot_kind = match self.slots {
                Slots::Joined { .. } => SlotKind::Together,
                Slots::Lent => SlotKind::Lent,
                Slots::Lines | Slots::Apart { .. } => SlotKind::Apart,
            };
            return Plan::new(schedule, &Binding { slot_kind, ..binding.clone() });
        }
        let Binding { send, recv, scratch, .. } = binding;
        let from = stripe * step;
        let cut = |view: &View| View { layout: view.layout.striped(from, step), ..view.clone() };
        // Each stripe reuses scratch memory.
        let layout = scratch.layout.packed_stripes(from, step, schedule.blocks);
        let scratch = View { layout, ..scratch.clone() };
        Plan::new(schedule, &Binding::new(cut(send), cut(recv), scratch))
    }
}

#[cfg(test)]
mod tests {
    use super::super::planner::tests::binding;
    use super::super::slots::CACHE_LINE;
    use super::*;
    use crate::schedule::{Builder, Layout, Post};

    const BOUNDS: SlotBounds = SlotBounds { line: 48, bank: 4 * CACHE_LINE, ..SlotBounds::DEFAULT };

    /// Rank 0 shows its blocks through one slot for each block, twice, and reads those of rank 1.
    fn exchange_of_blocks(blocks: usize) -> Schedule {
        let mut program = Builder::new(0, 2, blocks).slots(blocks);
        for _ in 0..2 {
            program.copy(Buffer::Send.blocks(0..blocks), Buffer::of_rank(0).blocks(0..blocks));
            program.notify(0);
        }
        program.await_slot(1, 0);
        program.copy(Buffer::of_rank(1).blocks(0..blocks), Buffer::Recv.blocks(0..blocks));
        program.build()
    }

    /// Returns the copies of a plan in execution order, with each repetition of a stripe.
    fn copies(plan: &Plan) -> Vec<[Region; 2]> {
        let mut copies = Vec::new();
        for (operations, times) in plan.kinds_of_stripes() {
            let Some(&Operation::EndStripe { step, .. }) = operations.last() else { panic!("no end") };
            copies.extend((0..times).flat_map(|time| {
                operations.iter().flat_map(move |operation| match operation {
                    Operation::Copy { source, target, rows } => {
                        let regions = rows.each([*source, *target]);
                        regions.map(|copy| copy.map(|region| region.shifted(time * step))).collect()
                    }
                    _ => Vec::new(),
                })
            }));
        }
        copies
    }

    /// Returns the elements that are copied to a buffer or from it, in order.
    fn copied(plan: &Plan, buffer: Buffer) -> Vec<usize> {
        let of_buffer = |copy: [Region; 2]| {
            copy.into_iter()
                .find(|region| region.memory == Memory::Buffer(buffer))
                .map(|region| region.offset..region.offset + region.elements)
        };
        copies(plan).into_iter().filter_map(of_buffer).flatten().collect()
    }

    #[test]
    fn stripes_that_are_alike_stand_in_the_plan_once() {
        let placed = Layout::Placed([(1000, 90), (0, 40), (700, 0), (500, 24), (2000, 88)].into());
        for (layout, expected) in [
            (Layout::Uniform { elements: 96 }, 1),
            (Layout::Uniform { elements: 97 }, 2),
            (Layout::Balanced { elements: 403, blocks: 5 }, 2),
            (placed, 4),
        ] {
            let view = View::new(layout, 1);
            let binding = Binding::uniform(view);
            let schedule = exchange_of_blocks(5);
            let bounds = SlotBounds { stripe: Some(8), line: 0, bank: 5 * CACHE_LINE, ..BOUNDS };
            let stripes = Stripes::new(&schedule, &binding, 1, &bounds);
            let plan = stripes.all();
            assert_eq!(plan.kinds_of_stripes().count(), expected, "{:?}", binding.send.layout);
            assert_eq!(plan.stripes(), stripes.count);
            let one_by_one = (0..stripes.count).flat_map(|stripe| {
                let mut plan = Plan::default();
                plan.append(stripes.plan(stripe), 1, 0);
                copies(&plan)
            });
            assert_eq!(copies(&plan), one_by_one.collect::<Vec<_>>());
        }
    }

    #[test]
    fn stripes_go_over_each_element_once() {
        let placed = Layout::Placed([(50, 9), (0, 40), (70, 0)].into());
        for layout in
            [Layout::Uniform { elements: 33 }, Layout::Balanced { elements: 100, blocks: 3 }, placed]
        {
            let mut expected: Vec<usize> = layout.ranges(0..3).flatten().collect();
            expected.sort_unstable();
            let view = View::new(layout, 4);
            let scratch =
                View::new(Layout::packed((0..3).map(|block| view.layout.elements(block..block + 1))), 4);
            let binding = Binding::new(view.clone(), view, scratch);
            for stripe in [None, Some(64), Some(12), Some(1)] {
                let bounds = SlotBounds { stripe, ..BOUNDS };
                let plan = Plan::in_stripes(&exchange_of_blocks(3), &binding, 4, &bounds);
                assert!(plan.stripes() > 1);
                let mut received = copied(&plan, Buffer::Recv);
                received.sort_unstable();
                assert_eq!(received, expected);
                assert_eq!(copied(&plan, Buffer::Send).len(), 2 * expected.len());
            }
        }
    }

    #[test]
    fn slots_are_free_before_they_are_first_written_in_each_stripe() {
        let plan = Plan::in_stripes(&exchange_of_blocks(1), &binding(100), 4, &BOUNDS);
        let shown = |operation: &Operation| match operation {
            Operation::AwaitSlots => "free",
            Operation::Copy { .. } => "copy",
            Operation::Notify { .. } => "notify",
            Operation::Await { .. } => "await",
            _ => "end",
        };
        let stripe = ["free", "copy", "notify", "copy", "notify", "await", "copy", "end"];
        for (operations, _) in plan.kinds_of_stripes() {
            assert_eq!(operations.iter().map(shown).collect::<Vec<_>>(), stripe);
        }
        assert_eq!(plan.stripes(), 2);
    }

    #[test]
    fn who_writes_no_slot_does_not_wait_for_any() {
        let mut program = Builder::new(1, 2, 1).slots(1);
        let slot = program.await_slot(0, 0);
        program.copy(slot, Buffer::Recv.block(0));
        let plan = Plan::in_stripes(&program.build(), &binding(100), 4, &BOUNDS);
        assert!(!plan.operations.contains(&Operation::AwaitSlots));
        assert_eq!(plan.stripes(), 2);
    }

    #[test]
    fn what_is_lent_is_copied_only_if_it_is_written_again() {
        let plan = |written: usize| {
            let mut program = Builder::new(0, 2, 3).slots(3);
            program.publish(Buffer::Recv.blocks(0..2), 1);
            program.await_slot(1, 0);
            program.copy(Buffer::of_rank(1).block(0), Buffer::Recv.block(written));
            let schedule = Schedule { slot_kind: SlotKind::Lent, ..program.build() };
            Plan::in_stripes(&schedule, &binding(100), 4, &BOUNDS)
        };
        let (kept, written_again) = (plan(2), plan(1));
        let lent = |plan: &Plan| -> Vec<(usize, u32, usize)> {
            let lendings = plan.operations.iter().filter_map(|operation| match operation {
                Operation::Lend { region, slot, copy } => Some((region.offset, *slot, copy.start)),
                _ => None,
            });
            lendings.collect()
        };
        assert_eq!(lent(&kept), [(0, 1, 0), (100, 2, 448)]);
        assert_eq!((kept.slots, kept.stripes(), kept.lent_bytes), (Some(Slots::Lent), 1, 896));
        assert_eq!([&kept, &written_again].map(|plan| plan.bytes_copied_to_lend(|_| false)), [0, 896]);
        assert_eq!(kept.bytes_copied_to_lend(|region| region.offset == 100), 896);
        // The caller's data must stay until all ranks have read them.
        assert_eq!(kept.operations.last(), Some(&Operation::AwaitSlots));
        let reader = Builder::new(1, 2, 1).slots(1).build();
        let reader = Schedule { slot_kind: SlotKind::Lent, ..reader };
        let ended = Plan::in_stripes(&reader, &binding(100), 4, &BOUNDS).operations;
        assert!(!ended.contains(&Operation::AwaitSlots));
    }

    #[test]
    fn short_blocks_are_beside_their_flags_and_long_ones_apart() {
        let plan = |elements| Plan::in_stripes(&exchange_of_blocks(2), &binding(elements), 4, &BOUNDS);
        let apart = |lines| Some(Slots::Apart { stride: lines * CACHE_LINE, bytes: 2 * lines * CACHE_LINE });
        assert_eq!(plan(12).slots, Some(Slots::Lines));
        assert_eq!((plan(13).slots, plan(13).stripes()), (apart(1), 1));
        assert_eq!((plan(32).slots, plan(32).stripes()), (apart(2), 1));
        assert_eq!((plan(33).slots, plan(33).stripes()), (apart(2), 2));
        assert_eq!((plan(0).slots, plan(0).stripes()), (Some(Slots::Lines), 1));
    }

    /// Returns the offset and elements of what is copied to slots or from them.
    fn in_slots(plan: &Plan) -> Vec<(usize, usize)> {
        let shared = |region: &&Region| matches!(region.memory, Memory::Buffer(Buffer::Shared(_)));
        let copied = copies(plan).into_iter().flatten().collect::<Vec<_>>();
        copied.iter().filter(shared).map(|region| (region.offset, region.elements)).collect()
    }

    #[test]
    fn blocks_in_slots_that_lie_together_are_copied_as_one() {
        let schedule = Schedule { slot_kind: SlotKind::Together, ..exchange_of_blocks(3) };
        let bounds = SlotBounds { bank: 8 * CACHE_LINE, ..BOUNDS };
        let bound = |layout: Layout| {
            let scratch = View::new(Layout::packed((0..3).map(|block| layout.block(block).len())), 4);
            Plan::in_stripes(
                &schedule,
                &Binding::new(View::new(layout.clone(), 4), View::new(layout, 4), scratch),
                4,
                &bounds,
            )
        };
        let even = bound(Layout::Uniform { elements: 3 });
        assert_eq!(even.slots, Some(Slots::Joined { extent: 4, bytes: 36 }));
        assert_eq!(in_slots(&even), [(0, 9); 3]);
        // The blocks are of 3, 3 and 4 elements.
        assert_eq!(in_slots(&bound(Layout::Balanced { elements: 10, blocks: 3 })), [(0, 10); 3]);
        // Blocks that lie apart get the places in slots that contiguous blocks have.
        let apart = bound(Layout::Placed([(50, 3), (0, 0), (70, 4)].into()));
        assert_eq!(in_slots(&apart), [(0, 3), (3, 4)].repeat(3));
        assert!(even.keeps_to_slots(4, &bounds) && apart.keeps_to_slots(4, &bounds));
        assert!(!even.keeps_to_slots(5, &bounds));
        // Of blocks at regular steps, one operation copies all; the last one ends last.
        let regular = bound(Layout::Placed([(0, 3), (10, 3), (20, 3)].into()));
        assert_eq!(in_slots(&regular), [(0, 3), (3, 3), (6, 3)].repeat(3));
        assert_eq!(regular.operations.iter().filter(|one| matches!(one, Operation::Copy { .. })).count(), 3);
        assert!(regular.keeps_to_slots(4, &bounds) && !regular.keeps_to_slots(5, &bounds));
    }

    #[test]
    fn scratch_memory_is_used_anew_in_each_stripe() {
        let mut program = Builder::new(1, 2, 2).slots(1);
        let slot = program.await_slot(0, 0);
        program.copy(slot, Buffer::Scratch.block(3));
        let plan =
            Plan::in_stripes(&program.build(), &binding(100), 4, &SlotBounds { stripe: Some(160), ..BOUNDS });
        assert_eq!((plan.stripes(), plan.scratch_elements), (3, 40));
        let expected: Vec<usize> = [0..40, 0..40, 0..20].into_iter().flatten().collect();
        assert_eq!(copied(&plan, Buffer::Scratch), expected);
    }

    #[test]
    fn stripes_post_and_wait_under_the_same_numbers() {
        let mut program = Builder::new(0, 2, 1).slots(1);
        program.publish(Buffer::Send.block(0), 0);
        program.send(1, Buffer::Send.block(0));
        let plan = Plan::in_stripes(&program.build(), &binding(100), 4, &BOUNDS);
        let posts: Vec<Post> = plan
            .operations
            .iter()
            .filter_map(|operation| match operation {
                Operation::Send { post, .. } => Some(*post),
                _ => None,
            })
            .collect();
        assert_eq!((posts, plan.posts, plan.awaited), (vec![0, 0], 1, vec![0, 0]));
    }
}
