//! Linear neighbourhood collectives: every message is posted at once; what a rank sends itself it copies.
//!
//! Source: Open MPI (`coll/basic`), MPICH.
//! One round of as many messages as the rank has neighbours, each sent its block. Loses when: neighbours share many of
//! their neighbours, and an allgather's blocks are small.

use crate::algorithms::{Algorithm, Collective, Problem};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const ALLGATHER: Algorithm = Algorithm {
    collective: Collective::NeighborAllgather,
    name: "linear",
    aliases: &[],
    source: "every rank sends a block to each of its neighbours",
    parameters: &[],
    requires: &[],
    schedule: allgather,
    cost: |_| crate::cost::Cost::default(),
};

pub const ALLGATHERV: Algorithm = Algorithm { collective: Collective::NeighborAllgatherv, ..ALLGATHER };

pub const ALLTOALL: Algorithm =
    Algorithm { collective: Collective::NeighborAlltoall, schedule: alltoall, ..ALLGATHER };

pub const ALLTOALLV: Algorithm = Algorithm { collective: Collective::NeighborAlltoallv, ..ALLTOALL };

pub const ALLTOALLW: Algorithm = Algorithm { collective: Collective::NeighborAlltoallw, ..ALLTOALL };

fn allgather(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |_| Send.block(0))
}

fn alltoall(problem: &Problem, rank: usize) -> Schedule {
    exchange(problem, rank, |block| Send.block(block))
}

/// Sends each destination what `sent` says of its number.
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

    #[test]
    fn a_rank_copies_what_it_sends_itself() {
        let graph = Graph::of_rank(1, Neighbours::listed([Some(0), Some(1)], [Some(1)]));
        let program = allgather(&Problem { graph, ..Problem::new(2) }, 1);
        assert_eq!((program.messages_sent(), program.posts()), (0, 1));
        assert_eq!(program.steps[1].to_string(), "copy send[0] to recv[1]");
    }
}
