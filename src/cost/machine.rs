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

/// A machine of equal nodes, with so many consecutive ranks on each. Times are in seconds.
///
/// The models of the field are special cases of it: [`Machine::hockney`], with [`Machine::unidirectional`] its refinement
/// by unidirectional messages, and [`Machine::log_gp`].
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// How many ranks share a node, at least 1; rank r is on node r / `ranks_per_node`.
    pub ranks_per_node: usize,
    /// Messages between ranks of one node.
    pub within: Link,
    /// Messages between ranks of different nodes.
    pub between: Link,
    /// Memory that ranks of a node share; see [`Machine::shared`].
    pub shared: Option<Shared>,
    /// What a processor needs for bytes that stay in its memory.
    pub processor: Processor,
    /// What holds instead where many ranks take part.
    pub beyond: Beyond,
    /// Groups of nodes, if messages between them take longer.
    pub groups: Option<Groups>,
}

/// Groups of nodes that are near each other, between which messages have [`Link::group_latency`]: cells of a dragonfly, leaf switches of a fat tree.
#[derive(Clone, Debug, PartialEq)]
pub struct Groups {
    /// How many consecutive nodes make up a group, if it is not said where the nodes are.
    pub nodes: usize,
    /// The group of each node of the job.
    pub placed: Option<Arc<[u32]>>,
}

/// What holds instead of a machine's parameters where more than so many nodes, or ranks of a node, take part: a transport may serve many peers
/// in another way than a few, and the ranks of a node share its memory. Ascending; the last whose number is exceeded holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Beyond {
    /// Messages between nodes, by the number of nodes.
    pub between: Vec<(usize, Link)>,
    /// Messages within a node, by its ranks.
    pub within: Vec<(usize, Link)>,
    /// The processor, by the ranks of a node.
    pub processor: Vec<(usize, Processor)>,
}

/// Which parameters of a machine hold in a job: 0 for those of few ranks, 1 for the first of [`Machine::beyond`], and so on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stages {
    /// Of messages between nodes.
    pub between: usize,
    /// Of messages within a node.
    pub within: usize,
    /// Of the processor.
    pub processor: usize,
}

/// What a message costs that goes from one rank to another.
///
/// A message of n bytes keeps the port that it leaves busy for n · `byte_time`, at least for `gap`. Its head is at the port
/// that it enters after `latency`, and keeps that busy for as long, so that an idle network carries it in `latency` + n ·
/// `byte_time`. The processors at both sides are busy for `overhead` besides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Link {
    /// Hockney's alpha, LogGP's L.
    pub latency: f64,
    /// How much longer a message is under way from one of [`Machine::groups`] to another.
    pub group_latency: f64,
    /// For each byte of a message: Hockney's beta, LogGP's G.
    pub byte_time: ByteTime,
    /// For each byte, what all messages of a node together keep busy besides their ports: its memory, or its cards.
    pub node_byte_time: ByteTime,
    /// Latency of a message whose sender receives nothing in the same round and whose receiver sends nothing, if it is
    /// another one: alpha_uni.
    pub unidirectional_latency: Option<f64>,
    /// The same of the time for each byte: beta_uni.
    pub unidirectional_byte_time: Option<f64>,
    /// What a message takes of the processor at each of its sides: LogGP's o.
    pub overhead: f64,
    /// The least time between the beginnings of two messages at a port: LogGP's g.
    pub gap: f64,
    /// Longer messages ask their receiver first, which costs one more round trip, and wait until it is ready.
    pub eager_limit: usize,
    /// Longer messages are cut, so that those at a port share its bandwidth: one packet of each after the other. Else
    /// each has it for itself in its turn.
    pub packet: usize,
    /// Whose the ports are.
    pub port: Port,
}

/// Whose a port is. It sends and receives at the same time, but one message each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Port {
    /// Each rank has its own.
    Rank,
    /// The ranks of a node share it.
    Node,
    /// Each rank has its own for what it receives, and none for what it sends: receivers copy messages out of their senders' memory.
    Receiver,
}

/// What one processor needs for what another one of its node has written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shared {
    /// From when a flag is raised to when it is seen.
    pub latency: f64,
    /// For each byte that is read, by those that a rank has in the call.
    pub byte_time: ByteTime,
    /// For each byte that is copied from the memory of another rank's own, by those that a rank has in the call, if that can be done.
    pub single_copy_time: Option<ByteTime>,
}

/// Times for each byte, by the bytes that a rank has in the call: many do not fit into a cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Processor {
    /// Of a reduction's result: gamma.
    pub reduce_time: ByteTime,
    /// Of a copy.
    pub copy_time: ByteTime,
    /// Of scratch memory that was not kept from an earlier call: the system hands it out page by page.
    pub fresh_time: ByteTime,
    /// Up to so many bytes of scratch memory are kept.
    pub kept: usize,
}

