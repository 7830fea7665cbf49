//! Makes schedules from schedules: one after another, in a subgroup, under other ranks, in other buffers.

use super::repeat::Look;
use super::{Buffer, Message, Moduli, Repeat, Run, Schedule, SlotKind, Step};

impl Schedule {
    /// Returns a rank's program that does nothing.
    pub fn idle(rank: usize, size: usize, blocks: usize) -> Schedule {
        let slot_kind = SlotKind::default();
        Schedule { rank, size, blocks, slots: 0, slot_kind, steps: Vec::new(), repeats: Vec::new() }
    }

    /// Returns this program followed by `next`. Both use the same buffers, scratch included, but each its own
    /// slots.
    ///
    /// Panics if the two are not programs of the same rank over the same blocks.
    pub fn then(mut self, next: Schedule) -> Schedule {
        assert_eq!(
            (self.rank, self.size, self.blocks),
            (next.rank, next.size, next.blocks),
            "different problems"
        );
        let (shift, first_slot, first_step) = (self.posts() as u32, self.slots, self.steps.len());
        let next = next.map_slots(Look::Sometimes, &|slot| first_slot + slot);
        self.slots += next.slots;
        self.repeats.extend(next.repeats.into_iter().map(|repeat| {
            let steps = repeat.steps.start + first_step..repeat.steps.end + first_step;
            Repeat { steps, ..repeat }
        }));
        self.steps.extend(next.steps.into_iter().map(|mut step| {
            match &mut step {
                Step::Send { post, .. } | Step::Receive { post, .. } => *post += shift,
                Step::Wait { posts } => posts.iter_mut().for_each(|post| *post += shift),
                Step::Copy { .. } | Step::Reduce { .. } | Step::Notify { .. } | Step::Await { .. } => {}
            }
            step
        }));
        self
    }

    /// Returns the program of a subgroup's rank as a program in a group of `size` ranks. `member(i)` is the
    /// rank in the group of the subgroup's rank `i`.
    pub fn embed(self, size: usize, member: impl Fn(usize) -> usize) -> Schedule {
        self.embed_looking(Look::Always, size, &member)
    }

    fn embed_looking(mut self, look: Look, size: usize, member: &dyn Fn(usize) -> usize) -> Schedule {
        let renamed = |rank: u32| member(rank as usize) as u32;
        self.rank = member(self.rank);
        let moduli = Moduli { size: size as u32, ..self.moduli() };
        let embedded = self.map_steps(moduli, look, &|mut step| {
            if let Step::Send { peer: rank, .. }
            | Step::Receive { peer: rank, .. }
            | Step::Await { rank, .. } = &mut step
            {
                *rank = renamed(*rank);
            }
            step
        });
        let embedded = Schedule { size, ..embedded };
        let moduli = embedded.moduli();
        embedded.map_runs_of(moduli, look, &|run| match run.buffer {
            Buffer::Shared(rank) => run.in_buffer(Buffer::Shared(renamed(rank))),
            Buffer::Send | Buffer::Recv | Buffer::Scratch => run,
        })
    }

    /// Returns the program with renamed ranks: rank `i` becomes `(i + root) % size`. A program for root 0 can
    /// then serve every root.
    pub fn relabel(self, root: usize) -> Schedule {
        match (root, self.size) {
            (0, _) => self,
            (_, size) => self.embed_looking(Look::Sometimes, size, &|rank| (rank + root) % size),
        }
    }

    /// Returns the program over other buffers or blocks. `map` maps whole runs; adjacent results are merged.
    pub fn map_runs(self, map: impl Fn(Run) -> Run) -> Schedule {
        let moduli = self.moduli();
        self.map_runs_of(moduli, Look::Sometimes, &map)
    }

    fn map_runs_of(self, moduli: Moduli, look: Look, map: &dyn Fn(Run) -> Run) -> Schedule {
        self.map_steps(moduli, look, &|mut step| {
            match &mut step {
                Step::Send { message, .. } | Step::Receive { message, .. } => {
                    *message = message.runs().map(map).collect::<Message>();
                }
                Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => {}
                Step::Copy { source, target } => (*source, *target) = (map(*source), map(*target)),
                Step::Reduce { left, right, target } => {
                    (*left, *right, *target) = (map(*left), map(*right), map(*target));
                }
            }
            step
        })
    }

