//! The messages of a job. They lie in memory that all ranks share, so they contain no pointers.

use rustcoll::random::Random;

use crate::history::MOST_RANKS;

/// The most messages of a history, and their most bytes together.
const MOST_MESSAGES: usize = 1 << 17;
const MOST_BYTES: usize = 1 << 28;

/// The end of a list.
const NONE: u32 = u32::MAX;

/// Identifies a message.
pub type Number = u32;

/// The sender, the receiver, and what matches a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender's number in the job.
    pub from: usize,
    /// The receiver's number in the job.
    pub to: usize,
    pub context: u32,
    pub tag: i32,
}

#[derive(Clone, Copy)]
struct Message {
    envelope: Envelope,
    start: usize,
    bytes: usize,
    is_taken: bool,
    /// The next untaken message that arrived at the same rank.
    next: Number,
}

/// Messages that have arrived at a rank and were not yet taken, in the order of arrival.
#[derive(Clone, Copy)]
struct Inbox {
    first: Number,
    last: Number,
}

/// All messages of a job. Messages from one rank to another on one communicator do not overtake each other.
pub struct Network {
    sent: usize,
    used: usize,
    travelling: usize,
    inboxes: [Inbox; MOST_RANKS],
    /// Messages that have not arrived, in the order of sending.
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

    /// Sends data, and returns the message's number.
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

    /// Lets a message arrive: the first one of a drawn sender, receiver and communicator. Returns whether any was
    /// travelling.
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

    /// Takes the first message that arrived with this envelope.
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

    pub fn envelope(&self, number: Number) -> Envelope {
        self.messages[number as usize].envelope
    }

    /// Whether a message with this envelope was sent and not yet taken.
    pub fn has(&self, envelope: Envelope) -> bool {
        self.messages[..self.sent].iter().any(|message| !message.is_taken && message.envelope == envelope)
    }

    pub fn is_taken(&self, number: Number) -> bool {
        self.messages[number as usize].is_taken
    }

    pub fn data(&self, number: Number) -> &[u8] {
        let Message { start, bytes, .. } = self.messages[number as usize];
        &self.bytes[start..][..bytes]
    }

    /// Returns the envelope of a message that nobody took.
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
