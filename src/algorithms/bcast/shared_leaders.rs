//! Broadcast for short vectors on several nodes: one rank of each gets the vector and shows it to the others there.
//!
//! With m nodes w(k−1) − floor((k^w − m)/k^(w−1)) messages, where w = ceil(log_k m), each of the whole vector: one round, if
//! m is the radix.

use crate::algorithms::building_blocks::knomial_tree::{children, parent};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::algorithms::building_blocks::shared_node::{groups, hand_out, with_slots_of_blocks};
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Message, Post, Schedule, Step};
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Bcast],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han), along the k-nomial trees of both; on the nodes as \
            in `shared`",
    idea: "One rank of each node gets the vector along a k-nomial tree and shows it to the others there in \
            shared memory.",
    avoid_when: "vectors are long, for the root sends them to several nodes.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let radix = problem.radix;
    through_leaders(problem, rank, |node, nodes| {
        tree_broadcast(node, nodes, 1, parent(node, radix), children(node, nodes, radix))
    })
}

/// Broadcast in which one rank stands for each node; `between` is what the one of a node does among those of so many, in
/// the receive buffer. Messages hold scratch blocks alone, which are bytes: so a long vector can be cut anywhere.
pub fn through_leaders(
    problem: &Problem,
    rank: usize,
    between: impl Fn(usize, usize) -> Schedule,
) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let (nodes, population) = (placement.nodes(), placement.population(node));
    let among_leaders = between(node, nodes);
    let blocks = among_leaders.blocks;
    let down = |held| placement.within(node, hand_out(local, population, blocks, held));
    let program = match local {
        0 if nodes == 1 => down(Recv),
        0 => lead(placement.between(receive_in_scratch(among_leaders)), population, rank == problem.root),
        _ => down(Scratch),
    };
    with_slots_of_blocks(placement.most_members(), program)
}

/// What a leader does: as among the leaders, over the blocks of a vector in scratch. The root packs a block before it sends it. A leader shows its node
/// what it holds, and unpacks it unless it is the root, while the next block travels.
fn lead(among_leaders: Schedule, population: usize, is_root: bool) -> Schedule {
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

/// The blocks that a leader holds.
struct Held {
    /// A program of the rank that does nothing.
    idle: Builder,
    is_root: bool,
    /// What is shown together, and is not yet. The others wait for one after the other.
    unseen: VecDeque<Range<usize>>,
    is_held: Vec<bool>,
    /// Those that are not unpacked.
    fresh: Vec<usize>,
}

impl Held {
    fn new(&Schedule { rank, size, blocks, .. }: &Schedule, population: usize, is_root: bool) -> Held {
        let unseen = groups(0..blocks).filter(|_| population > 1).collect();
        let idle = Builder::new(rank, size, blocks);
        Held { idle, is_root, unseen, is_held: vec![false; blocks], fresh: Vec::new() }
    }

    /// Blocks of a message have arrived or are about to be sent. Returns those that were not held before.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaders_alone_send_and_receive_and_only_bytes() {
        let problem =
            Problem { root: 5, radix: 4, nodes: (0..16).map(|rank| rank % 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            let posts = schedule.steps.iter().filter_map(|step| match step {
                Step::Send { message, .. } | Step::Receive { message, .. } => Some(message.runs()),
                _ => None,
            });
            assert!(posts.flatten().all(|run| run.buffer == Scratch));
            let expected = match rank {
                5 => 3,
                0 | 2 | 3 => 1,
                _ => 0,
            };
            assert_eq!((schedule.posts(), schedule.slots), (expected, 1));
        }
    }
}
