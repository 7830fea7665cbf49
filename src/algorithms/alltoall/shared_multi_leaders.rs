//! Alltoall on several nodes: the ranks of a node publish their blocks in shared memory, and share out the ranks of
//! other nodes as targets. Each rank sends its targets the blocks of the whole node.
//!
//! With m nodes of q ranks: one round of m − 1 messages of q blocks, each straight to its target. With direct messages
//! from every rank, each would send (m − 1)q messages.

use super::copy_own_block;
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::building_blocks::shares::Shares;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "shared_multi_leaders",
    aliases: &[],
    source: "the multi-leader designs of Träff, Rougier 2014 and of MVAPICH",
    idea: "The ranks of a node show each other their blocks in shared memory, and each sends those of all to \
            some of the ranks elsewhere.",
    avoid_when: "blocks are so long that copying them takes longer than messages.",
    parameters: &[Parameter::Segment],
    requires: &[Requirement::Nodes, Requirement::SharedMemory],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let placement = Placement::of(problem);
    let shares = Shares::new(&placement, rank);
    let input = if problem.in_place { Recv } else { Send };
    let mut program = Builder::new(rank, problem.size, problem.size);
    show(&mut program, &shares, input);
    let arrived = exchange(&mut program, &shares, input);
    copy_own_block(problem, &mut program, rank);
    for neighbour in shares.neighbours() {
        program.copy(Buffer::of_rank(neighbour).block(rank), Recv.block(neighbour));
    }
    program.end_round();
    for (block, source) in arrived {
        program.copy(Scratch.block(block), Recv.block(source));
    }
    with_slots(problem.size, placement.most_members(), program.build())
}

/// Publishes for each rank of the node its block and the blocks that it sends on. Slots have the blocks' numbers.
fn show(program: &mut Builder, shares: &Shares, input: Buffer) {
    for reader in shares.neighbours() {
        for target in shares.targets(shares.placement.place(reader).local) {
            program.show(input.block(target), target);
        }
        program.publish(input.block(reader), reader);
    }
}

/// Posts the messages between the nodes. They hold only scratch blocks, which are bytes, so long blocks can be cut
/// anywhere. Returns the scratch blocks that arrive, each with the rank that it comes from.
fn exchange(program: &mut Builder, shares: &Shares, input: Buffer) -> Vec<(usize, usize)> {
    let (rank, members) = (shares.rank, shares.members());
    let targets: Vec<usize> = shares.targets(shares.place.local).collect();
    for neighbour in shares.neighbours() {
        program.await_slot(neighbour, rank);
    }
    let outgoing = |turn: usize| turn * members.len()..(turn + 1) * members.len();
    for (turn, &target) in targets.iter().enumerate() {
        for (member, block) in members.clone().zip(outgoing(turn)) {
            let given = if member == rank { input } else { Buffer::of_rank(member) };
            program.copy(given.block(target), Scratch.block(block));
        }
    }
    let mut arriving = Vec::new();
    for (source, members) in shares.sources() {
        let first = targets.len() * shares.members().len() + arriving.len();
        program.receive(source, Scratch.blocks(first..first + members.len()));
        arriving.extend((first..).zip(members));
    }
    for (turn, &target) in targets.iter().enumerate() {
        program.send(target, Scratch.blocks(outgoing(turn)));
    }
    arriving
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

    #[test]
    fn each_rank_sends_the_blocks_of_its_node_to_one_rank_of_each_other() {
        let problem = Problem { nodes: (0..16).map(|rank| rank % 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let steps = schedule(&problem, rank).steps;
            let sent = steps.iter().filter_map(|step| match step {
                Step::Send { peer, message, .. } => Some((*peer as usize % 4, message.blocks())),
                _ => None,
            });
            let expected = (1..4).map(|distance| ((rank + distance) % 4, 4));
            assert!(sent.eq(expected));
        }
    }
}
