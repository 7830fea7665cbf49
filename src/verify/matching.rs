//! Which receive takes which send.
//!
//! Messages between two ranks do not overtake each other, and no receive has a wildcard source. So the n-th
//! send from one rank to another meets the n-th receive there, in whatever order the ranks run.

use super::program::check_fit;
use super::violation::{Fault, Violation};
use crate::algorithms::Collective;
use crate::schedule::{Message, Post, Schedule, Step};

/// The two ends of each post, by rank and number of the post.
pub type Matching = Vec<Vec<Ends>>;

/// Where a post is posted and which post it meets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ends {
    /// The step that posts it.
    pub step: usize,
    /// The rank at the other end.
    pub peer: usize,
    /// The number of the post at the other end.
    pub partner: Post,
}

/// Pairs each send with its receive, and checks that the messages fit.
///
/// The programs must have passed the checks of [`super::program`].
pub fn match_posts(collective: Collective, schedules: &[Schedule]) -> Result<Matching, Violation> {
    let mut matching: Matching =
        schedules.iter().map(|schedule| vec![Ends::default(); schedule.posts()]).collect();
    let (sends, receives) = posts_by_channel(schedules);
    for index in 0..sends.len().max(receives.len()) {
        let (send, receive) = paired(sends.get(index), receives.get(index)).map_err(Posted::unmatched)?;
        check_fit(collective, schedules[0].blocks, send.message.runs(), receive.message.runs())
            .map_err(|misfit| Fault::MessageMisfit(send.rank, send.step, misfit))
            .map_err(Violation::at(receive.rank, receive.step))?;
        for (near, far) in [(send, receive), (receive, send)] {
            matching[near.rank][near.post as usize] =
                Ends { step: near.step, peer: far.rank, partner: far.post };
        }
    }
    Ok(matching)
}

/// A send or a receive.
struct Posted<'a> {
    /// Sender and receiver.
    channel: (usize, usize),
    rank: usize,
    step: usize,
    post: Post,
    message: &'a Message,
    source: &'a Step,
}

impl Posted<'_> {
    fn unmatched(&self) -> Violation {
        Violation::at(self.rank, self.step)(Fault::Unmatched(self.source.clone()))
    }
}

/// All sends and all receives, each by channel and then in program order.
fn posts_by_channel(schedules: &[Schedule]) -> (Vec<Posted<'_>>, Vec<Posted<'_>>) {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for &Schedule { rank, ref steps, .. } in schedules {
        for (step, source) in steps.iter().enumerate() {
            match *source {
                Step::Send { post, peer, ref message } => {
                    sends.push(Posted { channel: (rank, peer as usize), rank, step, post, message, source });
                }
                Step::Receive { post, peer, ref message } => {
                    receives.push(Posted {
                        channel: (peer as usize, rank),
                        rank,
                        step,
                        post,
                        message,
                        source,
                    });
                }
                _ => {}
            }
        }
    }
    // Stable, so program order remains within a channel.
    sends.sort_by_key(|posted| posted.channel);
    receives.sort_by_key(|posted| posted.channel);
    (sends, receives)
}

/// Returns the next send and receive if they belong to one channel. Fails with the one that has no
/// counterpart.
fn paired<'a>(
    send: Option<&'a Posted<'a>>,
    receive: Option<&'a Posted<'a>>,
) -> Result<(&'a Posted<'a>, &'a Posted<'a>), &'a Posted<'a>> {
    match (send, receive) {
        (Some(send), Some(receive)) if send.channel == receive.channel => Ok((send, receive)),
        (Some(send), Some(receive)) if send.channel > receive.channel => Err(receive),
        (Some(send), _) => Err(send),
        (None, receive) => Err(receive.expect("one of the two is there")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::{Buffer::*, Builder};

    #[test]
    fn messages_of_a_pair_meet_in_order() {
        let mut sender = Builder::new(0, 2, 2);
        let mut receiver = Builder::new(1, 2, 2);
        for block in 0..2 {
            receiver.receive(0, Recv.block(block));
            sender.send(1, Recv.block(block));
        }
        let matching = match_posts(Collective::Bcast, &[sender.build(), receiver.build()]).unwrap();
        assert_eq!(matching[0][1], Ends { step: 1, peer: 1, partner: 1 });
        assert_eq!(matching[1][0], Ends { step: 0, peer: 0, partner: 0 });
    }

    #[test]
    fn a_missing_receive_is_found_behind_other_channels() {
        let mut first = Builder::new(0, 3, 1);
        first.send(1, Recv.block(0));
        let mut second = Builder::new(1, 3, 1);
        second.receive(2, Recv.block(0));
        let mut third = Builder::new(2, 3, 1);
        third.send(1, Recv.block(0));
        let schedules = [first, second, third].map(Builder::build);
        let violation = match_posts(Collective::Bcast, &schedules).unwrap_err();
        assert_eq!((violation.rank, violation.step), (0, Some(0)));
    }
}