    /// Returns the program over other slots: slot `i` becomes slot `name(i)`.
    fn map_slots(self, look: Look, name: &dyn Fn(usize) -> usize) -> Schedule {
        if self.slots == 0 {
            return self;
        }
        let moduli = self.moduli();
        let renamed = self.map_steps(moduli, look, &|mut step| {
            if let Step::Notify { slot } | Step::Await { slot, .. } = &mut step {
                *slot = name(*slot as usize) as u32;
            }
            step
        });
        renamed.map_runs_of(moduli, look, &|run| match run.buffer {
            Buffer::Shared(_) => run.buffer.blocks(name(run.indices().start)..name(run.indices().end)),
            Buffer::Send | Buffer::Recv | Buffer::Scratch => run,
        })
    }

    /// Returns the program over buffers that are cut finer, into `blocks` blocks. Block `i` becomes the
    /// blocks from `start(i)` up to `start(i + 1)`; slots change in the same way.
    pub fn refine(self, blocks: usize, start: impl Fn(usize) -> usize) -> Schedule {
        let slots = start(self.slots);
        let refined = |run: Run| match run.buffer {
            Buffer::Shared(_) => run,
            buffer => buffer.blocks(start(run.indices().start)..start(run.indices().end)),
        };
        let moduli = Moduli { blocks: blocks as u32, ..self.moduli() };
        let finer = Schedule { blocks, ..self.map_runs_of(moduli, Look::Always, &refined) }
            .map_slots(Look::Always, &start);
        Schedule { slots, ..finer }
    }

    /// Returns the program with renamed blocks, where blocks have the numbers of ranks. Block `i` becomes
    /// block `(i + root) % blocks`, as [`Schedule::relabel`] renames ranks. So does slot `i` if slots lie together.
    pub fn relabel_blocks(self, root: usize) -> Schedule {
        let (blocks, by) = (self.blocks, root as u32);
        let modulus = blocks as u32;
        // Stops at the end of a vector, before or after renaming.
        let renamed = |run: Run| {
            let (copy, from) = (run.first / modulus, run.first % modulus);
            let to = (from + by) % modulus;
            Run { first: copy * modulus + to, count: run.count.min(modulus - from.max(to)), ..run }
        };
        match self.slot_kind {
            SlotKind::Together => {
                // Some slots of a vector may become any of them.
                let slots = self.slots.next_multiple_of(blocks);
                Schedule { slots, ..self.map_all_blocks(blocks, &renamed) }
            }
            SlotKind::Apart | SlotKind::Lent => self.move_blocks(blocks, &renamed),
        }
    }

    /// Returns the program over buffers of `blocks` blocks, in which block `i` becomes block `name(i)`.
    /// Scratch blocks stay within their copy of a vector.
    pub fn rename_blocks(self, blocks: usize, name: impl Fn(usize) -> usize) -> Schedule {
        let before = self.blocks;
        self.move_blocks(blocks, &|run| {
            let block = run.first as usize;
            run.buffer.block(block / before * blocks + name(block % before))
        })
    }

    /// Returns the program over a part of a longer vector: block `i` becomes block `first + i` of `blocks`.
    pub fn shift_blocks(self, blocks: usize, first: usize) -> Schedule {
        let before = self.blocks as u32;
        // Stops at the end of a vector.
        self.move_blocks(blocks, &|run| {
            let (copy, from) = (run.first / before, run.first % before);
            Run {
                first: copy * blocks as u32 + first as u32 + from,
                count: run.count.min(before - from),
                ..run
            }
        })
    }

    /// Returns the program over buffers of `blocks` blocks. `map` returns where the first blocks of a run go:
    /// as many as stay together, at least one. Slots keep their numbers.
    fn move_blocks(self, blocks: usize, map: &dyn Fn(Run) -> Run) -> Schedule {
        self.map_all_blocks(blocks, &|run: Run| {
            if matches!(run.buffer, Buffer::Shared(_)) { run } else { map(run) }
        })
    }

    /// As [`Schedule::move_blocks`], for slots, too.
    fn map_all_blocks(self, blocks: usize, map: &dyn Fn(Run) -> Run) -> Schedule {
        let straight = self.unrolled();
        let steps = straight.steps.into_iter().flat_map(|step| map_blocks(step, map)).collect();
        Schedule { blocks, steps, ..straight }
    }
}

