//! A lower bound of the simulated time of a call, from the programs of few of its ranks.

use super::charge::{self, Level};
use super::events::Bytes;
use super::program::{Action, Direction, Post, Program, Work};
use crate::algorithms::Nodes;
use crate::cost::machine::{Company, Link, Machine, Port};
use std::sync::Arc;

/// Returns the least time of a rank: how long its processor, or the busiest of its ports, is busy.
pub fn busy_time(program: &Program, rank: usize, nodes: &Nodes, costs: &LeastCosts) -> f64 {
    let processor = program.actions.iter().map(|action| costs.of_action(action)).sum();
    let mut busy = Busy { processor, ..Busy::default() };
    for post in &program.posts {
        let is_within = nodes.of(rank) == nodes.of(post.peer as usize);
        let link = costs.link(is_within);
        busy.processor += if is_handled(post) { overhead(post, link) } else { 0.0 };
        let has_port = post.direction == Direction::Receive || link.port != Port::Receiver;
        let transfer = if has_port { costs.transfer(post, link) } else { 0.0 };
        busy.ports[usize::from(is_within)][post.direction as usize] += transfer;
    }
    busy.ports.into_iter().flatten().fold(busy.processor, f64::max)
}

/// Returns the least time of the ranks of a node: how long the busiest of what they share is busy with their messages. What the
/// last message waits for is free before that message has passed.
pub fn node_busy_time(programs: &[(usize, Arc<Program>)], nodes: &Nodes, costs: &LeastCosts) -> f64 {
    let mut ports = [[0.0; 2]; 2];
    let mut shared = [[(0.0, 0.0_f64); 2]; 2];
    for (rank, program) in programs {
        for post in &program.posts {
            let is_within = nodes.of(*rank) == nodes.of(post.peer as usize);
            let link = costs.link(is_within);
            let place = (usize::from(is_within), post.direction as usize);
            if link.port == Port::Node {
                ports[place.0][place.1] += costs.transfer(post, link);
            }
            let passing = costs.node_transfer(post, link);
            let (sum, longest) = &mut shared[place.0][place.1];
            (*sum, *longest) = (*sum + passing, longest.max(passing));
        }
    }
    let shared = shared.into_iter().flatten().map(|(sum, longest)| sum - longest);
    ports.into_iter().flatten().chain(shared).fold(0.0, f64::max)
}

/// How long a rank's processor is busy, and its ports by level and direction.
#[derive(Default)]
struct Busy {
    processor: f64,
    ports: [[f64; 2]; 2],
}

/// Returns whether a message takes processor time at this end: one that arrives, only if a wait waits for it.
fn is_handled(post: &Post) -> bool {
    post.direction == Direction::Send || post.wait != u32::MAX
}

/// Returns the processor time for a message at one of its ends.
pub fn overhead(post: &Post, link: &Link) -> f64 {
    // Levels differ in what is charged, not in how long it takes.
    charge::overhead(link, Level::Between, post.direction, post.repeats).1
}

/// The least that actions and messages cost on a machine, for a call of so many bytes.
pub struct LeastCosts<'job> {
    machine: &'job Machine,
    bytes: Bytes,
    /// For each byte of work, in the order of [`Work::times`].
    work: [f64; 5],
    /// From the raising of a flag until it is seen.
    pub flag_latency: f64,
    /// For raising a flag, and for seeing one.
    flag_overhead: f64,
}

impl<'job> LeastCosts<'job> {
    pub fn new(bytes: Bytes, machine: &'job Machine) -> Self {
        let shared = machine.shared();
        LeastCosts {
            machine,
            bytes,
            work: Work::times(machine, bytes.held).map(|(_, time)| time),
            flag_latency: shared.latency,
            flag_overhead: shared.overhead,
        }
    }

    pub fn link(&self, is_within: bool) -> &'job Link {
        if is_within { &self.machine.within } else { &self.machine.between }
    }

    /// Returns how long the processor copies, reduces, reads or handles a flag; nothing for messages.
    pub fn of_action(&self, action: &Action) -> f64 {
        match action {
            Action::Work(work) => {
                let amounts = work.amounts().into_iter().zip(self.work);
                amounts.map(|(amount, time)| amount.with(self.bytes.block) * time).sum()
            }
            Action::Give | Action::Expect => self.flag_overhead,
            Action::Post | Action::Wait(_) => 0.0,
        }
    }

    /// Returns how long a message keeps a port busy.
    pub fn transfer(&self, post: &Post, link: &Link) -> f64 {
        let length = post.bytes.with(self.bytes.block);
        length * in_any_company(link, length, |hockney| hockney.1)
    }

    /// Returns how long a message passes what all messages of a node share.
    fn node_transfer(&self, post: &Post, link: &Link) -> f64 {
        let length = post.bytes.with(self.bytes.block);
        length * link.node_byte_time.at(length)
    }

    /// Returns how long a message is under way, from the end of the sender's overhead until it has arrived. `crossing`: which
    /// fraction of the messages for which it stands go from one group of nodes to another.
    pub fn message(&self, post: &Post, link: &Link, crossing: f64) -> f64 {
        let length = post.bytes.with(self.bytes.block);
        let ways = if length > link.eager_limit as f64 { 3.0 } else { 1.0 };
        let latency = in_any_company(link, length, |hockney| hockney.0);
        ways * (latency + crossing * self.machine.between.group_latency) + self.transfer(post, link)
    }
}

/// Returns the least of a value for messages in any company.
fn in_any_company(link: &Link, length: f64, value: fn((f64, f64)) -> f64) -> f64 {
    let companies = [Company::OneWay, Company::Exchange, Company::Others];
    companies.map(|company| value(link.hockney(length, company))).into_iter().fold(f64::INFINITY, f64::min)
}
