//! What takes time in a simulation.

use super::program::Direction;
use crate::cost::machine::Link;

/// An amount of something that takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    pub what: Charged,
    /// How many bytes decide the time for each: of a message, or of a rank's call. 0: bytes take no time.
    pub bytes: f64,
    /// How many bytes are charged, or how many times.
    pub amount: f64,
}

/// What takes time, by the parameters of a machine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Charged {
    /// The processor's part in a message.
    Overhead(Level),
    /// The same at the receiver, where that takes another time.
    ReceiveOverhead(Level),
    /// The same for a message to the rank to which the message before was sent, where that takes another time.
    RepeatedOverhead(Level),
    /// A message's head is under way.
    Latency(Level),
    /// A message's head is under way from one group of nodes to another.
    Crossing,
    /// A message passes a port.
    Transfer(Level),
    /// A message that is exchanged for another one passes a port, where that takes another time.
    Exchange(Level),
    /// A message passes what all messages of a node share.
    NodeTransfer(Level),
    /// A port waits before its next message.
    Gap(Level),
    /// A copy.
    #[default]
    Copy,
    /// The system hands out scratch memory.
    Fresh,
    /// A reduction.
    Reduction,
    /// A rank reads in a slot of another rank.
    Reading,
    /// The same, as far as all ranks of a node share what it takes.
    NodeReading,
    /// A rank copies from another rank's own memory.
    SingleCopy,
    /// A flag becomes visible to another rank.
    Flag,
    /// A processor raises a flag, or sees one.
    FlagOverhead,
}

/// Where a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    Within,
    Between,
}

impl Level {
    pub fn of(is_within: bool) -> Level {
        if is_within { Level::Within } else { Level::Between }
    }
}

/// Returns the processor's part in a message at one of its ends, and how long that takes. `repeats`: the end is a send, to the rank
/// to which the send before was.
pub fn overhead(link: &Link, level: Level, direction: Direction, repeats: bool) -> (Charged, f64) {
    let (own, charged) = match direction {
        Direction::Receive => (link.receive_overhead, Charged::ReceiveOverhead(level)),
        Direction::Send if repeats => (link.repeated_overhead, Charged::RepeatedOverhead(level)),
        Direction::Send => (None, Charged::Overhead(level)),
    };
    own.map_or((Charged::Overhead(level), link.overhead), |seconds| (charged, seconds))
}
