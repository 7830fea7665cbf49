//! Allgather on several nodes: each rank sends its block to one rank of each other node. The ranks of a node share
//! out the blocks that arrive, and publish them and their own blocks in shared memory.
//!
//! With m nodes of q ranks: one round of m − 1 messages of one block. Every block enters each other node once.

use super::shared_leaders;
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::building_blocks::shares::Shares;
use crate::algorithms::{Algorithm, Body, Parameter, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

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

/// Messages hold only scratch blocks, which are bytes, so long blocks can be cut anywhere. A rank shows its own block in slot
/// 0, and then its share of the blocks of each other node, that of the next node first. Few slots are long.
fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    let placement = Placement::of(problem);
    let shares = Shares::new(&placement, rank);
    let mut program = Builder::new(rank, size, size);
    let own = if problem.in_place { Recv.block(rank) } else { Send.block(rank) };
    if placement.nodes() > 1 {
        program.copy(own, Scratch.block(rank));
    }
    let receive = |source| program.receive(source, Scratch.block(source));
    let arriving: Vec<_> = shares.targets(shares.place.local).map(receive).collect();
    for (target, _) in shares.sources() {
        program.send(target, Scratch.block(rank));
    }
    show(&mut program, &shares, own, 0, rank);
    for neighbour in shares.neighbours() {
        read(&mut program, neighbour, 0, neighbour);
    }
    // The blocks of one node are read while those of later ones arrive.
    let mut arriving = arriving.into_iter();
    let mut slots = 1;
    for node in shares.other_nodes() {
        for (slot, source) in (slots..).zip(shares.targets_on(node, shares.place.local)) {
            program.wait(arriving.next().expect("a message for each of them is received"));
            show(&mut program, &shares, Scratch.block(source), slot, source);
        }
        for neighbour in shares.neighbours() {
            for (slot, block) in (slots..).zip(shares.targets_on(node, placement.place(neighbour).local)) {
                read(&mut program, neighbour, slot, block);
            }
        }
        slots += largest_share(&placement, node);
    }
    // On the emptiest node the own one is such a share too.
    let slots = (0..placement.nodes()).map(|node| largest_share(&placement, node)).sum();
    with_slots(slots, placement.most_members(), program.build())
}

/// Returns how many blocks of a node a rank of another node shows at most.
fn largest_share(placement: &Placement, node: usize) -> usize {
    placement.population(node).div_ceil(placement.fewest_members())
}

/// Publishes a block to the other ranks of the node, if there are any, and puts it into the result.
fn show(program: &mut Builder, shares: &Shares, from: Run, slot: usize, block: usize) {
    if shares.members().len() > 1 {
        program.publish(from, slot);
    }
    program.copy(from, Recv.block(block));
}

/// Reads a block that another rank of the node publishes.
fn read(program: &mut Builder, neighbour: usize, slot: usize, block: usize) {
    let arrived: Run = program.await_slot(neighbour, slot);
    program.copy(arrived, Recv.block(block));
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
