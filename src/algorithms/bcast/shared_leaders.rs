//! Broadcast for short vectors on several nodes: each node's leader gets the vector and publishes it on its node.
//!
//! With m nodes the root sends w(k−1) − floor((k^w − m)/k^(w−1)) messages of the whole vector, where w = ceil(log_k m).
//! If k ≥ m, there is one round.

use crate::algorithms::building_blocks::knomial_tree::{children, parent};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::building_blocks::receive_in_scratch::receive_in_scratch;
use crate::algorithms::building_blocks::shared_node::{hand_out, with_slots_of_blocks};
use crate::algorithms::building_blocks::show_on_arrival::show_on_arrival;
use crate::algorithms::building_blocks::tree_broadcast::tree_broadcast;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer::Recv, Buffer::Scratch, Schedule};

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
    through_leaders(problem, rank, 1, |node, nodes| {
        tree_broadcast(node, nodes, 1, parent(node, radix), children(node, nodes, radix))
    })
}

/// Returns a broadcast of `blocks` blocks in which leaders act for their nodes. `between(node, nodes)` is a leader's program
/// among the leaders, in the receive buffer. Messages hold only scratch blocks, which are bytes, so vectors can be cut anywhere.
pub fn through_leaders(
    problem: &Problem,
    rank: usize,
    blocks: usize,
    between: impl Fn(usize, usize) -> Schedule,
) -> Schedule {
    let placement = Placement::of(problem);
    let Place { node, local } = placement.place(rank);
    let (nodes, population) = (placement.nodes(), placement.population(node));
    let down = |held| placement.within(node, hand_out(local, population, blocks, held));
    let program = match local {
        0 if nodes == 1 => down(Recv),
        0 => show_on_arrival(
            placement.between(receive_in_scratch(between(node, nodes))),
            population,
            rank == problem.root,
        ),
        _ => down(Scratch),
    };
    with_slots_of_blocks(placement.most_members(), program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Step;

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
