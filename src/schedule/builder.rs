//! Writes a schedule, step by step or round by round.

use super::repeat::{Look, loop_of};
use super::{Buffer, Message, Move, Post, Repeat, Run, Schedule, SlotKind, Step};
use std::ops::Range;

/// Fewer rounds are written one by one instead of as a loop.
const SHORTEST_LOOP: usize = 3;

/// Collects the steps of one rank.
///
/// ```
/// use rustcoll::schedule::{Buffer::*, Builder};
///
/// let mut program = Builder::new(0, 2, 1);
/// program.receive(1, Scratch.block(0));
/// program.send(1, Send.block(0));
/// program.end_round();
/// program.reduce(Send.block(0), Scratch.block(0), Recv.block(0));
/// assert_eq!(program.build().rounds(), 1);
/// ```
#[derive(Clone)]
pub struct Builder {
    schedule: Schedule,
    posts: Post,
    outstanding: Vec<Post>,
}

impl Builder {
    /// An empty program of `rank` among `size` ranks, over buffers cut into `blocks` blocks.
    pub fn new(rank: usize, size: usize, blocks: usize) -> Self {
        let schedule = Schedule::idle(rank, size, blocks);
        Builder { schedule, posts: 0, outstanding: Vec::new() }
    }

    /// Posts a send. A message without blocks is not sent at all.
    pub fn send(&mut self, peer: usize, message: impl Into<Message>) -> Option<Post> {
        let message = message.into();
        self.post(&message).inspect(|&post| {
            self.schedule.steps.push(Step::Send { post, peer: peer as u32, message });
        })
    }

    /// Posts a receive. A message without blocks is not expected at all.
    pub fn receive(&mut self, peer: usize, message: impl Into<Message>) -> Option<Post> {
        let message = message.into();
        self.post(&message).inspect(|&post| {
            self.schedule.steps.push(Step::Receive { post, peer: peer as u32, message });
        })
    }

    /// Waits for the given posts.
    pub fn wait(&mut self, posts: impl IntoIterator<Item = Post>) {
        let posts: Vec<Post> = posts.into_iter().collect();
        self.outstanding.retain(|post| !posts.contains(post));
        if !posts.is_empty() {
            self.schedule.steps.push(Step::Wait { posts });
        }
    }

    /// Ends a round: waits for everything that was posted and not yet waited for.
    pub fn end_round(&mut self) {
        let posts = std::mem::take(&mut self.outstanding);
        if !posts.is_empty() {
            self.schedule.steps.push(Step::Wait { posts });
        }
    }

    /// Writes a round of one send and one receive.
    pub fn exchange(
        &mut self,
        (to, sent): (usize, impl Into<Message>),
        (from, received): (usize, impl Into<Message>),
    ) {
        self.receive(from, received);
        self.send(to, sent);
        self.end_round();
    }

    /// Returns how many steps there are; those of a loop count once.
    pub fn steps(&self) -> usize {
        self.schedule.steps.len()
    }

    /// The number of the next post.
    pub fn posts(&self) -> Post {
        self.posts
    }

    /// Writes `round` for each number. The rounds become a loop where peers and blocks move evenly from one
    /// round to the next. What a round does must depend on its number and on [`Builder::posts`] alone.
    pub fn repeat(&mut self, rounds: Range<usize>, round: impl Fn(&mut Builder, usize)) {
        match self.loop_over(&rounds, &round) {
            Some(Rounds { first, moves, posts, outstanding }) => {
                let start = self.schedule.steps.len();
                self.schedule.steps.extend(first);
                let steps = start..self.schedule.steps.len();
                self.schedule.repeats.push(Repeat { steps, times: rounds.len() as u32, moves });
                (self.posts, self.outstanding) = (posts, outstanding);
            }
            None => rounds.for_each(|number| round(self, number)),
        }
    }

    /// Like [`Builder::repeat`], with the messages of at most `window` rounds under way at a time: each further round first
    /// waits for those of the oldest. All rounds post equally many.
    pub fn repeat_within(
        &mut self,
        window: usize,
        rounds: Range<usize>,
        round: impl Fn(&mut Builder, usize),
    ) {
        let before = self.posts;
        let first = rounds.start..rounds.end.min(rounds.start + window);
        self.repeat(first.clone(), &round);
        if first.end == rounds.end {
            return;
        }
        let each = (self.posts - before) / first.len() as Post;
        self.repeat(first.end..rounds.end, |program, number| {
            let oldest = program.posts() - window as Post * each;
            program.wait(oldest..oldest + each);
            round(program, number);
        });
    }

    /// Returns the rounds as a loop, if they form one.
    fn loop_over(&self, rounds: &Range<usize>, round: &dyn Fn(&mut Builder, usize)) -> Option<Rounds> {
        if rounds.len() < SHORTEST_LOOP {
            return None;
        }
        let written = |posts: Post, outstanding: Vec<Post>, number: usize| {
            let schedule = Schedule::idle(self.schedule.rank, self.schedule.size, self.schedule.blocks);
            let mut program = Builder { schedule, posts, outstanding };
            round(&mut program, number);
            program
        };
        let one = written(self.posts, self.outstanding.clone(), rounds.start);
        let two = written(one.posts, one.outstanding.clone(), rounds.start + 1);
        let each = one.posts - self.posts;
        let leaves = Leaves::between(&self.outstanding, &one.outstanding, self.posts..one.posts)?;
        if Leaves::between(&one.outstanding, &two.outstanding, one.posts..two.posts)? != leaves {
            return None;
        }
        let before = |time: u32| {
            let posts = self.posts + time * each;
            (posts, leaves.outstanding(&self.outstanding, self.posts..posts, time * each))
        };
        let at = |time: u32| {
            // A round that leaves all its posts waits for none.
            let (posts, outstanding) =
                if leaves == Leaves::All { (self.posts + time * each, Vec::new()) } else { before(time) };
            written(posts, outstanding, rounds.start + time as usize).schedule.steps
        };
        let times = rounds.len() as u32;
        let moves = loop_of(times, self.schedule.moduli(), Look::Sometimes, &at)?;
        let (posts, outstanding) = before(times);
        Some(Rounds { first: one.schedule.steps, moves, posts, outstanding })
    }

