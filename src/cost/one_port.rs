//! All ranks in lockstep: in each step a rank sends at most one message and receives at most one. A flag that
//! a rank raises in a step is visible to others in the next one.

use crate::schedule::{Post, Schedule, Step};
use crate::verify::Violation;
use std::collections::HashMap;
use std::ops::Range;

/// Returns the number of steps until all ranks have ended; see [`super::Cost::rounds`]. Fails if they
/// deadlock.
pub fn steps(schedules: &[Schedule]) -> Result<usize, Violation> {
    let mut lockstep = Lockstep::new(schedules);
    let beats = lockstep.by_ref().count();
    lockstep.deadlock().map_or(Ok(beats - 1), Err)
}

/// A run of all ranks, beat by beat; the last beat has no messages.
///
/// The programs must have passed the checks that the verifier makes of each program by itself.
pub struct Lockstep<'a> {
    ranks: Vec<Rank<'a>>,
    flags: Flags,
    /// How many beats have passed.
    beats: usize,
    is_over: bool,
}

/// One step of all ranks: first each rank goes on to its next wait, then messages travel.
pub struct Beat {
    /// Which steps of its program each rank has carried out.
    pub carried_out: Vec<Range<usize>>,
    /// The messages that travel after that.
    pub messages: Vec<ReadyMessage>,
}

impl Lockstep<'_> {
    /// Begins a run of the schedules of all ranks, rank 0's first.
    pub fn new(schedules: &[Schedule]) -> Lockstep<'_> {
        let ranks = schedules.iter().map(Rank::new).collect();
        Lockstep { ranks, flags: Flags::default(), beats: 0, is_over: false }
    }

    /// Whether all ranks have come to the ends of their programs.
    pub fn has_ended(&self) -> bool {
        self.ranks.iter().all(|rank| rank.program.is_empty())
    }

    /// Returns who waits for what, if the run is over and ranks still wait.
    fn deadlock(&self) -> Option<Violation> {
        Violation::deadlock(self.ranks.iter().filter_map(Rank::waiting).collect())
    }
}

impl Iterator for Lockstep<'_> {
    type Item = Beat;

    fn next(&mut self) -> Option<Beat> {
        if self.is_over {
            return None;
        }
        let mut raised = Vec::new();
        let flags = &self.flags;
        let carried_out = self.ranks.iter_mut().map(|rank| rank.proceed(flags, &mut raised)).collect();
        let messages = travelling(&mut self.ranks, self.beats);
        let is_flag_coming = self.flags.raise(raised, &self.ranks);
        self.is_over = messages.is_empty() && !is_flag_coming;
        for &ReadyMessage { source, target, send, receive, .. } in &messages {
            self.ranks[source].complete_send(send);
            self.ranks[target].complete_receive(receive);
        }
        self.beats += 1;
        Some(Beat { carried_out, messages })
    }
}

type Slot = (u32, u32);

/// How many times each flag was raised in earlier steps.
#[derive(Default)]
struct Flags(HashMap<Slot, u32>);

impl Flags {
    fn are_raised(&self, slot: Slot, times: u32) -> bool {
        self.0.get(&slot).is_some_and(|&raised| raised >= times)
    }

    /// Raises flags for the next step. Returns whether a rank that awaits one goes on then.
    fn raise(&mut self, slots: Vec<Slot>, ranks: &[Rank]) -> bool {
        slots.into_iter().for_each(|slot| *self.0.entry(slot).or_default() += 1);
        ranks.iter().any(|rank| match rank.program.first() {
            Some(&Step::Await { rank, slot, times }) => self.are_raised((rank, slot), times),
            _ => false,
        })
    }
}

/// A message that may travel: both ends have posted it.
pub struct ReadyMessage {
    pub source: usize,
    pub target: usize,
    pub send: Post,
    pub receive: Post,
    /// The step since which it has been its sender's next message.
    since: usize,
}

/// Returns the messages that travel in a step, at most one to each receiver. Of the messages that are next at
/// their senders, a receiver takes the one that has been next for longest; of several, the one whose receive
/// was posted first.
fn travelling(ranks: &mut [Rank], step: usize) -> Vec<ReadyMessage> {
    let order = |message: &ReadyMessage| (message.since, message.receive);
    let mut chosen: Vec<Option<ReadyMessage>> = ranks.iter().map(|_| None).collect();
    for source in 0..ranks.len() {
        let Some(message) = in_turn(ranks, source, step) else { continue };
        let chosen = &mut chosen[message.target];
        if chosen.as_ref().is_none_or(|other| order(&message) < order(other)) {
            *chosen = Some(message);
        }
    }
    chosen.into_iter().flatten().collect()
}

/// Returns the message that a rank sends next: the first one whose receive is posted.
fn in_turn(ranks: &mut [Rank], source: usize, step: usize) -> Option<ReadyMessage> {
    let mut sends = ranks[source].sends.iter();
    let (send, target, receive) =
        sends.find_map(|&(send, target)| Some((send, target, ranks[target].receive_from(source)?)))?;
    let turn = &mut ranks[source].turn;
    let (_, since) = *turn.insert(turn.filter(|&(last, _)| last == send).unwrap_or((send, step)));
    Some(ReadyMessage { source, target, send, receive, since })
}

