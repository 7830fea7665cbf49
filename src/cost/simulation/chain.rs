//! A lower bound of the simulated time of a call: one chain of messages and flags, each of which a rank can only send or
//! raise after the one before has reached it.

use super::least::{LeastCosts, overhead};
use super::network::Crossings;
use super::program::{Action, Direction, Post, Program, Signal};
use crate::algorithms::Nodes;
use std::sync::Arc;

/// The chain is not followed further when programs with so many actions have been looked at.
const MOST_ACTIONS: usize = 1 << 22;

/// Returns the least time until a rank with this program is done. The chain goes back from the rank's last wait to what
/// another rank did, from there to that rank's last wait before, and so on, until the time is beyond the limit. `program_of`
/// returns the program of a rank.
pub fn chain_time(
    (rank, program): (usize, &Arc<Program>),
    mut program_of: impl FnMut(usize) -> Arc<Program>,
    nodes: &Nodes,
    costs: &LeastCosts,
    crossings: &mut Crossings,
    limit: f64,
) -> f64 {
    let mut past = Past { rank, program: program.clone(), done: program.actions.len() };
    let (mut seconds, mut seen) = (0.0, 0);
    loop {
        seen += past.program.actions.len();
        let (own, cause) = past.since_last_wait(nodes, costs, crossings);
        seconds += own;
        let followed = cause.filter(|_| seen <= MOST_ACTIONS && seconds <= limit);
        match followed.and_then(|cause| cause.past(&mut program_of)) {
            Some(earlier) => past = earlier,
            None => return seconds,
        }
    }
}

/// What a rank has done at some time: the first actions of its program.
struct Past {
    rank: usize,
    program: Arc<Program>,
    done: usize,
}

/// What another rank did, so that a wait ended.
enum Cause {
    /// It sent `target` a message, after `earlier` others.
    Message { source: usize, target: usize, earlier: usize },
    /// It raised a flag.
    Flag { giver: usize, signal: Signal },
}

impl Past {
    /// Returns what ended the last wait for another rank, if there was one, and the least time since then. The time that its
    /// message or flag was under way counts too.
    fn since_last_wait(
        &self,
        nodes: &Nodes,
        costs: &LeastCosts,
        crossings: &mut Crossings,
    ) -> (f64, Option<Cause>) {
        let Past { program, .. } = self;
        let done = &program.actions[..self.done];
        let count = |is_counted: fn(&Action) -> bool| done.iter().filter(|action| is_counted(action)).count();
        let (mut posts, mut expected) = (count(is_post), count(is_expect));
        let mut seconds = 0.0;
        for action in done.iter().rev() {
            seconds += costs.of_action(action);
            match action {
                Action::Work(_) | Action::Give => {}
                Action::Post => {
                    posts -= 1;
                    seconds += self.overhead_of_send(posts, nodes, costs);
                }
                Action::Expect => {
                    expected -= 1;
                    let signal = program.expected[expected];
                    if let Signal::Flag { rank: giver, .. } = signal {
                        let cause = Cause::Flag { giver: giver as usize, signal };
                        return (seconds + costs.flag_latency, Some(cause));
                    }
                }
                Action::Wait(awaited) => {
                    let awaited = &program.awaited[awaited.start as usize..awaited.end as usize];
                    let received = |&post: &usize| program.posts[post].direction == Direction::Receive;
                    let arrivals = awaited.iter().map(|&post| post as usize).filter(received);
                    let timed = arrivals.map(|post| (self.arrival_time(post, nodes, costs, crossings), post));
                    if let Some((time, post)) = timed.max_by(|one, other| one.0.total_cmp(&other.0)) {
                        return (seconds + time, Some(self.cause_of(post)));
                    }
                }
            }
        }
        (seconds, None)
    }

    fn overhead_of_send(&self, post: usize, nodes: &Nodes, costs: &LeastCosts) -> f64 {
        let link = costs.link(self.is_within(post, nodes));
        let post = &self.program.posts[post];
        if post.direction == Direction::Send { overhead(post, link) } else { 0.0 }
    }

    /// Returns how long a message is under way to this rank, and the processor's time for it here.
    fn arrival_time(&self, post: usize, nodes: &Nodes, costs: &LeastCosts, crossings: &mut Crossings) -> f64 {
        let link = costs.link(self.is_within(post, nodes));
        let post = &self.program.posts[post];
        let crossing = f64::from(crossings.of_any(self.rank, post.peer as usize));
        costs.message(post, link, crossing) + overhead(post, link)
    }

    fn is_within(&self, post: usize, nodes: &Nodes) -> bool {
        nodes.of(self.rank) == nodes.of(self.program.posts[post].peer as usize)
    }

    /// Returns what ended the wait for a receive: the k-th receive from a rank gets its k-th message.
    fn cause_of(&self, receive: usize) -> Cause {
        let (posts, source) = (&self.program.posts, self.program.posts[receive].peer);
        let is_of_source =
            |&post: &usize| posts[post].direction == Direction::Receive && posts[post].peer == source;
        let earlier = (0..receive).filter(is_of_source).count();
        Cause::Message { source: source as usize, target: self.rank, earlier }
    }
}

impl Cause {
    /// Returns what the other rank had done then; `None` if it never does that.
    fn past(&self, program_of: &mut impl FnMut(usize) -> Arc<Program>) -> Option<Past> {
        let (Cause::Message { source: rank, .. } | Cause::Flag { giver: rank, .. }) = *self;
        let program = program_of(rank);
        let last = match *self {
            Cause::Message { target, earlier, .. } => {
                let is_to_target =
                    |post: &Post| post.direction == Direction::Send && post.peer as usize == target;
                let mut to_target =
                    (0..program.posts.len()).filter(|&post| is_to_target(&program.posts[post]));
                position(&program, is_post, to_target.nth(earlier)?)
            }
            Cause::Flag { signal, .. } => {
                position(&program, is_give, program.given.iter().position(|given| *given == signal)?)
            }
        }?;
        Some(Past { rank, program, done: last + 1 })
    }
}

/// Returns the position of an action, counted among those of its kind, among all.
fn position(program: &Program, is_of_kind: fn(&Action) -> bool, number: usize) -> Option<usize> {
    let of_kind = program.actions.iter().enumerate().filter(|(_, action)| is_of_kind(action));
    of_kind.map(|(position, _)| position).nth(number)
}

fn is_post(action: &Action) -> bool {
    matches!(action, Action::Post)
}

fn is_expect(action: &Action) -> bool {
    matches!(action, Action::Expect)
}

fn is_give(action: &Action) -> bool {
    matches!(action, Action::Give)
}
