//! The parameters of a machine by which messages are priced: two levels of links, ports, shared memory, the processor.

mod byte_time;
mod reading;
mod shipped;
pub mod units;

pub use byte_time::ByteTime;
pub use reading::{MachineErrors, keys};
pub use shipped::{SHIPPED, Shipped};

use crate::algorithms::Nodes;
use std::sync::Arc;

/// A machine of equal nodes with `ranks_per_node` consecutive ranks on each. Times are in seconds.
///
/// The models of the field are special cases: Hockney's ([`Machine::hockney`]), its refinement by
/// unidirectional messages ([`Machine::unidirectional`]) and LogGP ([`Machine::log_gp`]).
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// How many ranks share a node, at least 1; rank r is on node r / `ranks_per_node`.
    pub ranks_per_node: usize,
    /// Whether messages between nodes go by TCP, which rules may ask for. Prices do not depend on it.
    pub tcp: bool,
    /// Messages between ranks of one node.
    pub within: Link,
    /// Messages between ranks of different nodes.
    pub between: Link,
    /// Memory that ranks of a node share; see [`Machine::shared`].
    pub shared: Option<Shared>,
    /// Times for copies, reductions and scratch memory.
    pub processor: Processor,
    /// Parameters that replace those above where many ranks take part.
    pub beyond: Beyond,
    /// Groups of nodes, if messages between them take longer.
    pub groups: Option<Groups>,
}

/// Groups of nodes that are near each other: cells of a dragonfly, leaf switches of a fat tree. Messages
/// between groups take [`Link::group_latency`] longer.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// How many consecutive nodes make up a group, for nodes that `placed` does not list.
    pub nodes: usize,
    /// The group of each node of the job, if known.
    pub placed: Option<Arc<[u32]>>,
}

/// Parameters that replace a machine's own where more than so many nodes, or ranks of a node, take part. A
/// transport may serve many peers in another way than a few, and the ranks of a node share its memory. The
/// numbers ascend; the last one that is exceeded decides.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beyond {
    /// Links between nodes, by the number of nodes.
    pub between: Vec<(usize, Link)>,
    /// Links within a node, by its ranks.
    pub within: Vec<(usize, Link)>,
    /// Shared memory, by the ranks of a node. Empty if the machine does not state its shared memory.
    pub shared: Vec<(usize, Shared)>,
    /// Processors, by the ranks of a node.
    pub processor: Vec<(usize, Processor)>,
}

/// Which parameters of a machine hold in a job: 0 for its own, 1 for the first of [`Machine::beyond`], and so
/// on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    pub between: usize,
    pub within: usize,
    pub shared: usize,
    pub processor: usize,
}

/// The cost of a message from one rank to another.
///
/// A message of n bytes keeps the port that it leaves busy for n · `byte_time`, at least for `gap`. After
/// `latency`, its head reaches the port that it enters and keeps that port busy for as long. An idle network
/// carries the message in `latency` + n · `byte_time`. The processors at both sides are busy for `overhead`
/// besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Hockney's alpha, LogGP's L.
    pub latency: f64,
    /// How much longer the latency is from one of [`Machine::groups`] to another.
    pub group_latency: f64,
    /// Time for each byte: Hockney's beta, LogGP's G.
    pub byte_time: ByteTime,
    /// Time for each byte of a message that two ranks exchange for another one, if it differs: [`Company::Exchange`]. Libraries
    /// send such messages by other protocols than several at once.
    pub exchange_byte_time: ByteTime,
    /// Time for each byte in what all messages of a node share besides their ports: its memory, or its cards.
    pub node_byte_time: ByteTime,
    /// Latency of a unidirectional message, if it differs: alpha_uni. The sender of such a message receives
    /// nothing in the same round, and its receiver sends nothing.
    pub unidirectional_latency: Option<f64>,
    /// Time for each byte of a unidirectional message, if it differs: beta_uni.
    pub unidirectional_byte_time: Option<f64>,
    /// Processor time for a message at each of its sides: LogGP's o.
    pub overhead: f64,
    /// Processor time of the receiver, if it differs: LogP's o_r.
    pub receive_overhead: Option<f64>,
    /// Processor time for sending a message to the rank to which the message before was sent, if it differs: cards and libraries
    /// have to prepare for another one.
    pub repeated_overhead: Option<f64>,
    /// The least time between the starts of two messages at a port: LogGP's g.
    pub gap: f64,
    /// In bytes. Longer messages use rendezvous: they ask the receiver, which costs a round trip, and wait
    /// until it is ready.
    pub eager_limit: usize,
    /// In bytes. Longer messages are cut into packets, and the messages at a port take turns packet by
    /// packet. Shorter ones pass in one piece.
    pub packet: usize,
    pub port: Port,
}

/// What a rank waits for together with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Company {
    /// Nothing in the other direction.
    OneWay,
    /// One message in the other direction, and none in its own.
    Exchange,
    Others,
}

