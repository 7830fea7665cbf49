//! Neighbourhood collectives in shared memory: every rank shows its neighbours their blocks, and copies what they show it.
//!
//! A rank awaits a flag for each block that it receives, or in an allgather a flag of each source. Every block is written once.
//!
//! The ranks first publish the lengths of the blocks. There every rank looks at a slot of every other one, neighbour or not. It
//! contains the length of that rank's longest block, so all ranks cut blocks alike.

use crate::algorithms::graph::Edge;
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement};
use crate::schedule::{Buffer, Buffer::*, Builder, Schedule};

pub const ALLTOALL: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAlltoall, Collective::NeighborAlltoallv],
    name: "shared",
    aliases: &[],
    source: "as `linear`, with slots in place of messages",
    idea: "Every rank shows its neighbours their blocks in memory that the node shares, and copies what they show it.",
    avoid_when: "a rank has few neighbours among many ranks of the node. It looks at a length of each of them.",
    parameters: &[Parameter::Segment],
    requires: &[
        Requirement::OneNode,
        Requirement::SharedMemory,
        Requirement::NeighboursOfNode,
        Requirement::LongestBlock,
    ],
    body: Body::Messages(|problem, rank| Exchange::new(problem, rank, false).data()),
};

pub const ALLGATHER: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAllgather, Collective::NeighborAllgatherv],
    body: Body::Messages(|problem, rank| Exchange::new(problem, rank, true).data()),
    ..ALLTOALL
};

/// Returns a rank's program that exchanges the lengths of blocks, for one of the algorithms above.
pub(in crate::algorithms) fn lengths(collective: Collective, problem: &Problem, rank: usize) -> Schedule {
    let is_shared = matches!(collective, Collective::NeighborAllgather | Collective::NeighborAllgatherv);
    Exchange::new(problem, rank, is_shared).lengths()
}

/// What a rank shows and sees.
struct Exchange<'a> {
    problem: &'a Problem,
    rank: usize,
    /// Whether a rank sends one block to all its neighbours.
    is_shared: bool,
}

