//! Timetables: which blocks go from which rank to which, and when. Each message begins as early as possible.

use crate::network::{Network, Way};
use rustcoll::random::Random;

/// The most blocks in a message. Each timetable draws one of these limits.
const MOST_BLOCKS: [usize; 4] = [1, 2, 3, usize::MAX];

/// Chance decides between two messages that could begin at nearly the same time. Nearly means: within this
/// many thousandths of a message's latency.
const NEARLY: usize = 2000;

/// A message between two ranks. `start` and `end` are in seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    pub source: usize,
    pub target: usize,
    pub blocks: Vec<usize>,
    start: f64,
    end: f64,
}

/// All messages, in the order in which they begin.
pub struct Timetable {
    pub transfers: Vec<Transfer>,
    /// The time in seconds when the last block arrives.
    pub end: f64,
}

/// For each port, the time until which it is busy, in each direction.
struct Ports {
    leaving: Vec<f64>,
    arriving: Vec<f64>,
}

/// Where the blocks are, and until when the ports are busy.
struct State<'a> {
    network: &'a Network,
    /// By rank and block: the time of the block's arrival, also if it is still on its way. Infinite if it is
    /// neither there nor on its way.
    there: Vec<Vec<f64>>,
    /// By node and block: whether the block is on the node or on its way there.
    on_node: Vec<Vec<bool>>,
    of_ranks: Ports,
    of_nodes: Ports,
    most_blocks: usize,
    random: Random,
}

impl Timetable {
    /// Draws the timetable of a seed.
    pub fn drawn(network: &Network, seed: u64) -> Timetable {
        let mut state = State::new(network, seed);
        let mut transfers = Vec::new();
        while let Some(next) = state.next() {
            state.take(&next);
            transfers.push(next);
        }
        transfers.sort_by(|one, other| one.start.total_cmp(&other.start));
        let end = transfers.iter().map(|transfer| transfer.end).fold(0.0, f64::max);
        Timetable { transfers, end }
    }
}

impl Ports {
    fn free(number: usize) -> Ports {
        Ports { leaving: vec![0.0; number], arriving: vec![0.0; number] }
    }

    /// Returns the time when a message can begin to pass both ports.
    fn both(&self, source: usize, target: usize, latency: f64) -> f64 {
        self.leaving[source].max(self.arriving[target] - latency)
    }

    fn take(&mut self, (source, target): (usize, usize), (left, arrived): (f64, f64)) {
        (self.leaving[source], self.arriving[target]) = (left, arrived);
    }
}

impl<'a> State<'a> {
    fn new(network: &'a Network, seed: u64) -> State<'a> {
        let ranks = network.ranks();
        let nodes = network.nodes.iter().max().map_or(0, |last| last + 1);
        let own = |rank| (0..ranks).map(|block| if block == rank { 0.0 } else { f64::INFINITY }).collect();
        let of_node = |node| network.nodes.iter().map(|other| *other == node).collect();
        let mut random = Random(seed);
        State {
            network,
            there: (0..ranks).map(own).collect(),
            on_node: (0..nodes).map(of_node).collect(),
            of_ranks: Ports::free(ranks),
            of_nodes: Ports::free(nodes),
            most_blocks: MOST_BLOCKS[random.below(MOST_BLOCKS.len())],
            random,
        }
    }

    /// Returns the message that can begin the earliest. Messages between nodes have precedence: they take
    /// long, and other ranks wait for their blocks.
    fn next(&mut self) -> Option<Transfer> {
        let ranks = self.network.ranks();
        let mut best: Option<(f64, Transfer)> = None;
        for source in 0..ranks {
            for target in (0..ranks).filter(|target| *target != source) {
                let Some(transfer) = self.transfer(source, target) else { continue };
                let latency = self.network.way(source, target).latency;
                let drawn = latency * self.random.below(NEARLY) as f64 / 1000.0;
                let preferred = if self.network.is_far(source, target) { latency } else { 0.0 };
                let rank = transfer.start + drawn - preferred;
                if best.as_ref().is_none_or(|(least, _)| rank < *least) {
                    best = Some((rank, transfer));
                }
            }
        }
        best.map(|(_, transfer)| transfer)
    }

    /// Returns the next message from one rank to another, if there is one: the blocks that the sender has the
    /// earliest. Each block comes to a node once.
    fn transfer(&self, source: usize, target: usize) -> Option<Transfer> {
        let is_far = self.network.is_far(source, target);
        let comes = |block: usize| match is_far {
            true => self.on_node[self.network.nodes[target]][block],
            false => self.there[target][block].is_finite(),
        };
        let is_new = |block: &usize| self.there[source][*block].is_finite() && !comes(*block);
        let mut blocks: Vec<usize> = (0..self.network.ranks()).filter(is_new).collect();
        blocks.sort_by(|one, other| self.there[source][*one].total_cmp(&self.there[source][*other]));
        blocks.truncate(self.most_blocks);
        let last = self.there[source][*blocks.last()?];
        let way @ Way { latency, block, .. } = self.network.way(source, target);
        let mut start = last.max(self.of_ranks.both(source, target, latency));
        if way.shares_port {
            start = start.max(self.of_nodes.both(
                self.network.nodes[source],
                self.network.nodes[target],
                latency,
            ));
        }
        let end = start + latency + blocks.len() as f64 * block;
        Some(Transfer { source, target, blocks, start, end })
    }

    fn take(&mut self, transfer: &Transfer) {
        let &Transfer { source, target, ref blocks, start, end } = transfer;
        let way = self.network.way(source, target);
        let busy = (start + blocks.len() as f64 * way.block, end);
        self.of_ranks.take((source, target), busy);
        let nodes = (self.network.nodes[source], self.network.nodes[target]);
        if way.shares_port {
            self.of_nodes.take(nodes, busy);
        }
        for &block in blocks {
            self.there[target][block] = end;
            self.on_node[nodes.1][block] = true;
        }
    }
}
