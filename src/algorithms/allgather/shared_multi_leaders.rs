//! Allgather on several nodes: each rank sends its block to one rank of each other node. The ranks of a node share
//! out the blocks that arrive, and publish them and their own blocks in shared memory.
//!
//! With m nodes of q ranks: one round of m − 1 messages of one block. Every block enters each other node once.

use super::shared_leaders;
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::building_blocks::shares::Shares;
use crate::algorithms::{Algorithm, Body, Parameter, Problem};
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    name: "shared_multi_leaders",
    source: "the multi-leader designs of Bayatpour et al. 2017 and of MVAPICH; between the nodes all at once",
    idea: "Each rank sends its block to one rank of every other node. Then the ranks of a node show each other \
            what they have in shared memory.",
    avoid_when: "blocks are short and nodes many, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Segment],
    body: Body::Messages(schedule),
    ..shared_leaders::ALGORITHM
};

/// Messages hold only scratch blocks, which are bytes, so long blocks can be cut anywhere. Slots and scratch blocks
/// have the numbers of the blocks that they hold.
fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let placement = Placement::of(problem);
    let shares = Shares::new(&placement, rank);
    let is_alone = shares.members().len() == 1;
    let mut program = Builder::new(rank, size, size);
    let own = if problem.in_place { Recv.block(rank) } else { Send.block(rank) };
    if placement.nodes() > 1 {
        program.copy(own, Scratch.block(rank));
    }
    let arriving: Vec<_> = shares
        .targets(shares.place.local)
        .map(|source| (source, program.receive(source, Scratch.block(source))))
        .collect();
    for (target, _) in shares.sources() {
        program.send(target, Scratch.block(rank));
    }
    if !is_alone {
        program.publish(own, rank);
    }
    program.copy(own, Recv.block(rank));
    read(&mut program, &shares, |neighbour| vec![neighbour]);
    for (source, post) in arriving {
        program.wait(post);
        if !is_alone {
            program.publish(Scratch.block(source), source);
        }
        program.copy(Scratch.block(source), Recv.block(source));
    }
    read(&mut program, &shares, |neighbour| shares.targets(placement.place(neighbour).local).collect());
    with_slots(size, placement.most_members(), program.build())
}

/// Reads the blocks `shown(rank)` that each other rank of the node publishes: its own, or those of other nodes.
fn read(program: &mut Builder, shares: &Shares, shown: impl Fn(usize) -> Vec<usize>) {
    for neighbour in shares.neighbours() {
        for block in shown(neighbour) {
            let arrived: Run = program.await_slot(neighbour, block);
            program.copy(arrived, Buffer::Recv.block(block));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_its_block_to_one_rank_of_each_other_node() {
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.messages_sent(), schedule.blocks_sent()), (3, 3));
        }
    }
}