impl<'a> Exchange<'a> {
    fn new(problem: &'a Problem, rank: usize, is_shared: bool) -> Exchange<'a> {
        Exchange { problem, rank, is_shared }
    }

    fn data(&self) -> Schedule {
        let mut program = self.program();
        self.show(&mut program);
        for owner in self.others() {
            self.collect(owner, &mut program);
        }
        program.build()
    }

    fn lengths(&self) -> Schedule {
        let mut program = self.program();
        if !self.show(&mut program) {
            program.publish(Send.block(0), 0);
        }
        for (number, owner) in self.others().enumerate() {
            if !self.collect(owner, &mut program) {
                let shown = program.await_slot(owner, 0);
                program.copy(shown, Scratch.block(number));
            }
        }
        program.build()
    }

    /// Returns a program with as many slots as any rank needs.
    fn program(&self) -> Builder {
        let Problem { size, ref graph, .. } = *self.problem;
        let slots = if self.is_shared { 1 } else { graph.most_sent().max(1) };
        Builder::new(self.rank, size, graph.neighbours(self.rank).blocks()).slots(slots)
    }

    /// The other ranks, the next one first.
    fn others(&self) -> impl Iterator<Item = usize> + use<> {
        let (rank, size) = (self.rank, self.problem.size);
        (1..size).map(move |distance| (rank + distance) % size)
    }

    /// Returns the edges from a rank to others, each with the slot of its block.
    fn slots(&self, from: usize) -> impl Iterator<Item = (usize, &Edge)> {
        let destinations = self.problem.graph.neighbours(from).destinations.iter();
        let others = destinations.filter(move |edge| edge.peer != from);
        others.enumerate().map(|(number, edge)| (if self.is_shared { 0 } else { number }, edge))
    }

    /// Shows other ranks their blocks, and copies the blocks that stay. Returns whether it shows any.
    fn show(&self, program: &mut Builder) -> bool {
        let sent = |edge: &Edge| Send.block(if self.is_shared { 0 } else { edge.block });
        let shown = if self.is_shared { 1 } else { usize::MAX };
        self.slots(self.rank).take(shown).for_each(|(slot, edge)| program.publish(sent(edge), slot));
        let own = self.problem.graph.neighbours(self.rank);
        let stays = |edge: &&Edge| edge.peer == self.rank;
        let staying = own.destinations.iter().filter(stays).zip(own.sources.iter().filter(stays));
        staying.for_each(|(to, from)| program.copy(sent(to), Recv.block(from.block)));
        self.slots(self.rank).next().is_some()
    }

    /// Copies the blocks that another rank shows this one. Returns whether there are any.
    fn collect(&self, owner: usize, program: &mut Builder) -> bool {
        let sources = self.problem.graph.neighbours(self.rank).sources.iter();
        let slots = self.slots(owner).filter(|(_, edge)| edge.peer == self.rank).map(|(slot, _)| slot);
        let mut awaited = None;
        for (source, slot) in sources.filter(|edge| edge.peer == owner).zip(slots) {
            if awaited.replace(slot) != Some(slot) {
                program.await_slot(owner, slot);
            }
            program.copy(Buffer::of_rank(owner).block(slot), Recv.block(source.block));
        }
        awaited.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::{Dimension, Graph, Neighbours};
    use crate::schedule::Step;
    use crate::verify::graphs;
    use std::collections::BTreeSet;

    fn grid(length: usize) -> Problem {
        let graph = Graph::grid(&[Dimension { length, periodic: true }]);
        Problem { graph, ..Problem::new(length) }
    }

    fn awaited(schedule: &Schedule) -> BTreeSet<u32> {
        let awaits = schedule.steps.iter().filter_map(|step| match step {
            Step::Await { rank, .. } => Some(*rank),
            _ => None,
        });
        awaits.collect()
    }

    #[test]
    fn a_rank_of_a_ring_sees_two_blocks() {
        let program = ALLTOALL.schedule(&grid(5), 1);
        assert_eq!(
            program.to_string(),
            "rank 1 of 5, 2 blocks, 2 slots\n\
             copy send[1] to shared1[0]\n\
             notify 0\n\
             copy send[0] to shared1[1]\n\
             notify 1\n\
             await 1 of 2, 1 times\n\
             copy shared2[1] to recv[1]\n\
             await 0 of 0, 1 times\n\
             copy shared0[0] to recv[0]\n"
        );
    }

    #[test]
    fn a_block_for_all_neighbours_is_shown_once_and_awaited_once() {
        let program = ALLGATHER.schedule(&grid(2), 0);
        let count = |is: fn(&Step) -> bool| program.steps.iter().filter(|step| is(step)).count();
        assert_eq!(count(|step| matches!(step, Step::Notify { .. })), 1);
        assert_eq!(count(|step| matches!(step, Step::Await { .. })), 1);
        assert_eq!(count(|step| matches!(step, Step::Copy { .. })), 3);
    }

    /// So each rank learns the length of the longest block.
    #[test]
    fn lengths_come_from_every_rank() {
        let sizes = 1..=9;
        for (size, graph) in sizes.flat_map(|size| graphs(size).into_iter().map(move |graph| (size, graph))) {
            for (algorithm, rank) in
                [&ALLTOALL, &ALLGATHER].into_iter().flat_map(|one| (0..size).map(move |rank| (one, rank)))
            {
                let problem =
                    Problem { graph: graph.clone(), ..Problem::new(size) }.known_to(rank, algorithm);
                let others: BTreeSet<u32> =
                    (0..size as u32).filter(|&other| other as usize != rank).collect();
                let exchange = algorithm.exchange_of_lengths(&problem, rank).expect("it has lengths");
                assert_eq!(awaited(&exchange), others, "{graph:?}");
                assert_eq!(exchange.slots, algorithm.schedule(&problem, rank).slots);
            }
        }
    }

    #[test]
    fn a_rank_without_neighbours_shows_a_length_alone() {
        let neighbours = [Neighbours::default(), Neighbours::listed([Some(1)], [Some(1)])];
        let problem = Problem { graph: Graph::new(neighbours), ..Problem::new(2) };
        for rank in 0..2 {
            assert_eq!(awaited(&ALLTOALL.schedule(&problem, rank)), BTreeSet::new());
            assert_eq!(
                awaited(&lengths(ALLTOALL.contract(), &problem, rank)),
                BTreeSet::from([1 - rank as u32])
            );
        }
    }
}
