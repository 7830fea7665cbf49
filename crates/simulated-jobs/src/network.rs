//! The messages of a job. They lie in memory that all ranks share, so there is no pointer in them.

use rustcoll::random::Random;

use crate::history::MOST_RANKS;

/// A history sends so many messages at most, and so many bytes in them.
const MOST_MESSAGES: usize = 1 << 17;
const MOST_BYTES: usize = 1 << 28;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// What a message is known by.
pub type Number = u32;

/// To whom a message goes, and what it is matched by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender, by its number in the job.
    pub from: usize,
    /// The receiver, by its number in the job.
    pub to: usize,
    /// The communicator.
    pub context: u32,
    /// The tag.
    pub tag: i32,
}

#[derive(Clone, Copy)]
struct Message {
    envelope: Envelope,
    start: usize,
    bytes: usize,
    is_taken: bool,
    /// The one that arrived next at the same rank, of those that nobody has taken.
    next: Number,
}

/// Messages that arrived at a rank and that nobody has taken, in the order in which they arrived.
#[derive(Clone, Copy)]
struct Inbox {
    first: Number,
    last: Number,
}

/// All messages of a job. Those from one rank to another on one communicator do not overtake each other.
pub struct Network {
    sent: usize,
    used: usize,
    travelling: usize,
    inboxes: [Inbox; MOST_RANKS],
    /// Those that have not arrived yet, in the order in which they were sent.
    on_the_way: [Number; MOST_MESSAGES],
    messages: [Message; MOST_MESSAGES],
    bytes: [u8; MOST_BYTES],
}

impl Network {
    /// Forgets all messages.
    pub fn clear(&mut self) {
        (self.sent, self.used, self.travelling) = (0, 0, 0);
        self.inboxes = [Inbox { first: NONE, last: NONE }; MOST_RANKS];
    }

    /// Sends data without gaps.
    pub fn send(&mut self, envelope: Envelope, data: &[u8]) -> Number {
        let number = self.sent as Number;
        self.bytes[self.used..][..data.len()].copy_from_slice(data);
        self.messages[self.sent] =
            Message { envelope, start: self.used, bytes: data.len(), is_taken: false, next: NONE };
        self.on_the_way[self.travelling] = number;
        self.used += data.len();
        self.sent += 1;
        self.travelling += 1;
        number
    }

    /// Lets a message arrive: the first of a sender, a receiver and a communicator that are drawn. Says whether there was any.
    pub fn deliver(&mut self, random: &mut Random) -> bool {
        if self.travelling == 0 {
            return false;
        }
        let drawn = self.way(self.on_the_way[random.below(self.travelling)]);
        let travelling = &self.on_the_way[..self.travelling];
        let place = travelling.iter().position(|&number| self.way(number) == drawn).expect("one was drawn");
        let number = self.on_the_way[place];
        self.on_the_way.copy_within(place + 1..self.travelling, place);
        self.travelling -= 1;
        self.arrive(number);
        true
    }

    fn way(&self, number: Number) -> (usize, usize, u32) {
        let Envelope { from, to, context, .. } = self.envelope(number);
        (from, to, context)
    }

    fn arrive(&mut self, number: Number) {
        let Inbox { first, last } = &mut self.inboxes[self.messages[number as usize].envelope.to];
        match *last {
            NONE => *first = number,
            before => self.messages[before as usize].next = number,
        }
        *last = number;
    }

    /// Takes the message that arrived first of those with an envelope.
    pub fn take(&mut self, envelope: Envelope) -> Option<&[u8]> {
        let (mut before, mut number) = (NONE, self.inboxes[envelope.to].first);
        while number != NONE && self.messages[number as usize].envelope != envelope {
            (before, number) = (number, self.messages[number as usize].next);
        }
        if number == NONE {
            return None;
        }
        let next = self.messages[number as usize].next;
        let inbox = &mut self.inboxes[envelope.to];
        match before {
            NONE => inbox.first = next,
            before => self.messages[before as usize].next = next,
        }
        if next == NONE {
            inbox.last = before;
        }
        self.messages[number as usize].is_taken = true;
        Some(self.data(number))
    }

    /// From whom a message goes to whom.
    pub fn envelope(&self, number: Number) -> Envelope {
        self.messages[number as usize].envelope
    }

    /// Whether a message was sent that nobody has taken.
    pub fn has(&self, envelope: Envelope) -> bool {
        self.messages[..self.sent].iter().any(|message| !message.is_taken && message.envelope == envelope)
    }

    /// Whether the receiver has taken a message.
    pub fn is_taken(&self, number: Number) -> bool {
        self.messages[number as usize].is_taken
    }

    /// The data of a message.
    pub fn data(&self, number: Number) -> &[u8] {
        let Message { start, bytes, .. } = self.messages[number as usize];
        &self.bytes[start..][..bytes]
    }

    /// A message that nobody took.
    pub fn leftover(&self) -> Option<Envelope> {
        let sent = &self.messages[..self.sent];
        sent.iter().find(|message| !message.is_taken).map(|message| message.envelope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board;

    #[test]
    fn messages_of_two_ranks_on_a_communicator_keep_their_order() {
        board::make();
        board::with(|board| {
            board.begin(3, 0, 1);
            let envelope = |from, context, tag| Envelope { from, to: 2, context, tag };
            for number in 0..20 {
                let sent = envelope(number % 2, 7, (number / 2 % 2) as i32);
                board.network.send(sent, &[number as u8]);
            }
            board.network.send(envelope(0, 8, 0), &[]);
            while board.network.deliver(&mut board.random) {}
            for number in [2, 6, 10, 14, 18] {
                assert_eq!(board.network.take(envelope(0, 7, 1)), Some(&[number][..]));
            }
            for number in [0, 4, 8, 12, 16] {
                assert_eq!(board.network.take(envelope(0, 7, 0)), Some(&[number][..]));
            }
            assert_eq!(board.network.take(envelope(0, 7, 0)), None);
            assert_eq!(board.network.leftover(), Some(envelope(1, 7, 0)));
        });
    }
}
