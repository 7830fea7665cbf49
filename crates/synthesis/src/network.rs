//! What of a machine decides when a message arrives, as far as a timetable knows it.

use rustcoll::cost::{Link, Machine, Port};

/// The ranks of a machine and how long a block takes between them.
pub struct Network {
    /// The node of each rank.
    pub nodes: Vec<usize>,
    within: Way,
    between: Way,
}

/// What a message of blocks takes.
#[derive(Clone, Copy)]
pub struct Way {
    /// Seconds until its head is there.
    pub latency: f64,
    /// Seconds for each block.
    pub block: f64,
    /// Whether the ranks of a node have one port together.
    pub shares_port: bool,
}

impl Network {
    /// That of so many ranks which send blocks of so many bytes.
    pub fn new(machine: &Machine, ranks: usize, bytes: usize) -> Network {
        let machine = machine.of_job(ranks);
        let nodes = machine.nodes(ranks);
        let way = |link: &Link| Way {
            latency: link.latency + 2.0 * link.overhead,
            block: bytes as f64 * link.byte_time.at((ranks * bytes) as f64),
            shares_port: link.port == Port::Node,
        };
        Network {
            nodes: (0..ranks).map(|rank| nodes.of(rank) as usize).collect(),
            within: way(&machine.within),
            between: way(&machine.between),
        }
    }

    /// How many ranks there are.
    pub fn ranks(&self) -> usize {
        self.nodes.len()
    }

    /// Whether a message leaves its node.
    pub fn is_far(&self, source: usize, target: usize) -> bool {
        self.nodes[source] != self.nodes[target]
    }

    /// From a rank to another one.
    pub fn way(&self, source: usize, target: usize) -> Way {
        if self.is_far(source, target) { self.between } else { self.within }
    }
}
