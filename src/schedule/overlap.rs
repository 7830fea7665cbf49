//! Makes a program that was written in rounds wait for what it needs and no more.

use super::{Buffer, Message, Post, Run, Schedule, Step};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

impl Schedule {
    /// Returns the program with dependencies instead of rounds. It waits for an incoming message only before
    /// the first step that touches its blocks, and for an outgoing one only before the first step that writes
    /// them. It posts a receive as soon as its blocks are free and earlier receives are posted, at the latest
    /// where it was.
    ///
    /// At most `ahead` receives are posted before their old places, and at most `ahead` sends and as many receives
    /// outlive their old waits. Every wait comes at its old place or later, every post at its old place or earlier. So a
    /// program without deadlock stays without.
    ///
    /// A flag announces everything before it: where a flag is raised or awaited, no post is outstanding that
    /// the old program had waited for.
    ///
    /// Do not use this for barriers, where the arrival of a message counts, not the content of its blocks.
    pub fn overlapped(self, ahead: usize) -> Schedule {
        let straight = self.unrolled();
        let mut overlap = Overlap::new(&straight.steps, ahead);
        overlap.post_receives(0);
        for (position, step) in straight.steps.iter().enumerate() {
            overlap.step(position, step);
            overlap.post_receives(position + 1);
        }
        overlap.wait_for_all();
        Schedule { steps: overlap.written, ..straight }
    }
}

/// A post that the new program has not waited for.
struct Outstanding<'a> {
    /// Its number in the new program.
    post: Post,
    /// Its number in the old program.
    source: Post,
    message: &'a Message,
    /// Whether the old program has waited for it.
    is_due: bool,
}

struct Overlap<'a> {
    source: &'a [Step],
    ahead: usize,
    written: Vec<Step>,
    posts: Post,
    receives: Vec<Outstanding<'a>>,
    /// The blocks of `receives`.
    targets: Targets,
    sends: Vec<Outstanding<'a>>,
    /// The position of the next receive that is not posted yet.
    next_receive: usize,
    /// That receive must stay behind the steps before this position.
    blocked_until: usize,
}

impl<'a> Overlap<'a> {
    fn new(source: &'a [Step], ahead: usize) -> Self {
        let mut overlap = Overlap {
            source,
            ahead,
            written: Vec::with_capacity(source.len()),
            posts: 0,
            receives: Vec::new(),
            targets: Targets::default(),
            sends: Vec::new(),
            next_receive: 0,
            blocked_until: 0,
        };
        overlap.find_receive(0, 0);
        overlap
    }

    fn step(&mut self, position: usize, step: &'a Step) {
        match step {
            Step::Receive { .. } if position == self.next_receive => {
                self.wait_before(&[], &step.runs());
                self.post_receive(position + 1);
            }
            Step::Receive { .. } => {}
            Step::Send { post, peer, message } => {
                self.wait_before(&step.runs(), &[]);
                let source = *post;
                let post = self.number();
                self.written.push(Step::Send { post, peer: *peer, message: message.clone() });
                self.sends.push(Outstanding { post, source, message, is_due: false });
            }
            Step::Wait { posts } => self.pass_wait(posts),
            Step::Copy { source, target } => self.work(step, &[*source], *target),
            Step::Reduce { left, right, target } => self.work(step, &[*left, *right], *target),
            Step::Notify { .. } | Step::Await { .. } => {
                self.wait_for_due();
                self.written.push(step.clone());
            }
        }
    }

    fn work(&mut self, step: &Step, read: &[Run], target: Run) {
        self.wait_before(read, &[target]);
        self.written.push(step.clone());
    }

    /// Passes a wait of the old program. Its posts may stay outstanding, but at most `ahead` sends and as many receives:
    /// packed messages take memory until the wait.
    fn pass_wait(&mut self, posts: &[Post]) {
        let outstanding = self.receives.iter_mut().chain(&mut self.sends);
        outstanding.filter(|other| posts.contains(&other.source)).for_each(|other| other.is_due = true);
        let received = oldest_due(&self.receives, self.ahead);
        let mut waited = self.take_receives(|receive| received.contains(&receive.post));
        let sent = oldest_due(&self.sends, self.ahead);
        waited.extend(take_if(&mut self.sends, |send| sent.contains(&send.post)));
        self.wait(waited);
    }

