//! Node-aware alltoall for short blocks: ranks exchange blocks first on their nodes and then between these, each time by Bruck's algorithm.
//!
//! A rank that is number k of its node is in lane k. A block for it goes first to the rank of the sender's node that serves this lane, then from
//! node to node in the lane, and so ends where it belongs. With m nodes of q ranks each rank serves its own lane: all q ranks stand for the node,
//! each for the peers with its number. If another node has more ranks, some ranks serve several lanes.
//!
//! Both phases have the radix r, cut to q and to m. `bruck` sends M(p) messages and B(p) blocks on p ranks. Here a rank sends
//! M(q) + M(m) messages of m·B(q) + q·B(m) blocks, of which M(m) messages and q·B(m) blocks leave the node, in ceil(log_r q) + ceil(log_r m)
//! rounds. If r is at least q and m, these are q + m − 2 messages, and each block leaves a node once. As in `bruck_two_phase`, a block
//! rests in a scratch block of its own after each hop but the last: the scratch memory is that of all blocks sent but p − 1, in place of p more.
//!
//! With `MPI_Alltoallv` and `MPI_Alltoallw` the lengths of all blocks travel first, by the same messages with 8 bytes for each block. Messages
//! between two ranks of which all blocks are empty are then left out. Where nine of ten blocks are empty, the lengths alone take about as long as
//! `spread_out` does.

use super::parcels::{Parcels, Participant, exchange};
use super::{copy_own_block, with_input};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer::*, Builder, Run, Schedule};

pub const ALGORITHM: Algorithm = Algorithm {
    collectives: &[Collective::Alltoall],
    name: "node_aware",
    aliases: &[],
    source: "Fan et al. 2025 (HPDC: TuNA, arXiv 2411.02581), there with a radix for each phase; several leaders of a node: Bienz et al. \
            2026 (arXiv 2601.17606)",
    idea: "On each node every rank collects the blocks for the ranks elsewhere that have its number there. Then ranks with the same \
            number exchange them between the nodes.",
    avoid_when: "blocks are long, for each is sent twice or more, or each rank has a node of its own, or all share one.",
    parameters: &[Parameter::Radix],
    requires: &[Requirement::Nodes],
    body: Body::Messages(schedule),
};

pub const ALLTOALLV: Algorithm = Algorithm {
    collectives: &[Collective::Alltoallv, Collective::Alltoallw],
    avoid_when: "blocks are long or most of them are empty, for their lengths travel first, those of empty ones too.",
    requires: &[Requirement::Nodes, Requirement::BlockLengths],
    ..ALGORITHM
};

fn schedule(problem: &Problem, rank: usize) -> Schedule {
    let Problem { size, radix, .. } = *problem;
    let placement = Placement::of(problem);
    let lanes = Lanes::of(&placement, rank);
    let mut program = Builder::new(rank, size, size);
    let mut free = 0;
    let collected = lanes.collected(&mut free);
    let within = [lanes.within(&collected)];
    exchange(&mut program, within, legal_radix(radix, lanes.members.len()), &mut free);
    exchange(&mut program, lanes.between(&collected), legal_radix(radix, placement.nodes()), &mut free);
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
}

/// The lanes that a rank serves.
struct Lanes<'a> {
    placement: &'a Placement,
    rank: usize,
    place: Place,
    /// The ranks of its node.
    members: Vec<usize>,
}

impl<'a> Lanes<'a> {
    fn of(placement: &'a Placement, rank: usize) -> Self {
        let place = placement.place(rank);
        Lanes { placement, rank, place, members: placement.members(place.node).collect() }
    }

    /// Those that a rank of this node serves.
    fn served_by(&self, local: usize) -> impl Iterator<Item = usize> + use<> {
        (local..self.placement.most_members()).step_by(self.members.len())
    }

