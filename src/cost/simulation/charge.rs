//! What takes time in a simulation.

/// Something that takes time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Charge {
    /// What.
    pub what: Charged,
    /// The bytes by which its time for a byte is found: of a message, or of a rank's call; 0 where bytes take no time.
    pub bytes: f64,
    /// For how many of these bytes, or how many times.
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
    /// A message passes what all messages of a node share.
    NodeTransfer(Level),
    /// A port waits before its next message.
    Gap(Level),
    /// A copy.
    #[default]
    Copy,
    /// Scratch memory comes from the system.
    Fresh,
    /// A reduction.
    Reduction,
    /// What another rank has written is read.
    Reading,
    /// What another rank has lent is copied from its own memory.
    SingleCopy,
    /// A flag is seen.
    Flag,
}

/// Where a message travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Level {
    /// Within a node.
    Within,
    /// Between nodes.
    Between,
}
