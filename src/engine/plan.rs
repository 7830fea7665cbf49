//! A schedule bound to elements: operations that post, wait, and copy and reduce regions.

use super::repetition::{Loop, posts_at_a_time};
use super::{Binding, Location, Memory, Piece, Region, View};
use crate::schedule::{Buffer, Message, Post, ProgramPart, Repeat, Run, Schedule, SlotKind, Step};
use std::collections::BTreeSet;
use std::iter;
use std::ops::Range;

/// The most posts in a row of which the sends come first, so that messages travel while receives are posted.
/// With more posts, a rank should not send everything before it is ready to receive anything.
const MOST_POSTS_SENDS_FIRST: usize = 16;

/// The most steps, over all iterations, of a loop that is bound in advance. It then runs faster, but takes memory.
const MOST_UNROLLED: usize = 1024;

/// The bytes that processors hand each other at a time.
pub const CACHE_LINE: usize = 64;

/// The most bytes in a slot that shares a cache line with its flag.
pub const LINE_PAYLOAD: usize = CACHE_LINE - size_of::<u64>();

/// One operation of a plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Posts a send.
    Send {
        post: Post,
        /// The receiving rank.
        peer: u32,
        region: Region,
        /// Whether the next operation waits for this post.
        is_awaited_next: bool,
    },
    /// Posts a receive.
    Receive {
        post: Post,
        /// The sending rank.
        peer: u32,
        region: Region,
        /// Whether the next operation waits for this post.
        is_awaited_next: bool,
    },
    /// Waits for posts.
    Wait {
        /// A range of [`Plan::awaited`].
        awaited: Range<usize>,
    },
    /// Copies regions.
    Copy {
        source: Region,
        target: Region,
        /// How source and target repeat.
        rows: Further<2>,
    },
    /// `target = left ⊕ right`
    Reduce {
        left: Location,
        right: Location,
        target: Location,
        /// Elements of each of the three.
        elements: usize,
        /// How left, right and target repeat.
        rows: Further<3>,
    },
    /// Publishes in one of the rank's slots where a region lies.
    Lend {
        region: Region,
        slot: u32,
        /// The copy that may be lent instead.
        copy: LentCopy,
    },
    /// Raises the flag of one of the rank's slots.
    Notify { slot: u32 },
    /// Waits for a flag.
    Await {
        /// The rank that raises the flag.
        rank: u32,
        /// The slot of that rank.
        slot: u32,
        /// How often the rank has raised the flag in this stripe.
        times: u32,
    },
    /// Carries out a loop of the schedule.
    Repeat {
        /// An index of [`Plan::loops`].
        number: usize,
    },
    /// Waits until the rank's slots may be written.
    AwaitSlots,
    /// Ends a stripe: the rank reads nothing more of it. Stripes that differ only in where the caller's
    /// elements lie are in the plan once. The operations from `first` up to here run `times` times, each time
    /// `step` elements further on in the caller's buffers.
    EndStripe {
        /// The index of the stripe's first operation.
        first: usize,
        /// Number of stripes of this kind.
        times: usize,
        /// Elements from one stripe to the next.
        step: usize,
    },
}

/// A copy that a rank lends instead of the original. If elements have gaps, the rank always lends a copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LentCopy {
    /// The offset of the copy, if it is made, in the memory for such copies.
    pub start: usize,
    /// Bytes of data.
    pub bytes: usize,
    /// Whether the copy is needed because the original is written again before all ranks have copied it.
    pub is_needed: bool,
}

/// A repetition of `N` regions at regular steps. Each row has all `N` regions, with the lengths of the first row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rows<const N: usize> {
    /// Number of rows, at least one.
    pub number: usize,
    /// Elements, or slots, from each row to the next, modulo 2^64: they may descend.
    pub steps: [usize; N],
}

impl<const N: usize> Rows<N> {
    /// A single row.
    pub const ONE: Rows<N> = Rows { number: 1, steps: [0; N] };