    /// Waits for what must be complete before some blocks are read and others are written.
    fn wait_before(&mut self, read: &[Run], written: &[Run]) {
        let needed: BTreeSet<Post> =
            read.iter().chain(written).flat_map(|run| self.targets.posts(*run)).collect();
        let mut waited = match needed.is_empty() {
            true => Vec::new(),
            false => self.take_receives(|receive| needed.contains(&receive.post)),
        };
        if !written.is_empty() {
            waited.extend(take_if(&mut self.sends, |send| overlap(send.message.runs(), written)));
        }
        self.wait(waited);
    }

    fn take_receives(&mut self, is_taken: impl Fn(&Outstanding) -> bool) -> Vec<Post> {
        let targets = &mut self.targets;
        take_if(&mut self.receives, |receive| {
            let is_taken = is_taken(receive);
            if is_taken {
                targets.remove(receive.message);
            }
            is_taken
        })
    }

    fn wait_for_due(&mut self) {
        let receives = self.take_receives(|receive| receive.is_due);
        let sends = take_if(&mut self.sends, |send| send.is_due);
        self.wait([receives, sends].concat());
    }

    fn wait_for_all(&mut self) {
        let receives = self.take_receives(|_| true);
        let sends = take_if(&mut self.sends, |_| true);
        self.wait([receives, sends].concat());
    }

    fn wait(&mut self, posts: Vec<Post>) {
        if !posts.is_empty() {
            self.written.push(Step::Wait { posts });
        }
    }

    /// Posts receives before the step at `position`, as long as their blocks are free.
    fn post_receives(&mut self, position: usize) {
        while let Some(step) = self.source.get(self.next_receive) {
            let runs = step.runs();
            let is_free = self.receives.len() < self.ahead
                && self.blocked_until <= position
                && !runs.iter().any(|run| self.targets.posts(*run).next().is_some())
                && !self.sends.iter().any(|other| overlap(other.message.runs(), &runs));
            if !is_free {
                return;
            }
            self.post_receive(position);
        }
    }

    /// Posts the next receive before the step at `position`.
    fn post_receive(&mut self, position: usize) {
        let place = self.next_receive;
        if let Step::Receive { post: source, peer, message } = &self.source[place] {
            let post = self.number();
            self.written.push(Step::Receive { post, peer: *peer, message: message.clone() });
            self.targets.add(message, post);
            self.receives.push(Outstanding { post, source: *source, message, is_due: false });
        }
        self.find_receive(place + 1, position);
    }

    /// Finds the next receive from `place` on, and the last step since `position` that it must stay behind.
    fn find_receive(&mut self, place: usize, position: usize) {
        let is_receive = |step: &Step| matches!(step, Step::Receive { .. });
        let found = self.source[place..].iter().position(is_receive);
        self.next_receive = found.map_or(self.source.len(), |distance| place + distance);
        let runs = self.source.get(self.next_receive).map_or(Vec::new(), Step::runs);
        let before: Range<usize> = position.min(self.next_receive)..self.next_receive;
        let is_conflict = |step: &Step| step.is_of_flags() || overlap(step.runs(), &runs);
        let conflict = before.clone().rev().find(|&step| is_conflict(&self.source[step]));
        self.blocked_until = conflict.map_or(position, |step| step + 1);
    }

    fn number(&mut self) -> Post {
        self.posts += 1;
        self.posts - 1
    }
}

/// The blocks of outstanding receives; no two share a block.
#[derive(Default)]
struct Targets(BTreeMap<(Buffer, usize), (usize, Post)>);

impl Targets {
    fn add(&mut self, message: &Message, post: Post) {
        for run in message.runs() {
            self.0.insert((run.buffer, run.indices().start), (run.indices().end, post));
        }
    }

    fn remove(&mut self, message: &Message) {
        for run in message.runs() {
            self.0.remove(&(run.buffer, run.indices().start));
        }
    }

    /// Returns the receives into some of these blocks, those of the last blocks first.
    fn posts(&self, run: Run) -> impl Iterator<Item = Post> + use<'_> {
        let Range { start, end } = run.indices();
        let before = self.0.range((run.buffer, 0)..(run.buffer, end)).rev();
        before.take_while(move |(_, (last, _))| *last > start).map(|(_, &(_, post))| post)
    }
}

