//! What takes time in a simulation.

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