    /// Returns the regions of a row, given those of the first row.
    #[inline]
    pub fn row(&self, number: usize, mut first: [Region; N]) -> [Region; N] {
        for (region, step) in first.iter_mut().zip(self.steps) {
            region.offset = region.offset.wrapping_add(number.wrapping_mul(step));
        }
        first
    }

    /// Adds a row if its regions follow at the same steps. Returns whether it did.
    fn take(&mut self, first: &[Region; N], next: &[Region; N]) -> bool {
        let last = self.row(self.number - 1, *first);
        let mut steps = [0; N];
        for ((step, last), next) in steps.iter_mut().zip(&last).zip(next) {
            let is_alike = (last.memory, last.elements) == (next.memory, next.elements);
            if !is_alike {
                return false;
            }
            *step = next.offset.wrapping_sub(last.offset);
        }
        let follows = self.number == 1 || steps == self.steps;
        if follows {
            (self.number, self.steps) = (self.number + 1, steps);
        }
        follows
    }
}

/// The rows of an operation. Most operations have one row, which takes no memory here: kept plans have many operations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Further<const N: usize>(Option<Box<Rows<N>>>);

impl<const N: usize> Further<N> {
    /// Returns the number of rows.
    #[inline]
    pub fn number(&self) -> usize {
        self.0.as_ref().map_or(1, |rows| rows.number)
    }

    /// Returns the regions of all rows, given those of the first row.
    #[inline]
    pub fn each(&self, first: [Region; N]) -> impl Iterator<Item = [Region; N]> {
        let row = move |number| self.0.as_ref().map_or(first, |rows| rows.row(number, first));
        (0..self.number()).map(row)
    }
}

impl<const N: usize> From<Rows<N>> for Further<N> {
    fn from(rows: Rows<N>) -> Self {
        Further((rows.number > 1).then(|| Box::new(rows)))
    }
}

/// The regions of the first row, and how the other rows follow.
type InRows<const N: usize> = ([Region; N], Rows<N>);

/// Joins regions that follow each other at regular steps into rows.
fn in_rows<const N: usize>(all: impl Iterator<Item = InRows<N>>) -> Vec<InRows<N>> {
    let mut together: Vec<InRows<N>> = Vec::new();
    for (next, rows) in all {
        let is_taken =
            rows == Rows::ONE && together.last_mut().is_some_and(|(first, rows)| rows.take(first, &next));
        if !is_taken {
            together.push((next, rows));
        }
    }
    together
}

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

/// How slots lie in the memory that a node shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots {
    /// Each slot is in one cache line with its flag.
    Lines,
    /// Slots lie apart from the flags.
    Apart {
        /// Bytes from one slot to the next.
        stride: usize,
        /// Bytes of all slots of a rank.
        bytes: usize,
    },
    /// Slots lie together, apart from the flags. Regions in them are counted in elements, not in slots.
    Joined {
        /// Bytes from one element to the next.
        extent: usize,
        /// The most bytes of all slots of a rank.
        bytes: usize,
    },
    /// Each slot is in one cache line with its flag, and says where a block lies.
    Lent,
}

impl Slots {
    /// Number of kinds of slots. Different kinds never use the same memory.
    pub const KINDS: usize = 4;

    /// Number of banks of each kind. Small banks are many, so ranks seldom have to check whether others are
    /// done with them. Lent slots have one bank, because their rank waits for the others in any case.
    pub const BANKS: [usize; Slots::KINDS] = [16, 16, 4, 1];

    /// Bytes of a bank of short slots. Slots are of this kind if a rank's slots have no more bytes together.
    pub const SHORT_BANK: usize = 16 << 10;

    /// Returns the number of the kind: 0 in lines, 1 short, 2 long, 3 lent.
    #[inline]
    pub fn kind(self) -> usize {
        match self {
            Slots::Lines => 0,
            Slots::Apart { bytes, .. } | Slots::Joined { bytes, .. } if bytes <= Slots::SHORT_BANK => 1,
            Slots::Apart { .. } | Slots::Joined { .. } => 2,
            Slots::Lent => 3,
        }
    }

    pub fn banks(self) -> usize {
        Slots::BANKS[self.kind()]
    }
}