/// Who owns a port. A port sends and receives at the same time, but one message each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Each rank has its own.
    Rank,
    /// The ranks of a node share one.
    Node,
    /// Each rank has one for what it receives, and none for what it sends: receivers copy messages out of
    /// their senders' memory.
    Receiver,
}

/// Times of one processor for data that another one of its node has written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// From the raising of a flag until another rank sees it.
    pub latency: f64,
    /// How long raising a flag keeps a processor busy, and how long seeing one does.
    pub overhead: f64,
    /// For each byte that is read in a slot, by the bytes that a rank has in the call.
    pub byte_time: ByteTime,
    /// The same for all ranks of a node together: they share its memory.
    pub node_byte_time: ByteTime,
    /// For each byte that is copied out of another rank's own memory, by the bytes that a rank has in the
    /// call. `None`: the machine has no single copies.
    pub single_copy_time: Option<ByteTime>,
}

/// Times for each byte, by the bytes that a rank has in the call: many bytes do not fit into a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processor {
    /// For each byte of a reduction's result: gamma.
    pub reduce_time: ByteTime,
    pub copy_time: ByteTime,
    /// For scratch memory that was not kept from an earlier call: the system provides it page by page.
    pub fresh_time: ByteTime,
    /// A call that needs at most so many bytes of scratch memory finds them kept.
    pub kept: usize,
}

impl Shared {
    /// Shared memory without single copies: ranks read in slots only. Flags keep no processor busy.
    pub fn copying_twice(latency: f64, byte_time: ByteTime) -> Shared {
        Shared { latency, overhead: 0.0, byte_time, node_byte_time: ByteTime::NONE, single_copy_time: None }
    }

    /// Returns the time for each byte of a single copy; [`ByteTime::NONE`] if the machine has none.
    pub fn time_of_single_copies(&self) -> ByteTime {
        self.single_copy_time.unwrap_or(ByteTime::NONE)
    }
}

impl Machine {
    /// Hockney's model with one rank on each node: a message of n bytes takes alpha + n beta, a reduction n gamma.
    pub fn hockney(alpha: f64, beta: f64, gamma: f64) -> Machine {
        let link = Link {
            latency: alpha,
            group_latency: 0.0,
            byte_time: beta.into(),
            exchange_byte_time: ByteTime::NONE,
            node_byte_time: ByteTime::NONE,
            unidirectional_latency: None,
            unidirectional_byte_time: None,
            overhead: 0.0,
            receive_overhead: None,
            repeated_overhead: None,
            gap: 0.0,
            eager_limit: usize::MAX,
            packet: usize::MAX,
            port: Port::Node,
        };
        Machine {
            ranks_per_node: 1,
            tcp: false,
            within: Link { port: Port::Rank, ..link },
            between: link,
            shared: None,
            processor: Processor { reduce_time: gamma.into(), ..Processor::default() },
            beyond: Beyond::default(),
            groups: None,
        }
    }

    /// The LogGP model with one rank on each node: latency L, overhead o, gap g and time for each byte G.
    pub fn log_gp(latency: f64, overhead: f64, gap: f64, byte_time: f64) -> Machine {
        let hockney = Machine::hockney(latency, byte_time, 0.0);
        let charged = |link| Link { overhead, gap, ..link };
        Machine { within: charged(hockney.within), between: charged(hockney.between), ..hockney }
    }

    /// Returns the machine with latency `alpha` and byte time `beta` for unidirectional messages between
    /// nodes.
    pub fn unidirectional(self, alpha: f64, beta: f64) -> Machine {
        let (latency, byte_time) = (Some(alpha), Some(beta));
        let between =
            Link { unidirectional_latency: latency, unidirectional_byte_time: byte_time, ..self.between };
        Machine { between, ..self }
    }

    /// Returns which stages hold in a job of so many ranks.
    pub fn stages(&self, ranks: usize) -> Stages {
        let (nodes, on_node) = (ranks.div_ceil(self.ranks_per_node), self.ranks_per_node.min(ranks));
        Stages {
            between: exceeded(&self.beyond.between, nodes),
            within: exceeded(&self.beyond.within, on_node),
            shared: exceeded(&self.beyond.shared, on_node),
            processor: exceeded(&self.beyond.processor, on_node),
        }
    }

    /// Returns the machine with the parameters that hold in a job of so many ranks.
    pub fn of_job(&self, ranks: usize) -> Machine {
        let stages = self.stages(ranks);
        Machine {
            between: *at_stage(&self.between, &self.beyond.between, stages.between),
            within: *at_stage(&self.within, &self.beyond.within, stages.within),
            shared: self.shared.as_ref().map(|first| *at_stage(first, &self.beyond.shared, stages.shared)),
            processor: *at_stage(&self.processor, &self.beyond.processor, stages.processor),
            beyond: Beyond::default(),
            groups: self.groups.clone(),
            ..*self
        }
    }

