//! Linear neighbourhood collectives: every rank posts all messages at once, and copies the blocks for itself.
//!
//! One round with a message for each neighbour: d messages, if no rank has more than d sources or d destinations
//! besides itself. If a rank sends and receives one message at a time, the messages need d steps. In the best order
//! they need no more (König 1916: the edges of a bipartite multigraph of degree d have d colours). In the posted order
//! they may take longer, but never more than d² steps: a message whose turn has come at its sender waits for at most
//! d − 1 others at its receiver.

use crate::algorithms::{Algorithm, Body, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const ALLGATHER: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAllgather, Collective::NeighborAllgatherv],
    name: "linear",
    aliases: &[],
    source: "every rank sends a block to each of its neighbours",
    idea: "Every rank exchanges messages with all its neighbours at once.",
    avoid_when: "neighbours have many neighbours in common, so that blocks could be passed on.",
    parameters: &[],
    requires: &[],
    body: Body::Messages(allgather),
};

pub const ALLTOALL: Algorithm = Algorithm {
    collectives: &[
        Collective::NeighborAlltoall,
        Collective::NeighborAlltoallv,
        Collective::NeighborAlltoallw,
    ],
    body: Body::Messages(alltoall),
    ..ALLGATHER
};

fn allgather(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |_| Send.block(0))
}

fn alltoall(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |block| Send.block(block))
}

/// Returns the exchange in which `sent(number)` is the run for the destination with this block number.
fn exchange(problem: &Problem, rank: usize, sent: impl Fn(usize) -> Run) -> Schedule {
    let neighbours = problem.graph.neighbours(rank);
    let mut program = Builder::new(rank, problem.size, neighbours.blocks());
    for source in neighbours.sources.iter().filter(|source| source.peer != rank) {
        program.receive(source.peer, Recv.block(source.block));
    }
    for destination in neighbours.destinations.iter().filter(|destination| destination.peer != rank) {
        program.send(destination.peer, sent(destination.block));
    }
    let to_itself = neighbours.destinations.iter().filter(|destination| destination.peer == rank);
    let from_itself = neighbours.sources.iter().filter(|source| source.peer == rank);
    for (destination, source) in to_itself.zip(from_itself) {
        program.copy(sent(destination.block), Recv.block(source.block));
    }
    program.build()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Dimension, Graph, Neighbours};
    use crate::cost::Cost;

    #[test]
    fn a_ring_of_two_crosses_its_blocks() {
        let graph = Graph::grid(&[Dimension { length: 2, periodic: true }]);
        let program = alltoall(&Problem { graph, ..Problem::new(2) }, 0);
        assert_eq!(
            program.to_string(),
            "rank 0 of 2, 2 blocks\n\
             0: receive from 1 into recv[0]\n\
             1: receive from 1 into recv[1]\n\
             2: send to 1 from send[1]\n\
             3: send to 1 from send[0]\n\
             wait 0 1 2 3\n"
        );
    }

    /// Two rounds would do.
    #[test]
    fn the_posted_order_may_take_the_square_of_the_best() {
        let sources: [&[usize]; 4] = [&[1], &[0, 2], &[3, 0], &[1, 2]];
        let destinations: [&[usize]; 4] = [&[2, 1], &[3, 0], &[3, 1], &[2]];
        let listed = |rank: usize| {
            let ranks = |peers: &[usize]| peers.iter().copied().map(Some).collect::<Vec<_>>();
            Neighbours::listed(ranks(sources[rank]), ranks(destinations[rank]))
        };
        let problem = Problem { graph: Graph::new((0..4).map(listed)), ..Problem::new(4) };
        let schedules: Vec<Schedule> = (0..4).map(|rank| alltoall(&problem, rank)).collect();
        assert_eq!(Cost::count(&schedules).rounds, 4);
    }

    #[test]
    fn a_rank_copies_what_it_sends_itself() {
        let graph = Graph::of_rank(1, Neighbours::listed([Some(0), Some(1)], [Some(1)]));
        let program = allgather(&Problem { graph, ..Problem::new(2) }, 1);
        assert_eq!((program.messages_sent(), program.posts()), (0, 1));
        assert_eq!(program.steps[1].to_string(), "copy send[0] to recv[1]");
    }
}