/// Decides how a plan uses slots. The bounds are the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBounds {
    /// The most bytes in a slot that shares a cache line with its flag.
    pub line: usize,
    /// The most bytes of all slots of a rank, if they lie apart from the flags.
    pub bank: usize,
    /// The most bytes of a block in shared memory at a time, if the user limits them.
    pub stripe: Option<usize>,
    /// If ranks learn the length of the longest block, blocks are lent only if it has at least this many
    /// bytes. For shorter blocks another copy takes less time than a system call.
    pub least_lent: usize,
}

impl SlotBounds {
    /// `line`: a cache line without its flag. `bank`: as much as stays in the caches of all ranks that read it.
    pub const DEFAULT: SlotBounds =
        SlotBounds { line: LINE_PAYLOAD, bank: 1 << 20, stripe: None, least_lent: 512 << 10 };

    /// Returns the bounds for `ranks` ranks and a bank of at least `bank` bytes, with room for an element in each slot.
    pub fn of_ranks(ranks: usize, bank: usize) -> SlotBounds {
        let bank = bank.max(SlotBounds::slots(ranks) * CACHE_LINE);
        SlotBounds { bank, least_lent: SlotBounds::least_lent(ranks), ..SlotBounds::DEFAULT }
    }

    /// Returns the least length of lent blocks. Measured on up to 16 processors: on two, copies in slots are faster up to
    /// 512 KiB if the processors share a cache; on more, up to 64 KiB, if all blocks that a rank shows have together at most
    /// 1 MiB.
    fn least_lent(ranks: usize) -> usize {
        match ranks {
            ..=2 => SlotBounds::DEFAULT.least_lent,
            _ => ((1 << 20) / ranks).clamp(32 << 10, 64 << 10) + 1,
        }
    }

    /// Returns the slots of each rank: one for each of `ranks` ranks in each of two phases, and some more.
    pub const fn slots(ranks: usize) -> usize {
        2 * ranks + 6
    }

    /// Returns the most bytes of a block in shared memory at a time, if a rank has `slots` slots.
    pub fn longest_stripe(&self, slots: usize) -> usize {
        self.longest_in(self.bank, slots)
    }

    fn longest_in(&self, bank: usize, slots: usize) -> usize {
        let most = bank / slots.max(1) / CACHE_LINE * CACHE_LINE;
        self.stripe.unwrap_or(most).min(most)
    }

    /// Returns the most bytes of a block in a short slot, if a rank has `slots` slots.
    pub fn longest_short_block(&self, slots: usize) -> usize {
        self.longest_in(Slots::SHORT_BANK, slots)
    }

    /// Returns slots of which a rank's `slots` fill a bank of short slots. They hold blocks whose lengths the ranks do not
    /// know in advance.
    pub fn short_slots(&self, slots: usize) -> Slots {
        let stride = self.longest_short_block(slots);
        Slots::Apart { stride, bytes: stride * slots }
    }

    /// Returns the elements of a stripe, and the slots that all stripes use. A rank has `slots` slots of a kind; the
    /// longest block has `longest` elements of `extent` bytes. Stripes of different blocks do not follow each other, so
    /// slots lie together only if each block fits into one stripe. Lent blocks are one stripe.
    pub fn cut(&self, (slots, kind): (usize, SlotKind), longest: usize, extent: usize) -> (usize, Slots) {
        if kind == SlotKind::Lent {
            return (longest.max(1), Slots::Lent);
        }
        let step = (self.longest_stripe(slots).min(longest * extent) / extent).max(1);
        let together = longest * extent * slots;
        let used = match () {
            () if kind == SlotKind::Together && (1..=step).contains(&longest) && together <= self.bank => {
                Slots::Joined { extent, bytes: together }
            }
            () if longest * extent <= self.line => Slots::Lines,
            () => {
                let stride = (step * extent).next_multiple_of(CACHE_LINE);
                Slots::Apart { stride, bytes: stride * slots }
            }
        };
        (step, used)
    }
}