/// Returns the due posts that more than `most` due ones follow.
fn oldest_due(posts: &[Outstanding], most: usize) -> Vec<Post> {
    let mut due: Vec<Post> = posts.iter().filter(|post| post.is_due).map(|post| post.post).collect();
    due.truncate(due.len().saturating_sub(most));
    due
}

/// Removes some of the posts and returns them in their order.
fn take_if(posts: &mut Vec<Outstanding>, mut is_taken: impl FnMut(&Outstanding) -> bool) -> Vec<Post> {
    let mut taken = Vec::new();
    posts.retain(|outstanding| {
        let is_taken = is_taken(outstanding);
        if is_taken {
            taken.push(outstanding.post);
        }
        !is_taken
    });
    taken
}

fn overlap(some: impl IntoIterator<Item = Run>, others: &[Run]) -> bool {
    some.into_iter().any(|run| others.iter().any(|other| run.overlaps(*other)))
}

#[cfg(test)]
mod tests {
    use crate::schedule::{Buffer::*, Builder};

    #[test]
    fn a_segment_is_passed_on_while_the_next_ones_arrive() {
        let mut program = Builder::new(1, 3, 3);
        for segment in 0..3 {
            program.receive(0, Recv.block(segment));
            program.end_round();
            program.send(2, Recv.block(segment));
            program.end_round();
        }
        assert_eq!(
            program.build().overlapped(2).to_string(),
            "rank 1 of 3, 3 blocks\n\
             0: receive from 0 into recv[0]\n\
             1: receive from 0 into recv[1]\n\
             wait 0\n\
             2: send to 2 from recv[0]\n\
             3: receive from 0 into recv[2]\n\
             wait 1\n\
             4: send to 2 from recv[1]\n\
             wait 3\n\
             5: send to 2 from recv[2]\n\
             wait 2\n\
             wait 4 5\n"
        );
    }

    #[test]
    fn a_receive_waits_for_the_step_that_frees_its_blocks() {
        let mut program = Builder::new(0, 2, 2);
        for block in 0..2 {
            program.exchange((1, Send.block(block)), (1, Scratch.block(0)));
            program.reduce(Scratch.block(0), Recv.block(block), Recv.block(block));
        }
        assert_eq!(
            program.build().overlapped(8).to_string(),
            "rank 0 of 2, 2 blocks\n\
             0: receive from 1 into scratch[0]\n\
             1: send to 1 from send[0]\n\
             wait 0\n\
             reduce recv[0] = scratch[0] + recv[0]\n\
             2: receive from 1 into scratch[0]\n\
             3: send to 1 from send[1]\n\
             wait 2\n\
             reduce recv[1] = scratch[0] + recv[1]\n\
             wait 1 3\n"
        );
    }

    #[test]
    fn blocks_that_are_being_sent_are_not_written() {
        let mut program = Builder::new(0, 2, 1);
        program.send(1, Recv.block(0));
        program.end_round();
        program.receive(1, Recv.block(0));
        let overlapped = program.build().overlapped(8);
        assert_eq!(
            overlapped.to_string(),
            "rank 0 of 2, 1 blocks\n0: send to 1 from recv[0]\nwait 0\n1: receive from 1 into recv[0]\nwait 1\n"
        );
    }

    /// A flag says that all messages before it have arrived. A later receive may depend on what the flag sets
    /// going.
    #[test]
    fn nothing_is_outstanding_where_flags_are_raised_or_awaited() {
        let mut program = Builder::new(1, 3, 2).slots(1);
        program.receive(0, Recv.block(0));
        program.send(2, Send.block(0));
        program.end_round();
        program.notify(0);
        let slot = program.await_slot(2, 0);
        program.copy(slot, Recv.block(1));
        program.send(0, Recv.block(1));
        assert_eq!(
            program.build().overlapped(8).to_string(),
            "rank 1 of 3, 2 blocks, 1 slots\n\
             0: receive from 0 into recv[0]\n\
             1: send to 2 from send[0]\n\
             wait 0 1\n\
             notify 0\n\
             await 0 of 2, 1 times\n\
             copy shared2[0] to recv[1]\n\
             2: send to 0 from recv[1]\n\
             wait 2\n"
        );
    }
}