impl Shared {
    /// Ranks that read in slots only.
    pub fn copying_twice(latency: f64, byte_time: ByteTime) -> Shared {
        Shared { latency, byte_time, single_copy_time: None }
    }

    /// What a single copy takes for each byte, where there is any.
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
            node_byte_time: ByteTime::NONE,
            unidirectional_latency: None,
            unidirectional_byte_time: None,
            overhead: 0.0,
            gap: 0.0,
            eager_limit: usize::MAX,
            packet: usize::MAX,
            port: Port::Node,
        };
        Machine {
            ranks_per_node: 1,
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

    /// The same with a latency and a time for each byte of their own for unidirectional messages between nodes.
    pub fn unidirectional(self, alpha: f64, beta: f64) -> Machine {
        let (latency, byte_time) = (Some(alpha), Some(beta));
        let between =
            Link { unidirectional_latency: latency, unidirectional_byte_time: byte_time, ..self.between };
        Machine { between, ..self }
    }

    /// Which of its stages hold in a job of so many ranks.
    pub fn stages(&self, ranks: usize) -> Stages {
        let (nodes, on_node) = (ranks.div_ceil(self.ranks_per_node), self.ranks_per_node.min(ranks));
        Stages {
            between: exceeded(&self.beyond.between, nodes),
            within: exceeded(&self.beyond.within, on_node),
            processor: exceeded(&self.beyond.processor, on_node),
        }
    }

    /// What holds on it in a job of so many ranks.
    pub fn of_job(&self, ranks: usize) -> Machine {
        let stages = self.stages(ranks);
        Machine {
            between: *at_stage(&self.between, &self.beyond.between, stages.between),
            within: *at_stage(&self.within, &self.beyond.within, stages.within),
            processor: *at_stage(&self.processor, &self.beyond.processor, stages.processor),
            beyond: Beyond::default(),
            groups: self.groups.clone(),
            ..*self
        }
    }

    /// What shared memory takes. Unless that is said, a flag takes as long as the head of a message on the node, and reading as
    /// long as a copy, or as such a message if copies take no time.
    pub fn shared(&self) -> Shared {
        let copy = Some(self.processor.copy_time).filter(|time| !time.is_none());
        let derived = Shared::copying_twice(self.within.latency, copy.unwrap_or(self.within.byte_time));
        self.shared.unwrap_or(derived)
    }

    /// The node of each rank.
    pub fn nodes(&self, size: usize) -> Nodes {
        Nodes::even(size, self.ranks_per_node, size)
    }
}

/// How many of these numbers, which ascend, are exceeded.
fn exceeded<T>(beyond: &[(usize, T)], ranks: usize) -> usize {
    beyond.iter().filter(|(most, _)| ranks > *most).count()
}

fn at_stage<'machine, T>(first: &'machine T, beyond: &'machine [(usize, T)], stage: usize) -> &'machine T {
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
    /// The group of a node.
    pub fn of(&self, node: usize) -> u32 {
        let placed = self.placed.as_ref().and_then(|placed| placed.get(node).copied());
        placed.unwrap_or((node / self.nodes) as u32)
    }
}

/// A message is cut into so many packets at most: more would take time and tell little.
const MOST_PACKETS: f64 = 16.0;

impl Link {
    /// How many packets of equal length a message of so many bytes is cut into.
    pub(super) fn packets(&self, bytes: f64) -> u32 {
        (bytes / self.packet as f64).ceil().clamp(1.0, MOST_PACKETS) as u32
    }

    /// Latency, and time for each byte, of a message of so many bytes.
    pub(super) fn hockney(&self, bytes: f64, is_unidirectional: bool) -> (f64, f64) {
        let own = |value: Option<f64>| value.filter(|_| is_unidirectional);
        (
            own(self.unidirectional_latency).unwrap_or(self.latency),
            own(self.unidirectional_byte_time).unwrap_or_else(|| self.byte_time.at(bytes)),
        )
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
            processor: vec![(4, processor)],
        };
        let machine = Machine { beyond, ..machine };
        for (ranks, between, within) in
            [(2, 3.0, 3.0), (3, 3.0, 6.0), (16, 3.0, 6.0), (17, 4.0, 6.0), (33, 5.0, 6.0)]
        {
            let found = machine.of_job(ranks);
            assert_eq!((found.between.latency, found.within.latency), (between, within), "{ranks} ranks");
            assert_eq!(found.processor == processor, ranks > 4);
        }
    }
}
