//! Writing a schedule down, step by step or round by round.

use super::{Buffer, Message, Post, Run, Schedule, Step};

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

    /// A round of one send and one receive.
    pub fn exchange(
        &mut self,
        (to, sent): (usize, impl Into<Message>),
        (from, received): (usize, impl Into<Message>),
    ) {
        self.receive(from, received);
        self.send(to, sent);
        self.end_round();
    }

    /// Copies `source` to `target`.
    pub fn copy(&mut self, source: Run, target: Run) {
        if source.count > 0 && source != target {
            self.schedule.steps.push(Step::Copy { source, target });
        }
    }

    /// `target = left ⊕ right`; see [`Step::Reduce`].
    pub fn reduce(&mut self, left: Run, right: Run, target: Run) {
        if target.count > 0 {
            self.schedule.steps.push(Step::Reduce { left, right, target });
        }
    }

    /// Gives each rank so many slots that its node can read.
    pub fn slots(mut self, slots: usize) -> Self {
        self.schedule.slots = slots;
        self
    }

    /// Writes blocks to slots of the rank's own, from `slot` on, and raises the flag of the first one.
    pub fn publish(&mut self, blocks: Run, slot: usize) {
        self.show(blocks, slot);
        self.notify(slot);
    }

    /// Writes blocks to slots of the rank's own, from `slot` on.
    pub fn show(&mut self, blocks: Run, slot: usize) {
        self.copy(blocks, Buffer::of_rank(self.schedule.rank).blocks(slot..slot + blocks.count as usize));
    }

    /// Raises the flag of a slot of the rank's own; see [`Step::Notify`].
    pub fn notify(&mut self, slot: usize) {
        self.schedule.steps.push(Step::Notify { slot: slot as u32 });
    }

    /// Waits until a rank has raised the flag of a slot: the slot.
    pub fn await_slot(&mut self, rank: usize, slot: usize) -> Run {
        self.schedule.steps.push(Step::Await { rank: rank as u32, slot: slot as u32, times: 1 });
        Buffer::of_rank(rank).block(slot)
    }

    /// The program, after waiting for whatever is still outstanding.
    pub fn build(mut self) -> Schedule {
        self.end_round();
        self.schedule
    }

    fn post(&mut self, message: &Message) -> Option<Post> {
        if message.runs().is_empty() {
            return None;
        }
        let post = self.posts;
        self.posts += 1;
        self.outstanding.push(post);
        Some(post)
    }
}