impl Plan {
    /// Binds a schedule. Loops of more than `MOST_UNROLLED` steps, over all iterations, are bound during execution.
    pub fn new(schedule: &Schedule, binding: &Binding) -> Plan {
        Plan::with_loops(schedule, binding, MOST_UNROLLED)
    }

    /// Like [`Plan::new`], with `gap` free elements behind each vector in scratch memory.
    pub fn with_gaps(schedule: &Schedule, binding: Binding, gap: usize) -> Plan {
        if gap == 0 {
            return Plan::new(schedule, &binding);
        }
        let vectors = schedule.scratch_blocks().div_ceil(schedule.blocks.max(1));
        let plan = Plan::new(schedule, &binding.with_gaps(schedule, gap));
        Plan { scratch_elements: plan.scratch_elements + vectors * gap, ..plan }
    }

    /// Like [`Plan::new`], with another bound.
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
                ProgramPart::Repeat(repeat) if is_bound_later(repeat) && planner.staged.is_empty() => {
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
            Operation::Copy { source, target, .. } => fits(source) && fits(target),
            Operation::Reduce { left, right, target, elements, .. } => {
                [left, right, target].into_iter().all(|location| fits(&location.region(*elements)))
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

    /// Returns the bytes of the lent copies that are needed.
    pub fn bytes_copied_to_lend(&self) -> usize {
        let copied = |operation: &Operation| match operation {
            Operation::Lend { copy, .. } if copy.is_needed => copy.bytes,
            _ => 0,
        };
        self.operations.iter().map(copied).sum()
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

/// A packed message in flight.
struct Staged {
    post: Post,
    /// The copies out of staging memory, for a receive.
    unpacking: Vec<Operation>,
}

/// The pieces of a message: one, or none or several.
enum Pieces {
    One(Piece),
    Others(Vec<(Piece, Rows<1>)>),
}

impl Pieces {
    fn of(mut pieces: impl Iterator<Item = (Piece, Rows<1>)>) -> Pieces {
        match (pieces.next(), pieces.next()) {
            (Some((piece, Rows::ONE)), None) => Pieces::One(piece),
            (first, second) => Pieces::Others(first.into_iter().chain(second).chain(pieces).collect()),
        }
    }
}

pub(super) struct Planner<'a> {
    pub plan: Plan,
    rank: u32,
    /// How many post numbers are used, in a circle.
    posts: Post,
    may_write_slots: bool,
    binding: &'a Binding,
    staged: Vec<Staged>,
    staging_top: usize,
    /// Each lent run, and the index of the operation that lends it.
    lent: Vec<(Run, usize)>,
}

impl<'a> Planner<'a> {
    pub fn new(plan: Plan, rank: usize, posts: usize, binding: &'a Binding) -> Self {
        Planner {
            plan,
            rank: rank as u32,
            posts: posts as Post,
            may_write_slots: false,
            binding,
            staged: Vec::new(),
            staging_top: 0,
            lent: Vec::new(),
        }
    }

    fn repeat(&mut self, repeated: Loop) {
        self.plan.spare_elements = self.plan.spare_elements.max(repeated.spare_elements());
        self.plan.operations.push(Operation::Repeat { number: self.plan.loops.len() });
        self.plan.loops.push(repeated);
    }

    /// Before the first write to a slot, waits until all ranks have read the old content.
    fn await_slots(&mut self, mut written: impl Iterator<Item = Buffer>) {
        let writes_slots = written.any(|buffer| matches!(buffer, Buffer::Shared(rank) if rank == self.rank));
        if writes_slots && !self.may_write_slots {
            self.may_write_slots = true;
            self.plan.operations.push(Operation::AwaitSlots);
        }
    }

    /// Whether a copy to `target` lends its source.
    fn lends(&self, target: Run) -> bool {
        self.binding.slot_kind == SlotKind::Lent && target.buffer == Buffer::Shared(self.rank)
    }

    fn lend(&mut self, source: Run, target: Run) {
        self.send_first();
        self.await_slots(iter::once(target.buffer));
        for [lent, slot] in self.binding.in_parallel([source, target]) {
            let copy = LentCopy { start: self.plan.lent_bytes, bytes: lent.bytes, is_needed: false };
            self.plan.lent_bytes += lent.bytes.next_multiple_of(CACHE_LINE);
            self.lent.push((source, self.plan.operations.len()));
            let (region, slot) = (lent.region, slot.region.offset as u32);
            self.plan.operations.push(Operation::Lend { region, slot, copy });
        }
    }

    /// Notes that `target` is written. Of lent regions that it overwrites, copies are needed.
    fn write(&mut self, target: Run) {
        for (_, lending) in self.lent.iter().filter(|(lent, _)| lent.overlaps(target)) {
            if let Operation::Lend { copy, .. } = &mut self.plan.operations[*lending] {
                copy.is_needed = true;
            }
        }
    }

    pub fn step(&mut self, step: &Step) {
        match step {
            Step::Receive { message, .. } => message.runs().for_each(|run| self.write(run)),
            Step::Copy { target, .. } | Step::Reduce { target, .. } => self.write(*target),
            Step::Send { .. } | Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => {}
        }
        match step {
            // Both sides know the length of a message, so an empty one need not travel.
            Step::Send { post, peer, message } => {
                let post = *post % self.posts;
                if let Some(region) = self.outgoing(post, message) {
                    let (peer, is_awaited_next) = (*peer, false);
                    self.plan.operations.push(Operation::Send { post, peer, region, is_awaited_next });
                }
            }
            Step::Receive { post, peer, message } => {
                self.await_slots(message.strided().iter().map(|runs| runs.buffer()));
                let post = *post % self.posts;
                if let Some(region) = self.incoming(post, message) {
                    let (peer, is_awaited_next) = (*peer, false);
                    self.plan.operations.push(Operation::Receive { post, peer, region, is_awaited_next });
                }
            }
            Step::Wait { posts } => {
                let posts: Vec<Post> = posts.iter().map(|post| post % self.posts).collect();
                self.wait(&posts);
            }
            Step::Notify { slot } => self.plan.operations.push(Operation::Notify { slot: *slot }),
            Step::Await { rank, slot, times } => {
                let (rank, slot, times) = (*rank, *slot, *times);
                self.plan.operations.push(Operation::Await { rank, slot, times });
            }
            Step::Copy { source, target } if self.lends(*target) => self.lend(*source, *target),
            Step::Copy { source, target } => {
                self.send_first();
                self.await_slots(iter::once(target.buffer));
                let pieces = self.binding.in_parallel([*source, *target]);
                let regions =
                    pieces.map(|[source, target]| ([cut(source, target), target.region], Rows::ONE));
                for ([source, target], rows) in in_rows(regions) {
                    self.plan.operations.push(Operation::Copy { source, target, rows: rows.into() });
                }
            }
            Step::Reduce { left, right, target } => {
                self.send_first();
                self.await_slots(iter::once(target.buffer));
                let pieces = self.binding.in_parallel([*left, *right, *target]);
                for ([left, right, target], rows) in
                    in_rows(pieces.map(|pieces| (pieces.map(|piece| piece.region), Rows::ONE)))
                {
                    if target == left {
                        self.plan.spare_elements = self.plan.spare_elements.max(left.elements);
                    }
                    let elements = target.elements;
                    let [left, right, target] = [left, right, target].map(Region::location);
                    self.plan.operations.push(Operation::Reduce {
                        left,
                        right,
                        target,
                        elements,
                        rows: rows.into(),
                    });
                }
            }
        }
    }

    /// Returns where a message is sent from. A message of several pieces is packed first.
    fn outgoing(&mut self, post: Post, message: &Message) -> Option<Region> {
        let pieces = match self.pieces(message) {
            Pieces::One(piece) => return Some(piece.region),
            Pieces::Others(pieces) => pieces,
        };
        let (packed, copies) = self.reserve(&pieces)?;
        let pack =
            |([source, target], rows): InRows<2>| Operation::Copy { source, target, rows: rows.into() };
        self.plan.operations.extend(copies.into_iter().map(pack));
        self.staged.push(Staged { post, unpacking: Vec::new() });
        Some(packed)
    }

    /// Returns where a message is received. A message of several pieces is unpacked once its receive was awaited.
    fn incoming(&mut self, post: Post, message: &Message) -> Option<Region> {
        let pieces = match self.pieces(message) {
            Pieces::One(piece) => return Some(piece.region),
            Pieces::Others(pieces) => pieces,
        };
        let (packed, copies) = self.reserve(&pieces)?;
        let unpack = |([target, source], Rows { number, steps: [further, back] }): InRows<2>| {
            let rows = Rows { number, steps: [back, further] };
            Operation::Copy { source, target, rows: rows.into() }
        };
        self.staged.push(Staged { post, unpacking: copies.into_iter().map(unpack).collect() });
        Some(packed)
    }

    fn pieces(&self, message: &Message) -> Pieces {
        // This case is fast, because loops are bound in each iteration, and most of their messages have one run.
        match message.single() {
            Some(run) => Pieces::of(self.binding.pieces(run).map(|piece| (piece, Rows::ONE))),
            None => Pieces::of(message.strided().iter().flat_map(|&runs| self.binding.in_rows(runs))),
        }
    }

    /// Reorders the latest posts: sends, with the copies that pack them, come before receives.
    fn send_first(&mut self) {
        let operations = &mut self.plan.operations;
        let is_receive = |operation: &Operation| matches!(operation, Operation::Receive { .. });
        let is_send = |operation: &Operation| matches!(operation, Operation::Send { .. });
        let packs = |operation: &Operation| {
            matches!(operation, Operation::Copy { target: Region { memory: Memory::Staging, .. }, .. })
        };
        let is_other = |one: &Operation| !is_receive(one) && !is_send(one) && !packs(one);
        let start = operations.iter().rposition(is_other).map_or(0, |last| last + 1);
        let last = &mut operations[start..];
        if last.iter().filter(|one| is_receive(one) || is_send(one)).count() <= MOST_POSTS_SENDS_FIRST {
            // The sort is stable, so it keeps the order of messages between two ranks.
            last.sort_by_key(is_receive);
        }
    }

    fn wait(&mut self, posts: &[Post]) {
        self.send_first();
        if let Some(
            Operation::Send { post, is_awaited_next, .. } | Operation::Receive { post, is_awaited_next, .. },
        ) = self.plan.operations.last_mut()
        {
            *is_awaited_next = posts.contains(post);
        }
        let start = self.plan.awaited.len();
        self.plan.awaited.extend(posts);
        self.plan.operations.push(Operation::Wait { awaited: start..self.plan.awaited.len() });
        let is_done = |staged: &Staged| posts.contains(&staged.post);
        let (done, outstanding) =
            std::mem::take(&mut self.staged).into_iter().partition::<Vec<_>, _>(is_done);
        self.plan.operations.extend(done.into_iter().flat_map(|staged| staged.unpacking));
        self.staged = outstanding;
        if self.staged.is_empty() {
            self.staging_top = 0;
        }
    }

    /// Reserves staging memory for a message and returns it, with the rows of pieces and their places in it.
    /// `None` if the message has no data. The memory is released once no staged message is outstanding.
    fn reserve(&mut self, pieces: &[(Piece, Rows<1>)]) -> Option<(Region, Vec<InRows<2>>)> {
        let start = self.staging_top;
        let mut stage = |(piece, rows): &(Piece, Rows<1>)| {
            let region = Region { memory: Memory::Staging, offset: self.staging_top, elements: piece.bytes };
            self.staging_top += rows.number * piece.bytes;
            // A single piece has no step, so equal plans are equal.
            let step = if rows.number > 1 { piece.bytes } else { 0 };
            ([piece.region, region], Rows { number: rows.number, steps: [rows.steps[0], step] })
        };
        let copies = in_rows(pieces.iter().map(&mut stage));
        self.plan.staging_bytes = self.plan.staging_bytes.max(self.staging_top);
        let packed = Region { memory: Memory::Staging, offset: start, elements: self.staging_top - start };
        (packed.elements > 0).then_some((packed, copies))
    }
}

/// Returns what a copy takes of its source. Scratch memory may hold more bytes than the target, because of padding or
/// because a message was longer than its receiver expected. Then the copy takes only the beginning.
fn cut(source: Piece, target: Piece) -> Region {
    match source.region.memory {
        Memory::Buffer(Buffer::Scratch) if source.bytes > target.bytes => {
            Region { elements: target.bytes, ..source.region }
        }
        _ => source.region,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::View;
    use crate::schedule::{Builder, Layout};

    fn binding(elements: usize) -> Binding {
        Binding::uniform(View::new(Layout::Uniform { elements }, 4))
    }

    fn scattered() -> Message {
        [Buffer::Recv.block(0), Buffer::Recv.block(2)].into_iter().collect()
    }

    #[test]
    fn staging_memory_is_reused_after_a_wait() {
        let mut program = Builder::new(0, 4, 4);
        program.send(1, scattered());
        program.send(2, scattered());
        program.send(3, Buffer::Recv.blocks(0..4));
        program.end_round();
        program.send(1, scattered());
        assert_eq!(Plan::new(&program.build(), &binding(3)).staging_bytes, 4 * 3 * 4);
    }

    #[test]
    fn bytes_of_staging_memory_pass_32_bits() {
        let mut program = Builder::new(0, 2, 4);
        program.send(1, scattered());
        let plan = Plan::new(&program.build(), &binding(1 << 31));
        assert_eq!(plan.staging_bytes, 8 << 31);
        let whole = Region { memory: Memory::Staging, offset: 0, elements: 8 << 31 };
        assert!(
            matches!(plan.operations[1], Operation::Send { post: 0, peer: 1, region, .. } if region == whole)
        );
    }

    #[test]
    fn a_packed_message_is_unpacked_after_its_wait() {
        let mut program = Builder::new(0, 2, 4);
        program.receive(1, scattered());
        let plan = Plan::new(&program.build(), &binding(1));
        assert!(matches!(plan.operations[0], Operation::Receive { region: Region { elements: 8, .. }, .. }));
        assert!(matches!(plan.operations[1], Operation::Wait { .. }));
        let [Operation::Copy { source, target, rows }] = &plan.operations[2..] else {
            panic!("one copy of two rows")
        };
        let copied: Vec<_> = rows.each([*source, *target]).collect();
        let piece = |memory, offset, elements| Region { memory, offset, elements };
        let recv = Memory::Buffer(Buffer::Recv);
        assert_eq!(copied[0], [piece(Memory::Staging, 0, 4), piece(recv, 0, 1)]);
        assert_eq!(copied[1], [piece(Memory::Staging, 4, 4), piece(recv, 2, 1)]);
    }

    /// Returns the pieces and the staging regions of a message of these blocks.
    fn packed(binding: &Binding, blocks: impl Iterator<Item = usize>) -> Vec<[Region; 2]> {
        let mut program = Builder::new(0, 2, 100);
        program.send(1, blocks.map(|block| Buffer::Send.block(block)).collect::<Message>());
        let plan = Plan::new(&program.build(), binding);
        let rows = plan.operations.iter().map(|operation| match operation {
            Operation::Copy { source, target, rows } => rows.each([*source, *target]).collect(),
            _ => Vec::new(),
        });
        rows.flatten().collect()
    }

    #[test]
    fn blocks_that_lie_equally_far_apart_are_packed_by_one_copy_of_many_rows() {
        let uneven = Binding::uniform(View::new(Layout::Balanced { elements: 250, blocks: 100 }, 4));
        for (binding, copies) in [(binding(3), 1), (uneven.clone(), 30)] {
            let mut program = Builder::new(0, 2, 100);
            program.send(1, (0..30).map(|block| Buffer::Send.block(99 - 3 * block)).collect::<Message>());
            let plan = Plan::new(&program.build(), &binding);
            assert!(plan.operations.len() <= copies + 2);
        }
        for binding in [binding(3), uneven] {
            let places: Vec<usize> = (0..30).map(|block| 99 - 3 * block).collect();
            let mut end = 0;
            let expected = places.iter().map(|&block| {
                let range = binding.send.layout.block(block);
                let start = end;
                end += 4 * range.len();
                let packed = Region { memory: Memory::Staging, offset: start, elements: end - start };
                let source = Region {
                    offset: range.start,
                    elements: range.len(),
                    memory: Memory::Buffer(Buffer::Send),
                };
                [source, packed]
            });
            assert!(packed(&binding, places.iter().copied()).into_iter().eq(expected.collect::<Vec<_>>()));
        }
    }

    #[test]
    fn sends_go_before_receives_and_keep_their_order() {
        let mut program = Builder::new(0, 4, 4);
        program.receive(1, Buffer::Recv.blocks(0..2));
        program.send(2, Buffer::Send.blocks(0..2));
        program.receive(1, Buffer::Recv.blocks(2..3));
        program.send(2, scattered());
        program.end_round();
        program.receive(3, Buffer::Recv.blocks(3..4));
        let plan = Plan::new(&program.build(), &binding(1));
        let shown = |operation: &Operation| match operation {
            Operation::Send { post, is_awaited_next, .. } => format!("send {post} {is_awaited_next}"),
            Operation::Receive { post, is_awaited_next, .. } => format!("receive {post} {is_awaited_next}"),
            Operation::Copy { .. } => "copy".into(),
            _ => "wait".into(),
        };
        let posts: Vec<_> = plan.operations.iter().map(shown).collect();
        let expected = [
            "send 1 false",
            "copy",
            "send 3 false",
            "receive 0 false",
            "receive 2 true",
            "wait",
            "receive 4 true",
            "wait",
        ];
        assert_eq!(posts, expected);
    }

    #[test]
    fn reductions_into_the_left_operand_need_spare_memory() {
        let spare = |target| {
            let mut program = Builder::new(0, 1, 4);
            program.reduce(Buffer::Recv.blocks(0..2), Buffer::Scratch.blocks(0..2), target);
            Plan::new(&program.build(), &binding(5)).spare_elements
        };
        assert_eq!(spare(Buffer::Recv.blocks(0..2)), 10);
        assert_eq!(spare(Buffer::Scratch.blocks(0..2)), 0);
        assert_eq!(spare(Buffer::Recv.blocks(2..4)), 0);
    }

    #[test]
    fn empty_messages_are_left_out() {
        let mut program = Builder::new(0, 2, 4);
        program.send(1, scattered());
        program.copy(Buffer::Send.block(0), Buffer::Recv.block(0));
        let plan = Plan::new(&program.build(), &binding(0));
        assert_eq!(plan.operations, [Operation::Wait { awaited: 0..1 }]);
    }

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
        assert_eq!([&kept, &written_again].map(Plan::bytes_copied_to_lend), [0, 800]);
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
    }

    #[test]
    fn slots_lie_apart_where_blocks_are_cut_or_empty() {
        let cut = |longest| {
            SlotBounds { bank: 4 * CACHE_LINE, ..BOUNDS }.cut((2, SlotKind::Together), longest, 4).1
        };
        assert_eq!(cut(0), Slots::Lines);
        assert_eq!(cut(32), Slots::Joined { extent: 4, bytes: 2 * 32 * 4 });
        assert_eq!(cut(33), Slots::Apart { stride: 2 * CACHE_LINE, bytes: 4 * CACHE_LINE });
    }

    #[test]
    fn scratch_memory_is_used_anew_in_each_stripe() {
        let mut program = Builder::new(1, 2, 2).slots(1);
        let slot = program.await_slot(0, 0);
        program.copy(slot, Buffer::Scratch.block(3));
        let plan =
            Plan::in_stripes(&program.build(), &binding(100), 4, &SlotBounds { stripe: Some(160), ..BOUNDS });
        assert_eq!((plan.stripes(), plan.scratch_elements), (3, 4 * 40));
        let expected: Vec<usize> = [120..160, 120..160, 60..80].into_iter().flatten().collect();
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