/// Returns the steps that do the same to moved blocks; several, where the blocks of a copy or reduction
/// separate.
fn map_blocks(step: Step, map: &dyn Fn(Run) -> Run) -> Vec<Step> {
    let mapped = |message: Message| {
        let runs = message.runs().flat_map(|run| map_together([run], map));
        runs.map(|[run]| run).collect::<Message>()
    };
    match step {
        Step::Send { post, peer, message } => vec![Step::Send { post, peer, message: mapped(message) }],
        Step::Receive { post, peer, message } => vec![Step::Receive { post, peer, message: mapped(message) }],
        Step::Wait { .. } | Step::Notify { .. } | Step::Await { .. } => vec![step],
        Step::Copy { source, target } => {
            let pieces = map_together([source, target], map).into_iter();
            pieces.map(|[source, target]| Step::Copy { source, target }).collect()
        }
        Step::Reduce { left, right, target } => {
            let pieces = map_together([left, right, target], map).into_iter();
            pieces.map(|[left, right, target]| Step::Reduce { left, right, target }).collect()
        }
    }
}

/// Maps the blocks of equally long runs, and cuts all runs where the blocks of one separate.
fn map_together<const N: usize>(mut runs: [Run; N], map: &dyn Fn(Run) -> Run) -> Vec<[Run; N]> {
    let mut pieces: Vec<[Run; N]> = Vec::new();
    while runs[0].count > 0 {
        let mapped = runs.map(map);
        let count = mapped.iter().map(|run| run.count).min().unwrap_or(0);
        let next = mapped.map(|run| Run { count, ..run });
        match pieces.last_mut() {
            Some(last) if next.iter().zip(last.iter()).all(|(next, last)| next.continues(*last)) => {
                last.iter_mut().for_each(|run| run.count += count);
            }
            _ => pieces.push(next),
        }
        runs = runs.map(|run| Run { first: run.first + count, count: run.count - count, ..run });
    }
    pieces
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Buffer, Builder, Schedule, Step};

    fn ping(rank: usize) -> Schedule {
        let mut program = Builder::new(rank, 2, 1);
        if rank == 0 {
            program.send(1, Buffer::Send.block(0));
        } else {
            program.receive(0, Buffer::Recv.block(0));
        }
        program.build()
    }

    #[test]
    fn then_renumbers_posts() {
        let both = ping(0).then(ping(0));
        assert_eq!(both.posts(), 2);
        assert_eq!(both.steps[3], Step::Wait { posts: vec![1] });
    }

    #[test]
    fn embed_renames_self_and_peers() {
        let embedded = ping(1).embed(10, |rank| [4, 7][rank]);
        assert_eq!((embedded.rank, embedded.size), (7, 10));
        assert!(matches!(embedded.steps[0], Step::Receive { peer: 4, .. }));
    }

    #[test]
    fn relabel_rotates() {
        let rotated = ping(1).relabel(1);
        assert_eq!(rotated.rank, 0);
        assert!(matches!(rotated.steps[0], Step::Receive { peer: 1, .. }));
    }

    #[test]
    fn map_runs_moves_buffers() {
        let moved = ping(0).map_runs(|run| run.in_buffer(Buffer::Scratch));
        assert_eq!(moved.scratch_blocks(), 1);
    }

    #[test]
    fn refine_cuts_every_block() {
        let refined = ping(0).refine(6, |block| 6 * block);
        assert_eq!(refined.blocks, 6);
        assert_eq!(refined.steps[0].runs(), [Buffer::Send.blocks(0..6)]);
    }

    #[test]
    fn renamed_blocks_may_be_some_of_more() {
        let mut program = Builder::new(0, 2, 2);
        program.send(1, Buffer::Send.blocks(0..2));
        program.copy(Buffer::Send.blocks(0..2), Buffer::Scratch.blocks(2..4));
        let renamed = program.build().rename_blocks(8, |block| 3 + block);
        assert_eq!(renamed.blocks, 8);
        assert_eq!(renamed.steps[0].runs(), [Buffer::Send.blocks(3..5)]);
        assert_eq!(renamed.steps[1].runs(), [Buffer::Send.blocks(3..5), Buffer::Scratch.blocks(11..13)]);
    }

    #[test]
    fn a_loop_becomes_steps_if_its_ranks_are_uneven_anywhere() {
        let mut program = Builder::new(100, 101, 1);
        program.repeat(0..100, |program, rank| {
            program.send(rank, Buffer::Send.block(0));
        });
        let program = program.build();
        let members: [fn(usize) -> usize; 2] =
            [|rank| 2 * rank, |rank| if rank == 30 { 300 } else { 2 * rank }];
        for (member, loops) in members.into_iter().zip([1, 0]) {
            let embedded = program.clone().embed(301, member);
            assert_eq!(embedded.repeats.len(), loops);
            let peers = embedded.unrolled().steps.into_iter().filter_map(|step| step.peer());
            assert!(peers.eq((0..100).map(|rank| member(rank) as u32)));
        }
    }

    #[test]
    fn shifted_blocks_are_some_of_more() {
        let mut program = Builder::new(0, 2, 2);
        program.send(1, Buffer::Send.blocks(0..2));
        program.copy(Buffer::Scratch.blocks(1..4), Buffer::Scratch.blocks(5..8));
        let program = program.build();
        let renamed = program.clone().rename_blocks(8, |block| 3 + block);
        assert_eq!(program.shift_blocks(8, 3), renamed);
        assert_eq!(renamed.steps.len(), 4);
    }

    #[test]
    fn relabel_blocks_splits_what_wraps_round() {
        let mut program = Builder::new(0, 2, 4);
        program.send(1, Buffer::Send.blocks(0..4));
        program.copy(Buffer::Send.blocks(0..3), Buffer::Scratch.blocks(4..7));
        program.end_round();
        let relabelled = program.build().relabel_blocks(2);
        assert_eq!(relabelled.steps[0].runs(), [Buffer::Send.blocks(2..4), Buffer::Send.blocks(0..2)]);
        assert_eq!(relabelled.steps[1].runs(), [Buffer::Send.blocks(2..4), Buffer::Scratch.blocks(6..8)]);
        assert_eq!(relabelled.steps[2].runs(), [Buffer::Send.block(0), Buffer::Scratch.block(4)]);
        assert_eq!(relabelled.steps[3], Step::Wait { posts: vec![0] });
    }

    #[test]
    fn relabel_blocks_moves_slots_that_have_the_numbers_of_blocks() {
        let mut program = Builder::new(0, 2, 4).joined_slots(3);
        program.publish(Buffer::Send.blocks(0..3), 0);
        let relabelled = program.build().relabel_blocks(2);
        assert_eq!(relabelled.slots, 4);
        let shared = Buffer::of_rank(0);
        assert_eq!(relabelled.steps[0].runs(), [Buffer::Send.blocks(2..4), shared.blocks(2..4)]);
        assert_eq!(relabelled.steps[1].runs(), [Buffer::Send.block(0), shared.block(0)]);
        assert_eq!(relabelled.steps[2], Step::Notify { slot: 0 });
    }

    /// Rank 0 shows two blocks to rank 1, which waits for the flag of the second one.
    fn show(rank: usize) -> Schedule {
        let mut program = Builder::new(rank, 2, 2).slots(2);
        match rank {
            0 => (0..2).for_each(|block| program.publish(Buffer::Send.block(block), block)),
            _ => {
                program.await_slot(0, 1);
                program.copy(Buffer::of_rank(0).blocks(0..2), Buffer::Recv.blocks(0..2));
            }
        }
        program.build()
    }

    #[test]
    fn each_of_two_programs_has_slots_of_its_own() {
        let both = show(1).then(show(1));
        assert_eq!(both.slots, 4);
        assert_eq!(both.steps[2], Step::Await { rank: 0, slot: 3, times: 1 });
        assert_eq!(both.steps[3].runs()[0], Buffer::Shared(0).blocks(2..4));
        let both = show(0).then(show(0));
        assert_eq!(both.steps[7], Step::Notify { slot: 3 });
    }

    #[test]
    fn embed_renames_the_owners_of_slots() {
        let embedded = show(1).embed(10, |rank| [4, 7][rank]);
        assert_eq!(embedded.steps[0], Step::Await { rank: 4, slot: 1, times: 1 });
        assert_eq!(embedded.steps[1].runs(), [Buffer::Shared(4).blocks(0..2), Buffer::Recv.blocks(0..2)]);
        assert_eq!(show(0).embed(10, |rank| [4, 7][rank]).steps[0].runs()[1], Buffer::Shared(4).block(0));
    }

    #[test]
    fn refine_cuts_slots_as_blocks() {
        let refined = show(1).refine(6, |block| 3 * block);
        assert_eq!((refined.blocks, refined.slots), (6, 6));
        assert_eq!(refined.steps[0], Step::Await { rank: 0, slot: 3, times: 1 });
        assert_eq!(refined.steps[1].runs(), [Buffer::Shared(0).blocks(0..6), Buffer::Recv.blocks(0..6)]);
    }

    #[test]
    fn slots_keep_their_numbers_where_blocks_are_renamed() {
        let renamed = show(1).rename_blocks(4, |block| [3, 0][block]);
        assert_eq!((renamed.blocks, renamed.slots), (4, 2));
        assert_eq!(renamed.steps[1].runs(), [Buffer::Shared(0).block(0), Buffer::Recv.block(3)]);
        assert_eq!(renamed.steps[2].runs(), [Buffer::Shared(0).block(1), Buffer::Recv.block(0)]);
    }
}
