//! The leader of a node hands out blocks on its node while later blocks still travel between the leaders.

use super::shared_node::groups;
use crate::schedule::{Buffer::*, Builder, Message, Post, Schedule, Step};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

/// Adds to the program among the leaders, over a vector in scratch, what a leader does on its node. The root
/// copies each block to scratch before it sends the block. A leader shows its node the blocks that it holds.
/// While the next block travels, a leader other than the root copies them to the receive buffer.
pub fn show_on_arrival(among_leaders: Schedule, population: usize, is_root: bool) -> Schedule {
    let among_leaders = among_leaders.unrolled();
    let mut held = Held::new(&among_leaders, population, is_root);
    let mut arriving: HashMap<Post, Message> = HashMap::new();
    let mut steps = Vec::new();
    for step in &among_leaders.steps {
        match step {
            Step::Send { message, .. } => steps.extend(held.pack(message)),
            Step::Receive { post, message, .. } => drop(arriving.insert(*post, message.clone())),
            _ => steps.extend(held.show()),
        }
        steps.push(step.clone());
        if let Step::Wait { posts } = step {
            let arrived = posts.iter().filter_map(|post| arriving.remove(post));
            for message in arrived {
                held.arrived(&message);
            }
        }
    }
    steps.extend(held.show());
    Schedule { steps, ..among_leaders }
}

struct Held {
    /// A program of this rank without steps.
    idle: Builder,
    is_root: bool,
    /// Groups of blocks that are shown together and are not yet shown. Readers await them in order.
    unseen: VecDeque<Range<usize>>,
    is_held: Vec<bool>,
    /// The blocks that are not yet copied to the receive buffer.
    fresh: Vec<usize>,
}

impl Held {
    fn new(&Schedule { rank, size, blocks, .. }: &Schedule, population: usize, is_root: bool) -> Held {
        let unseen = groups(0..blocks).filter(|_| population > 1).collect();
        let idle = Builder::new(rank, size, blocks);
        Held { idle, is_root, unseen, is_held: vec![false; blocks], fresh: Vec::new() }
    }

    /// Notes that blocks of a message have arrived or are about to be sent. Returns those that were not held before.
    fn arrived(&mut self, message: &Message) -> Vec<usize> {
        let blocks = message.runs().flat_map(|run| run.indices());
        let new: Vec<usize> =
            blocks.filter(|&block| !std::mem::replace(&mut self.is_held[block], true)).collect();
        self.fresh.extend(&new);
        new
    }

    fn pack(&mut self, message: &Message) -> Vec<Step> {
        let mut program = self.idle.clone();
        for block in self.arrived(message) {
            program.copy(Recv.block(block), Scratch.block(block));
        }
        program.build().steps
    }

    fn show(&mut self) -> Vec<Step> {
        let mut program = self.idle.clone();
        let is_held = |group: &Range<usize>| self.is_held[group.clone()].iter().all(|&held| held);
        while self.unseen.front().is_some_and(is_held) {
            let Some(group) = self.unseen.pop_front() else { break };
            program.publish(Scratch.blocks(group.clone()), group.start);
        }
        for block in self.fresh.drain(..).filter(|_| !self.is_root) {
            program.copy(Scratch.block(block), Recv.block(block));
        }
        program.build().steps
    }
}
