//! Allgather on several nodes: the ranks of a node publish their blocks in shared memory. The leader of each node
//! gets the blocks of the other nodes and publishes them as well.
//!
//! With m nodes of up to q ranks: the rounds of Bruck's algorithm among m ranks (one round of m − 1 messages if
//! k ≥ m). Every block enters each other node once: if all nodes have q ranks, a node sends (m − 1)q blocks. A leader
//! reads the blocks of its node; every other rank reads all blocks but its own.

use super::bruck;
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::algorithms::building_blocks::shared_node::{groups, with_slots_of_blocks};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};
use std::ops::Range;

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Allgather, Collective::Allgatherv],
    name: "shared_leaders",
    aliases: &[],
    source: "the leaders of MPICH (smp) and Open MPI (han); between the nodes as in `bruck`",
    idea: "The ranks of a node show their blocks in shared memory. One of them exchanges these with the other \
            nodes and shows what it gets.",
    avoid_when: "each rank has a node of its own, or all ranks share one.",
    parameters: &[Parameter::Radix, Parameter::Segment],
    requires: &[Requirement::Nodes, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

/// The algorithm between the leaders of the nodes.
const BETWEEN: Algorithm = bruck::ALGORITHM;

/// A slot has the number of the block that it holds.
fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let place = placement.place(rank);
    let part = NodeExchange { problem, placement: &placement, rank, place };
    let program = match place.local {
        0 => {
            let among_leaders = BETWEEN.schedule(&among_nodes(problem, &placement), place.node);
            let travelling =
                placement.between(placement.with_blocks_of_nodes(receive_in_scratch(among_leaders)));
            part.collect().then(travelling).then(part.show())
        }
        _ => part.read(),
    };
    with_slots_of_blocks(placement.most_members(), program)
}

fn among_nodes(problem: &Problem, placement: &Placement) -> Problem {
    let nodes = placement.nodes();
    Problem { in_place: true, radix: legal_radix(problem.radix, nodes), ..Problem::new(nodes) }
}

/// The part of one rank in the exchange on its node.
struct NodeExchange<'a> {
    problem: &'a Problem,
    placement: &'a Placement,
    rank: usize,
    place: Place,
}

impl NodeExchange<'_> {
    fn program(&self) -> Builder {
        Builder::new(self.rank, self.problem.size, self.problem.size)
    }

    /// Where the rank's own block is.
    fn own(&self) -> Run {
        if self.problem.in_place { Recv.block(self.rank) } else { Send.block(self.rank) }
    }

    /// Returns the ranks of the other nodes as ranges, the next node's first: one list for each group of nodes whose
    /// blocks are published with one flag.
    fn others(&self) -> impl Iterator<Item = Vec<Range<usize>>> {
        let nodes = self.placement.nodes();
        let node = move |distance: usize| (self.place.node + distance) % nodes;
        groups(1..nodes).map(move |distances| self.placement.runs(distances.map(node)))
    }

    /// Publishes the rank's own block, unless the rank is alone on its node.
    fn show_own(&self, program: &mut Builder) {
        if self.placement.population(self.place.node) > 1 {
            program.publish(self.own(), self.rank);
        }
    }

    /// The leader copies the blocks of its node to scratch memory. Messages hold only scratch blocks, which are bytes,
    /// so long blocks can be cut anywhere.
    fn collect(&self) -> Schedule {
        let mut program = self.program();
        self.show_own(&mut program);
        let is_sent = self.placement.nodes() > 1;
        program.copy(self.own(), Recv.block(self.rank));
        if is_sent {
            program.copy(self.own(), Scratch.block(self.rank));
        }
        for member in self.placement.neighbours(self.place) {
            let block = program.await_slot(member, member);
            let target = if is_sent { Scratch.block(member) } else { Recv.block(member) };
            program.copy(block, target);
        }
        program.build()
    }

    /// The leader publishes the blocks that arrived, and copies them and its node's blocks to the receive buffer.
    fn show(&self) -> Schedule {
        let mut program = self.program();
        let others: Vec<_> = self.others().collect();
        if self.placement.population(self.place.node) > 1 {
            for runs in &others {
                for run in runs {
                    program.show(Scratch.blocks(run.clone()), run.start);
                }
                program.notify(runs[0].start);
            }
        }
        let collected = self.placement.neighbours(self.place).filter(|_| self.placement.nodes() > 1);
        for block in collected {
            program.copy(Scratch.block(block), Recv.block(block));
        }
        for run in others.into_iter().flatten() {
            program.copy(Scratch.blocks(run.clone()), Recv.blocks(run));
        }
        program.build()
    }

    /// A rank that is not the leader publishes its block and reads all others.
    fn read(&self) -> Schedule {
        let mut program = self.program();
        self.show_own(&mut program);
        program.copy(self.own(), Recv.block(self.rank));
        for member in self.placement.neighbours(self.place) {
            let block = program.await_slot(member, member);
            program.copy(block, Recv.block(member));
        }
        let leader = self.placement.leader(self.place.node);
        for runs in self.others() {
            program.await_slot(leader, runs[0].start);
            for run in runs {
                program.copy(Buffer::of_rank(leader).blocks(run.clone()), Recv.blocks(run));
            }
        }
        program.build()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn each_block_enters_a_node_once_and_in_scratch() {
        // Three nodes of 4, 3 and 3 ranks: rank r is on node r mod 3.
        let problem = Problem { nodes: (0..10).map(|rank| rank % 3).collect(), ..Problem::new(10) };
        for rank in 0..10 {
            let steps = schedule(&problem, rank).steps;
            let entering = steps.iter().filter_map(|step| match step {
                Step::Receive { message, .. } => Some(message),
                _ => None,
            });
            let entering: Vec<_> = entering.collect();
            assert!(entering.iter().all(|message| message.runs().all(|run| run.buffer == Scratch)));
            let blocks: usize = entering.iter().map(|message| message.blocks()).sum();
            assert_eq!(blocks, [6, 7, 7].get(rank).copied().unwrap_or(0));
        }
    }
}