    /// Returns the times of shared memory. If the machine does not state them, a flag takes the latency and the overhead of
    /// a message on the node. Reading then takes as long as a copy, or as such a message if copies take no time.
    pub fn shared(&self) -> Shared {
        let copy = Some(self.processor.copy_time).filter(|time| !time.is_none());
        let derived = Shared::copying_twice(self.within.latency, copy.unwrap_or(self.within.byte_time));
        self.shared.unwrap_or(Shared { overhead: self.within.overhead, ..derived })
    }

    /// The node of each rank.
    pub fn nodes(&self, size: usize) -> Nodes {
        Nodes::even(size, self.ranks_per_node, size)
    }
}

/// Returns how many of these ascending numbers `ranks` exceeds.
fn exceeded<T>(beyond: &[(usize, T)], ranks: usize) -> usize {
    beyond.iter().filter(|(most, _)| ranks > *most).count()
}

/// Returns what holds in a stage: `first` in stage 0, the entries of `beyond` in those after it.
pub fn at_stage<'machine, T>(
    first: &'machine T,
    beyond: &'machine [(usize, T)],
    stage: usize,
) -> &'machine T {
    stage.checked_sub(1).map_or(first, |stage| &beyond[stage].1)
}

impl Default for Processor {
    /// Nothing takes any time.
    fn default() -> Processor {
        Processor {
            reduce_time: ByteTime::NONE,
            copy_time: ByteTime::NONE,
            fresh_time: ByteTime::NONE,
            kept: usize::MAX,
        }
    }
}

impl Groups {
    pub fn of(&self, node: usize) -> u32 {
        let placed = self.placed.as_ref().and_then(|placed| placed.get(node).copied());
        placed.unwrap_or((node / self.nodes) as u32)
    }
}

/// The most packets of a message in the simulation: more would take time and tell little.
const MOST_PACKETS: f64 = 16.0;

impl Link {
    /// Returns how many packets of equal length a message of so many bytes is cut into.
    pub(super) fn packets(&self, bytes: f64) -> u32 {
        (bytes / self.packet as f64).ceil().clamp(1.0, MOST_PACKETS) as u32
    }

    /// Returns the latency, and the time for each byte, of a message of so many bytes. `company` is that at both its ends.
    pub(super) fn hockney(&self, bytes: f64, company: Company) -> (f64, f64) {
        let one_way = |value: Option<f64>| value.filter(|_| company == Company::OneWay);
        let byte_time = if self.is_exchanged(company) { self.exchange_byte_time } else { self.byte_time };
        (
            one_way(self.unidirectional_latency).unwrap_or(self.latency),
            one_way(self.unidirectional_byte_time).unwrap_or_else(|| byte_time.at(bytes)),
        )
    }

    /// Whether messages in such company have [`Link::exchange_byte_time`].
    pub(super) fn is_exchanged(&self, company: Company) -> bool {
        company == Company::Exchange && !self.exchange_byte_time.is_none()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shared_memory_is_like_messages_and_copies_unless_it_is_said() {
        let messages = Machine::hockney(3.0, 2.0, 0.0);
        assert_eq!(messages.shared(), Shared::copying_twice(3.0, 2.0.into()));
        let copies =
            Machine { processor: Processor { copy_time: 0.5.into(), ..messages.processor }, ..messages };
        assert_eq!(copies.shared(), Shared::copying_twice(3.0, 0.5.into()));
        let said = Shared::copying_twice(1.0, 0.25.into());
        assert_eq!(Machine { shared: Some(said), ..copies }.shared(), said);
    }

    #[test]
    fn other_parameters_hold_beyond_a_number_of_ranks() {
        let machine = Machine { ranks_per_node: 8, ..Machine::hockney(3.0, 2.0, 1.0) };
        let link = |latency| Link { latency, ..machine.between };
        let processor = Processor { reduce_time: 5.0.into(), ..machine.processor };
        let beyond = Beyond {
            between: vec![(2, link(4.0)), (4, link(5.0))],
            within: vec![(2, link(6.0))],
            shared: vec![(5, Shared::copying_twice(7.0, 1.0.into()))],
            processor: vec![(4, processor)],
        };
        let machine = Machine { beyond, shared: Some(Shared::copying_twice(6.0, 1.0.into())), ..machine };
        for (ranks, between, within) in
            [(2, 3.0, 3.0), (3, 3.0, 6.0), (16, 3.0, 6.0), (17, 4.0, 6.0), (33, 5.0, 6.0)]
        {
            let found = machine.of_job(ranks);
            assert_eq!((found.between.latency, found.within.latency), (between, within), "{ranks} ranks");
            assert_eq!(found.processor == processor, ranks > 4);
            assert_eq!(found.shared().latency, if ranks > 5 { 7.0 } else { 6.0 });
        }
    }
}