    /// The ranks in a lane, and how far below this node theirs are.
    fn targets_in(&self, lane: usize) -> impl Iterator<Item = (usize, usize)> + use<'a> {
        let (placement, node, nodes) = (self.placement, self.place.node, self.placement.nodes());
        (0..nodes).filter_map(move |distance| {
            let node = (node + nodes - distance) % nodes;
            let has_it = lane < placement.population(node);
            has_it.then(|| (distance, placement.member(Place { node, local: lane })))
        })
    }

    /// The ranks in all lanes that a rank of this node serves.
    fn targets(&self, local: usize) -> impl Iterator<Item = usize> + use<'_, 'a> {
        self.served_by(local).flat_map(|lane| self.targets_in(lane).map(|(_, target)| target))
    }

    /// By the ranks of the node, where this rank has their blocks for its targets before the second phase.
    fn collected(&self, free: &mut usize) -> Vec<Vec<Run>> {
        let mut place = |source: usize, target: usize| match () {
            () if source == self.rank => Send.block(target),
            () if target == self.rank => Recv.block(source),
            () => {
                *free += 1;
                Scratch.block(*free - 1)
            }
        };
        let targets: Vec<usize> = self.targets(self.place.local).collect();
        let of_source = |&source: &usize| targets.iter().map(|&target| place(source, target)).collect();
        self.members.iter().map(of_source).collect()
    }

    /// On the node each rank gives each other one its blocks for the targets of that one.
    fn within(&self, collected: &[Vec<Run>]) -> Parcels {
        let (own, size) = (self.place.local, self.members.len());
        let participant = |(local, &rank)| Participant { rank, gives: 1, takes: self.targets(local).count() };
        let given = |distance| self.targets((own + size - distance) % size).map(|target| Send.block(target));
        Parcels {
            own,
            participants: self.members.iter().enumerate().map(participant).collect(),
            held: (0..size).map(|distance| given(distance).collect()).collect(),
            arriving: (0..size).map(|distance| collected[(own + distance) % size].clone()).collect(),
        }
    }

    /// In each lane that this rank serves, each node gives each other one its blocks for the rank there that is in the lane.
    fn between(&self, collected: &[Vec<Run>]) -> Vec<Parcels> {
        let mut targets = 0..;
        let lanes = self.served_by(self.place.local);
        lanes.map(|lane| self.in_lane(lane, collected, &mut targets)).collect()
    }

    /// `targets`: the numbers of those in the lane, among all of this rank.
    fn in_lane(&self, lane: usize, collected: &[Vec<Run>], targets: impl Iterator<Item = usize>) -> Parcels {
        let (own, nodes) = (self.place.node, self.placement.nodes());
        let participant = |node| {
            let gives = self.placement.population(node);
            let rank = self.placement.member(Place { node, local: lane % gives });
            Participant { rank, gives, takes: usize::from(lane < gives) }
        };
        let mut held = vec![Vec::new(); nodes];
        for ((distance, _), target) in self.targets_in(lane).zip(targets) {
            held[distance] = collected.iter().map(|of_source| of_source[target]).collect();
        }
        let arriving = |distance| match lane == self.place.local {
            true => {
                self.placement.members((own + distance) % nodes).map(|source| Recv.block(source)).collect()
            }
            false => Vec::new(),
        };
        Parcels {
            own,
            participants: (0..nodes).map(participant).collect(),
            held,
            arriving: (0..nodes).map(arriving).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::bruck::tests::stated;
    use super::super::bruck_two_phase;
    use super::*;
    use crate::algorithms::digits::digits;
    use crate::schedule::Step;

    /// Messages and blocks that leave the rank's node.
    fn leaving(problem: &Problem, program: &Schedule) -> (usize, usize) {
        let leaves = |peer: u32| problem.nodes.of(peer as usize) != problem.nodes.of(program.rank);
        program.steps.iter().fold((0, 0), |(messages, blocks), step| match step {
            Step::Send { peer, message, .. } if leaves(*peer) => (messages + 1, blocks + message.blocks()),
            _ => (messages, blocks),
        })
    }

    /// Ranks in turn on so many nodes, or one node after another.
    fn placed(nodes: usize, population: usize, in_turn: bool) -> Problem {
        let size = nodes * population;
        let node = |rank| if in_turn { rank % nodes } else { rank / population };
        Problem { nodes: (0..size).map(|rank| node(rank) as u32).collect(), ..Problem::new(size) }
    }

    #[test]
    fn even_nodes_send_what_the_paper_says() {
        for (nodes, population) in [(1, 6), (2, 2), (3, 4), (4, 3), (5, 8), (7, 1), (8, 5), (13, 2)] {
            let size = nodes * population;
            for radix in 2..=size {
                let [within, between] = [population, nodes].map(|ranks| legal_radix(radix, ranks));
                let ((messages, blocks), (leaving_messages, leaving_blocks)) =
                    (stated(population, within), stated(nodes, between));
                for in_turn in [false, true] {
                    let problem = Problem { radix, ..placed(nodes, population, in_turn) };
                    let program = schedule(&problem, size / 2);
                    let left = (leaving_messages, population * leaving_blocks);
                    assert_eq!(leaving(&problem, &program), left, "{nodes} nodes of {population}, r={radix}");
                    assert_eq!(program.messages_sent(), messages + left.0);
                    assert_eq!(program.blocks_sent(), nodes * blocks + left.1);
                    assert_eq!(program.scratch_blocks(), program.blocks_sent() - (size - 1));
                    let rounds = digits(population, within) + digits(nodes, between);
                    assert_eq!(program.rounds(), rounds as usize);
                }
            }
        }
    }

    #[test]
    fn known_counts() {
        // 16 nodes of 32 ranks: each block leaves a node once, or twice.
        for (radix, expected) in [(32, (46, 976)), (4, (7 + 6, 16 * 64 + 32 * 24))] {
            let program = schedule(&Problem { radix, ..placed(16, 32, false) }, 100);
            assert_eq!((program.messages_sent(), program.blocks_sent()), expected, "r={radix}");
        }
    }

    #[test]
    fn on_uneven_nodes_each_block_for_another_node_leaves_its_own_once() {
        let nodes = [4, 7, 4, 4, 7, 9, 9, 9, 9, 9, 7, 3];
        let problem = Problem { nodes: nodes.into(), radix: 12, ..Problem::new(12) };
        let left: usize = (0..12).map(|rank| leaving(&problem, &schedule(&problem, rank)).1).sum();
        let apart = |from: &u32| nodes.iter().filter(|to| *to != from).count();
        assert_eq!(left, nodes.iter().map(apart).sum::<usize>());
    }

    #[test]
    fn with_one_node_or_one_rank_on_each_it_is_bruck_two_phase() {
        for size in 1..20 {
            for radix in [2, 3, size.max(2)] {
                for (nodes, population) in [(1, size), (size, 1)] {
                    let problem = Problem { radix, ..placed(nodes, population, false) };
                    let expected = bruck_two_phase::ALGORITHM.schedule(&problem, size / 2);
                    assert_eq!(schedule(&problem, size / 2), expected);
                }
            }
        }
    }
}