    /// Copies `source` to `target`. A copy that continues the one before becomes one step with it.
    pub fn copy(&mut self, source: Run, target: Run) {
        if source.count == 0 || source == target {
            return;
        }
        if let Some(Step::Copy { source: last_source, target: last_target }) = self.schedule.steps.last_mut()
            && let Some([whole, copied]) = joined([*last_source, *last_target], [source, target])
            && !whole.overlaps(copied)
        {
            (*last_source, *last_target) = (whole, copied);
            return;
        }
        self.schedule.steps.push(Step::Copy { source, target });
    }

    /// `target = left ⊕ right`; see [`Step::Reduce`]. A reduction that continues the one before becomes one
    /// step with it.
    pub fn reduce(&mut self, left: Run, right: Run, target: Run) {
        if target.count == 0 {
            return;
        }
        if let Some(Step::Reduce { left: last_left, right: last_right, target: last_target }) =
            self.schedule.steps.last_mut()
            && let Some([all_left, all_right, reduced]) =
                joined([*last_left, *last_right, *last_target], [left, right, target])
            && [all_left, all_right].iter().all(|operand| *operand == reduced || !operand.overlaps(reduced))
        {
            (*last_left, *last_right, *last_target) = (all_left, all_right, reduced);
            return;
        }
        self.schedule.steps.push(Step::Reduce { left, right, target });
    }

    /// Gives each rank `slots` slots, which its node can read.
    pub fn slots(mut self, slots: usize) -> Self {
        self.schedule.slots = slots;
        self
    }

    /// Gives each rank a slot for each of `slots` blocks. The slots lie together, as the blocks do in a
    /// vector.
    pub fn joined_slots(mut self, slots: usize) -> Self {
        (self.schedule.slots, self.schedule.slot_kind) = (slots, SlotKind::Together);
        self
    }

    /// Writes blocks to the rank's own slots, from `slot` on, and raises the flag of the first one.
    pub fn publish(&mut self, blocks: Run, slot: usize) {
        self.show(blocks, slot);
        self.notify(slot);
    }

    /// Writes blocks to the rank's own slots, from `slot` on.
    pub fn show(&mut self, blocks: Run, slot: usize) {
        self.copy(blocks, Buffer::of_rank(self.schedule.rank).blocks(slot..slot + blocks.count as usize));
    }

    /// Raises the flag of one of the rank's own slots; see [`Step::Notify`].
    pub fn notify(&mut self, slot: usize) {
        self.schedule.steps.push(Step::Notify { slot: slot as u32 });
    }

    /// Waits until a rank has raised the flag of a slot. Returns the slot.
    pub fn await_slot(&mut self, rank: usize, slot: usize) -> Run {
        self.schedule.steps.push(Step::Await { rank: rank as u32, slot: slot as u32, times: 1 });
        Buffer::of_rank(rank).block(slot)
    }

    /// Returns the program, after a wait for all outstanding posts.
    pub fn build(mut self) -> Schedule {
        self.end_round();
        self.schedule.steps.shrink_to_fit();
        self.schedule
    }

    fn post(&mut self, message: &Message) -> Option<Post> {
        if message.blocks() == 0 {
            return None;
        }
        let post = self.posts;
        self.posts += 1;
        self.outstanding.push(post);
        Some(post)
    }
}

/// Joins each run with its next one; `None` unless each next run starts where the first ends.
fn joined<const N: usize>(mut first: [Run; N], next: [Run; N]) -> Option<[Run; N]> {
    let continues = next.iter().zip(&first).all(|(next, first)| next.continues(*first));
    first.iter_mut().zip(&next).for_each(|(first, next)| first.count += next.count);
    continues.then_some(first)
}

/// Rounds that form a loop.
struct Rounds {
    /// The steps of the first round.
    first: Vec<Step>,
    moves: Vec<Move>,
    /// The number of the first post after the last round.
    posts: Post,
    /// The posts that are outstanding after the last round.
    outstanding: Vec<Post>,
}

/// Which posts are outstanding after a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaves {
    /// Those that were outstanding before it.
    None,
    /// As many as before it, with numbers later by the posts of the round.
    Latest,
    /// Those that were outstanding before it, and all its own.
    All,
}

impl Leaves {
    fn between(before: &[Post], after: &[Post], own: Range<Post>) -> Option<Leaves> {
        let kinds = [Leaves::None, Leaves::Latest, Leaves::All];
        let each = own.end - own.start;
        kinds.into_iter().find(|kind| kind.outstanding(before, own.clone(), each) == after)
    }

    /// Returns what is outstanding after rounds with the posts `own`. `later`: how many posts these are.
    fn outstanding(self, before: &[Post], own: Range<Post>, later: Post) -> Vec<Post> {
        match self {
            Leaves::None => before.to_vec(),
            Leaves::Latest => before.iter().map(|post| post + later).collect(),
            Leaves::All => before.iter().copied().chain(own).collect(),
        }
    }
}