/// The state of one rank.
struct Rank<'a> {
    /// Its rank.
    number: u32,
    /// The steps that are left.
    program: &'a [Step],
    /// The whole program.
    steps: &'a [Step],
    /// For each post so far whether it is complete.
    complete: Vec<bool>,
    /// The posted sends that are not complete, in program order, with their targets.
    sends: Vec<(Post, usize)>,
    /// The send that was next most recently, and since which step.
    turn: Option<(Post, usize)>,
    /// The posted receives that are not complete, in program order, with their sources.
    receives: Vec<(Post, usize)>,
}

impl Rank<'_> {
    fn new(schedule: &Schedule) -> Rank<'_> {
        Rank {
            number: schedule.rank as u32,
            program: &schedule.steps,
            steps: &schedule.steps,
            complete: Vec::new(),
            sends: Vec::new(),
            turn: None,
            receives: Vec::new(),
        }
    }

    /// Goes on to the first wait for something that is not complete, and adds the flags that it raises to
    /// `raised`. Returns the steps that it carried out.
    fn proceed(&mut self, flags: &Flags, raised: &mut Vec<Slot>) -> Range<usize> {
        let first = self.position();
        self.carry_out(flags, raised);
        first..self.position()
    }

    /// How many steps are done.
    fn position(&self) -> usize {
        self.steps.len() - self.program.len()
    }

    /// Returns the rank, the step in which it waits, and for which posts or which flag.
    fn waiting(&self) -> Option<(usize, usize, Vec<Step>)> {
        let awaited = match self.program.first()? {
            Step::Wait { posts } => {
                let incomplete = posts.iter().filter(|&&post| !self.complete[post as usize]);
                incomplete.filter_map(|&post| self.posts().nth(post as usize)).cloned().collect()
            }
            step => vec![step.clone()],
        };
        Some((self.number as usize, self.position(), awaited))
    }

    fn posts(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.is_post())
    }

    fn carry_out(&mut self, flags: &Flags, raised: &mut Vec<Slot>) {
        while let Some((step, rest)) = self.program.split_first() {
            match step {
                &Step::Send { post, peer, .. } => {
                    self.complete.push(false);
                    self.sends.push((post, peer as usize));
                }
                &Step::Receive { post, peer, .. } => {
                    self.complete.push(false);
                    self.receives.push((post, peer as usize));
                }
                Step::Wait { posts } if !posts.iter().all(|&post| self.complete[post as usize]) => return,
                Step::Wait { .. } | Step::Copy { .. } | Step::Reduce { .. } => {}
                &Step::Notify { slot } => raised.push((self.number, slot)),
                &Step::Await { rank, slot, times } if !flags.are_raised((rank, slot), times) => return,
                Step::Await { .. } => {}
            }
            self.program = rest;
        }
    }

    /// Returns the posted receive that takes the next message from a rank, if there is one. Messages between
    /// two ranks keep their order.
    fn receive_from(&self, source: usize) -> Option<Post> {
        self.receives.iter().find(|&&(_, from)| from == source).map(|&(post, _)| post)
    }

    fn complete_send(&mut self, send: Post) {
        self.sends.retain(|&(post, _)| post != send);
        self.complete[send as usize] = true;
    }

    fn complete_receive(&mut self, receive: Post) {
        self.receives.retain(|&(post, _)| post != receive);
        self.complete[receive as usize] = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Buffer::*, Builder};

    /// The number of steps of the programs that `write` writes for N ranks, over one block for each rank.
    fn steps_of<const N: usize>(write: impl Fn(usize, &mut Builder)) -> usize {
        let program = |rank| {
            let mut program = Builder::new(rank, N, N);
            write(rank, &mut program);
            program.build()
        };
        let counted = steps(&(0..N).map(program).collect::<Vec<_>>());
        counted.unwrap_or_else(|violation| panic!("{violation}"))
    }

    fn send(program: &mut Builder, peer: usize) {
        program.send(peer, Send.block(0));
    }

    fn receive(program: &mut Builder, peer: usize) {
        program.receive(peer, Recv.block(peer));
    }

    #[test]
    fn nothing_to_do_takes_no_step() {
        assert_eq!(steps_of::<3>(|_, _| {}), 0);
    }

    #[test]
    fn a_rank_sends_and_receives_in_the_same_step() {
        let exchange = |rank: usize, program: &mut Builder| {
            send(program, 1 - rank);
            receive(program, 1 - rank);
        };
        assert_eq!(steps_of::<2>(exchange), 1);
    }

    #[test]
    fn a_rank_receives_one_message_at_a_time() {
        let gather = |rank: usize, program: &mut Builder| match rank {
            0 => (1..4).for_each(|source| receive(program, source)),
            _ => send(program, 0),
        };
        assert_eq!(steps_of::<4>(gather), 3);
    }

    #[test]
    fn a_rank_sends_one_message_at_a_time() {
        let scatter = |rank: usize, program: &mut Builder| match rank {
            0 => (1..4).for_each(|target| send(program, target)),
            _ => receive(program, 0),
        };
        assert_eq!(steps_of::<4>(scatter), 3);
    }

    #[test]
    fn what_was_ready_first_is_received_first() {
        // Rank 2's message reaches rank 3 in the second step. Rank 3 receives from rank 1 first, though it
        // posted that receive later.
        let relayed = |rank: usize, program: &mut Builder| match rank {
            0 => send(program, 2),
            1 => send(program, 3),
            2 => {
                receive(program, 0);
                program.end_round();
                send(program, 3);
            }
            _ => {
                receive(program, 2);
                receive(program, 1);
            }
        };
        assert_eq!(steps_of::<4>(relayed), 2);
    }

    #[test]
    fn of_what_is_ready_together_the_first_posted_is_received_first() {
        // Rank 2 sends to rank 0 first, whose first receive is for this message, and then to rank 3.
        let programs = |rank: usize, program: &mut Builder| match rank {
            0 => {
                receive(program, 2);
                receive(program, 1);
            }
            1 => send(program, 0),
            2 => {
                send(program, 0);
                send(program, 3);
            }
            _ => receive(program, 2),
        };
        assert_eq!(steps_of::<4>(programs), 2);
    }

    #[test]
    fn a_send_that_cannot_travel_is_overtaken() {
        // Rank 1 posts its receive from rank 0 last: first rank 2 needs the second message of rank 0.
        let crossed = |rank: usize, program: &mut Builder| match rank {
            0 => {
                send(program, 1);
                send(program, 2);
            }
            1 => {
                receive(program, 2);
                program.end_round();
                receive(program, 0);
            }
            _ => {
                receive(program, 0);
                program.end_round();
                send(program, 1);
            }
        };
        assert_eq!(steps_of::<3>(crossed), 3);
    }

    #[test]
    fn a_busy_receiver_holds_up_what_its_sender_has_behind() {
        // Rank 1 receives from rank 2 first, so that rank 0 reaches rank 3 in the third step.
        let blocked = |rank: usize, program: &mut Builder| match rank {
            0 => {
                send(program, 1);
                send(program, 3);
            }
            1 => {
                receive(program, 2);
                receive(program, 0);
            }
            2 => send(program, 1),
            _ => receive(program, 0),
        };
        assert_eq!(steps_of::<4>(blocked), 3);
    }

    #[test]
    fn any_number_of_ranks_sees_a_flag_in_the_next_step() {
        let broadcast = |rank: usize, program: &mut Builder| match rank {
            0 => program.publish(Send.block(0), 0),
            _ => {
                program.await_slot(0, 0);
            }
        };
        assert_eq!(steps_of::<4>(broadcast), 1);
        let chain = |rank: usize, program: &mut Builder| {
            if rank > 0 {
                program.await_slot(rank - 1, 0);
            }
            program.notify(0);
        };
        assert_eq!(steps_of::<4>(chain), 3);
    }

    #[test]
    fn all_flags_of_a_step_are_seen_together() {
        let fan_in = |rank: usize, program: &mut Builder| match rank {
            0 => (1..4).for_each(|peer| {
                program.await_slot(peer, 0);
            }),
            _ => program.notify(0),
        };
        assert_eq!(steps_of::<4>(fan_in), 1);
    }

    #[test]
    fn flags_and_messages_take_their_steps_side_by_side() {
        // Rank 2 sees a flag while a message travels to rank 1, and rank 1 then raises one.
        let both = |rank: usize, program: &mut Builder| match rank {
            0 => {
                program.notify(0);
                send(program, 1);
            }
            1 => {
                receive(program, 0);
                program.end_round();
                program.notify(0);
            }
            _ => {
                program.await_slot(0, 0);
                program.await_slot(1, 0);
            }
        };
        assert_eq!(steps_of::<3>(both), 2);
    }

    #[test]
    fn what_is_awaited_twice_is_raised_twice() {
        let steps: Vec<Schedule> = [
            "rank 0 of 2, 1 blocks, 1 slots\nnotify 0\nawait 0 of 1, 1 times\nnotify 0\n",
            "rank 1 of 2, 1 blocks, 1 slots\nawait 0 of 0, 1 times\nnotify 0\nawait 0 of 0, 2 times\n",
        ]
        .map(|text| text.parse().unwrap())
        .into();
        assert_eq!(super::steps(&steps), Ok(3));
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_flag_that_nobody_raises_is_told() {
        steps_of::<2>(|rank, program| {
            if rank == 0 {
                program.await_slot(1, 0);
            }
        });
    }

    #[test]
    #[should_panic(expected = "deadlock")]
    fn a_deadlock_is_told() {
        steps_of::<2>(|rank, program| receive(program, 1 - rank));
    }
}
