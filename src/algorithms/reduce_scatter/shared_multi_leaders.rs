//! Reduce-scatter on several nodes. The ranks of a node divide the ranks of other nodes among themselves. For its share
//! of them, each rank combines what its node shows, and sends them the sums.
//!
//! With m nodes of q ranks: one round of m − 1 messages of a block, each straight to its owner. A rank reduces m(q − 1)
//! blocks on its node and m − 1 from others. Ranks of a node are combined first, so the operator must commute.

use super::alone;
use crate::algorithms::building_blocks::placement::Placement;
use crate::algorithms::building_blocks::shared_node::with_slots;
use crate::algorithms::building_blocks::shares::Shares;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::ReduceScatter, Collective::ReduceScatterBlock],
    name: "shared_multi_leaders",
    aliases: &[],
    source: "the multi-leader designs of Bayatpour et al. 2017 and of MVAPICH; between the nodes all at once",
    idea: "Each rank combines what its node shows for some of the ranks elsewhere in shared memory, and sends \
            them the sums.",
    avoid_when: "blocks are short and nodes many, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Segment],
    requires: &[
        Requirement::Nodes,
        Requirement::SharedMemory,
        Requirement::Predefined,
        Requirement::Commutative,
    ],
    body: Body::Messages(schedule),
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let size = problem.size;
    if size == 1 {
        return alone();
    }
    let placement = Placement::of(problem);
    let shares = Shares::new(&placement, rank);
    let mut program = Builder::new(rank, size, size);
    show(&mut program, &shares);
    // The first scratch vector holds sums by owner. Sums for this rank arrive in block `rank` of later vectors.
    let incoming = |turn: usize| Scratch.block((turn + 1) * size + rank);
    for (turn, (source, _)) in shares.sources().enumerate() {
        program.receive(source, incoming(turn));
    }
    for neighbour in shares.neighbours() {
        program.await_slot(neighbour, rank);
    }
    for target in shares.targets(shares.place.local) {
        let sum = combine(&mut program, &shares, target, Scratch.block(target));
        program.send(target, sum);
    }
    let mut sum = combine(&mut program, &shares, rank, Recv.block(rank));
    program.end_round();
    for turn in 0..placement.nodes() - 1 {
        program.reduce(incoming(turn), sum, Recv.block(rank));
        sum = Recv.block(rank);
    }
    with_slots(size, placement.most_members(), program.build())
}

/// Shows each rank of the node the blocks that it combines, in slots with the blocks' numbers.
fn show(program: &mut Builder, shares: &Shares) {
    for reader in shares.neighbours() {
        for target in shares.targets(shares.placement.place(reader).local) {
            program.show(Send.block(target), target);
        }
        program.publish(Send.block(reader), reader);
    }
}

/// Combines the node's blocks for a rank. Returns where the sum is: the contribution itself if no neighbour adds to it.
fn combine(program: &mut Builder, shares: &Shares, target: usize, sum: Run) -> Run {
    let mut combined = Send.block(target);
    for neighbour in shares.neighbours() {
        // The result overwrites the right operand, where MPI's operators leave it.
        program.reduce(Buffer::of_rank(neighbour).block(target), combined, sum);
        combined = sum;
    }
    combined
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rank_sends_a_sum_to_one_rank_of_each_other_node() {
        let problem = Problem { nodes: (0..16).map(|rank| rank / 4).collect(), ..Problem::new(16) };
        for rank in 0..16 {
            let schedule = schedule(&problem, rank);
            assert_eq!((schedule.messages_sent(), schedule.blocks_sent()), (3, 3));
            assert_eq!(schedule.blocks_reduced(), 4 * 3 + 3);
        }
    }
}
