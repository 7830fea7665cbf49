//! The properties of a machine that decide, in a timetable, when a message arrives.

use rustcoll::algorithms::Nodes;
use rustcoll::cost::{Link, Machine, Port};

/// The nodes of the ranks, and the time that a block takes between two ranks.
pub struct Network {
    /// The node of each rank.
    pub nodes: Vec<usize>,
    within: Way,
    between: Way,
}

/// The cost of a message of several blocks.
#[derive(Clone, Copy)]
pub struct Way {
    /// Seconds until the first byte arrives.
    pub latency: f64,
    /// Seconds for each block.
    pub block: f64,
    /// Whether the ranks of a node share one port.
    pub shares_port: bool,
}

impl Network {
    /// The network of ranks on these nodes that send blocks of `bytes` bytes.
    pub fn new(machine: &Machine, nodes: &Nodes, bytes: usize) -> Network {
        let ranks = nodes.len();
        let machine = machine.of_job(ranks);
        let way = |link: &Link| Way {
            latency: link.latency + 2.0 * link.overhead,
            block: bytes as f64 * link.byte_time.at((ranks * bytes) as f64),
            shares_port: link.port == Port::Node,
        };
        Network {
            nodes: nodes.iter().map(|node| node as usize).collect(),
            within: way(&machine.within),
            between: way(&machine.between),
        }
    }

    pub fn ranks(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a message between two ranks leaves its node.
    pub fn is_far(&self, source: usize, target: usize) -> bool {
        self.nodes[source] != self.nodes[target]
    }

    pub fn way(&self, source: usize, target: usize) -> Way {
        if self.is_far(source, target) { self.between } else { self.within }
    }
}
