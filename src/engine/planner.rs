//! Binds the steps of a program one after the other.

use super::operation::{InRows, in_rows};
use super::repetition::Loop;
use super::slots::CACHE_LINE;
use super::{Binding, LentCopy, Memory, Operation, Piece, Plan, Region, Rows};
use crate::schedule::{Buffer, Message, Post, Run, SlotKind, Step};
use std::iter;
use std::ops::Range;

/// The most posts in a row of which the sends come first, so that messages travel while receives are posted.
/// With more posts, a rank should not send everything before it is ready to receive anything.
const MOST_POSTS_SENDS_FIRST: usize = 16;

/// A packed message in flight.
struct Staged {
    post: Post,
    /// The bytes of staging memory that hold it.
    place: Range<usize>,
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
    /// The packed messages in flight, in the order of their places.
    staged: Vec<Staged>,
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
            lent: Vec::new(),
        }
    }

    /// Whether a packed message is in flight.
    pub fn is_staging(&self) -> bool {
        !self.staged.is_empty()
    }

    pub fn repeat(&mut self, repeated: Loop) {
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
        self.stage(post, packed, Vec::new());
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
        self.stage(post, packed, copies.into_iter().map(unpack).collect());
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
    }

    /// Reserves staging memory for a message and returns it, with the rows of pieces and their places in it.
    /// `None` if the message has no data.
    fn reserve(&mut self, pieces: &[(Piece, Rows<1>)]) -> Option<(Region, Vec<InRows<2>>)> {
        let bytes = pieces.iter().map(|(piece, rows)| rows.number * piece.bytes).sum();
        if bytes == 0 {
            return None;
        }
        let start = self.free_place(bytes);
        let mut end = start;
        let mut place = |(piece, rows): &(Piece, Rows<1>)| {
            let region = Region { memory: Memory::Staging, offset: end, elements: piece.bytes };
            end += rows.number * piece.bytes;
            // A single piece has no step, so equal plans are equal.
            let step = if rows.number > 1 { piece.bytes } else { 0 };
            ([piece.region, region], Rows { number: rows.number, steps: [rows.steps[0], step] })
        };
        let copies = in_rows(pieces.iter().map(&mut place));
        self.plan.staging_bytes = self.plan.staging_bytes.max(start + bytes);
        Some((Region { memory: Memory::Staging, offset: start, elements: bytes }, copies))
    }

    /// Returns the first place in staging memory where no message in flight has any of so many bytes.
    fn free_place(&self, bytes: usize) -> usize {
        let mut start = 0;
        for staged in &self.staged {
            if staged.place.start - start >= bytes {
                break;
            }
            start = staged.place.end;
        }
        start
    }

    /// Notes that a packed message is in flight until its post is awaited.
    fn stage(&mut self, post: Post, packed: Region, unpacking: Vec<Operation>) {
        let place = packed.offset..packed.offset + packed.elements;
        let index = self.staged.partition_point(|other| other.place.start < place.start);
        self.staged.insert(index, Staged { post, place, unpacking });
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
pub(super) mod tests {
    use super::*;
    use crate::algorithms::{Collective, Problem};
    use crate::engine::{Counts, View, bind};
    use crate::schedule::{Builder, Layout};

    pub fn binding(elements: usize) -> Binding {
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
    fn a_gap_between_messages_in_flight_is_used() {
        let mut program = Builder::new(0, 4, 4);
        let posts: Vec<_> = (1..4).map(|peer| program.send(peer, scattered())).collect();
        program.wait(posts[1]);
        program.receive(1, scattered());
        let plan = Plan::new(&program.build(), &binding(3));
        let received = plan.operations.iter().find_map(|operation| match operation {
            Operation::Receive { region, .. } => Some(region.offset),
            _ => None,
        });
        assert_eq!((received, plan.staging_bytes), (Some(2 * 3 * 4), 3 * 2 * 3 * 4));
    }

    /// Beside the messages of a round, up to eight earlier ones are in flight each way. Shorter ones may leave gaps.
    #[test]
    fn messages_of_a_window_take_memory_for_some_windows() {
        let window = 32;
        for collective in [Collective::Allgather, Collective::ReduceScatterBlock] {
            let problem = Problem { window, ..Problem::new(1024) };
            let program = collective.algorithm("pat").unwrap().schedule(&problem, 0);
            let counts = Counts::One { count: 1 << 20, bytes: 1 };
            let plan = Plan::new(&program, &bind(collective, 0, program.blocks, &counts, &counts));
            let windows = plan.staging_bytes.div_ceil(window << 20);
            assert!(windows <= 2 * (8 + 1) + 2, "{}: {windows}", collective.name());
        }
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
}
