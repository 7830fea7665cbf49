//! Node-aware alltoall for short blocks (TuNA): Bruck's algorithm first on the nodes, then between them.
//!
//! The ranks with local number k on their nodes form lane k. A block for a rank of this lane first goes to the rank of
//! the sender's node that serves the lane, then from node to node in the lane to its target. With m nodes of q ranks
//! each rank serves its own lane. If another node has more ranks, some ranks serve several lanes.
//!
//! The radix r is cut to q on the nodes and to m between them. Let `bruck` send M(p) messages and B(p) blocks on p
//! ranks. Here a rank sends M(q) + M(m) messages with m·B(q) + q·B(m) blocks in ceil(log_r q) + ceil(log_r m) rounds.
//! M(m) messages with q·B(m) blocks leave the node. If r ≥ q and r ≥ m, there are q + m − 2 messages, and each block
//! leaves a node once. As in `bruck_two_phase`, a block rests in its own scratch block after each hop but the last.
//! Scratch memory is needed for all but p − 1 of the blocks sent, and in place for p more blocks.
//!
//! In `MPI_Alltoallv` and `MPI_Alltoallw` the lengths of all blocks travel first, in the same messages with 8 bytes for
//! each block. After that a message is left out if all its blocks are empty. If nine of ten blocks are empty, the
//! lengths alone take about as long as `spread_out`.

use super::parcels::{Parcels, Participant, exchange};
use super::{copy_own_block, with_input};
use crate::algorithms::building_blocks::placement::{Place, Placement};
use crate::algorithms::{Algorithm, Body, Collective, Parameter, Problem, Requirement, legal_radix};
use crate::schedule::{Buffer::*, Builder, Schedule, Strided};

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
    let mut free = (lanes.members - 1) * lanes.kept;
    exchange(&mut program, [lanes.within()], legal_radix(radix, lanes.members), &mut free);
    exchange(&mut program, lanes.between(), legal_radix(radix, placement.nodes()), &mut free);
    copy_own_block(problem, &mut program, rank);
    with_input(problem, program.build())
}

/// The lanes that a rank serves. The ranks in these lanes are its targets, lane by lane.
///
/// Before the second phase the rank's own blocks for its targets are in the send buffer. Blocks for the rank itself are
/// in the receive buffer. All others are in scratch blocks, grouped by the member of the node that gave them.
struct Lanes<'a> {
    placement: &'a Placement,
    rank: usize,
    place: Place,
    /// How many ranks the rank's node has.
    members: usize,
    /// How many of the rank's targets come before the rank itself.
    before: usize,
    /// Scratch blocks for each other member of the node: one for each target but the rank itself.
    kept: usize,
}

impl<'a> Lanes<'a> {
    fn of(placement: &'a Placement, rank: usize) -> Self {
        let place = placement.place(rank);
        let members = placement.population(place.node);
        // The first lane that a rank serves is its own.
        let before = (0..place.node).filter(|&node| placement.population(node) > place.local).count();
        let lanes = Lanes { placement, rank, place, members, before, kept: 0 };
        Lanes { kept: lanes.targets(place.local) - 1, ..lanes }
    }

    /// The lanes that the rank with number `local` on this node serves.
    fn served_by(&self, local: usize) -> impl Iterator<Item = usize> + use<> {
        (local..self.placement.most_members()).step_by(self.members)
    }

    /// The rank's own blocks for the targets of the rank with number `local` on this node.
    fn given_to(&self, local: usize) -> Vec<Strided> {
        self.served_by(local).flat_map(|lane| self.placement.blocks_of_local(Send, lane)).collect()
    }

    /// How many targets the rank with number `local` on this node has.
    fn targets(&self, local: usize) -> usize {
        self.given_to(local).into_iter().map(Strided::blocks).sum()
    }

    /// The first scratch block for the blocks of another member.
    fn first_of(&self, member: usize) -> usize {
        (member - usize::from(member > self.place.local)) * self.kept
    }

    /// Where this rank keeps the blocks of another member.
    fn taken_from(&self, member: usize) -> Vec<Strided> {
        let first = self.first_of(member);
        let source = self.placement.member(Place { local: member, ..self.place });
        let own = first + self.before;
        vec![
            Scratch.blocks(first..own).into(),
            Recv.block(source).into(),
            Scratch.blocks(own..first + self.kept).into(),
        ]
    }

    /// Where this rank keeps the blocks of all members, in their order, for another rank: target number `number`.
    fn collected_for(&self, target: usize, number: usize) -> Vec<Strided> {
        let local = self.place.local;
        let of = |member| Scratch.block(self.first_of(member) + number - usize::from(number > self.before));
        vec![
            of(0).repeated(local, self.kept),
            Send.block(target).into(),
            of(local + 1).repeated(self.members - local - 1, self.kept),
        ]
    }

    /// The exchange on the node: each rank gives each other rank its blocks for that rank's targets.
    fn within(&self) -> Parcels {
        let (own, size) = (self.place.local, self.members);
        let members = self.placement.members(self.place.node).enumerate();
        let participant = |(local, rank)| Participant { rank, gives: 1, takes: self.targets(local) };
        Parcels {
            own,
            participants: members.map(participant).collect(),
            held: (0..size).map(|distance| self.given_to((own + size - distance) % size)).collect(),
            arriving: (0..size).map(|distance| self.taken_from((own + distance) % size)).collect(),
        }
    }

    /// The exchanges in the rank's lanes: each node gives each other node its blocks for the rank of the lane there.
    fn between(&self) -> Vec<Parcels> {
        let mut numbers = 0..;
        let lanes = self.served_by(self.place.local);
        lanes.map(|lane| self.in_lane(lane, &mut numbers)).collect()
    }

    /// `numbers` yields the numbers of the lane's targets among all targets of this rank.
    fn in_lane(&self, lane: usize, numbers: impl Iterator<Item = usize>) -> Parcels {
        let (own, nodes) = (self.place.node, self.placement.nodes());
        let participant = |node| {
            let gives = self.placement.population(node);
            let rank = self.placement.member(Place { node, local: lane % gives });
            Participant { rank, gives, takes: usize::from(lane < gives) }
        };
        let participants: Vec<Participant> = (0..nodes).map(participant).collect();
        let mut held = vec![Vec::new(); nodes];
        let targets = participants.iter().enumerate().filter(|(_, target)| target.takes > 0);
        for ((node, target), number) in
            targets.zip(numbers).filter(|((_, target), _)| target.rank != self.rank)
        {
            held[(own + nodes - node) % nodes] = self.collected_for(target.rank, number);
        }
        let arriving = |distance| match lane == self.place.local {
            true => self.placement.blocks_of_node(Recv, (own + distance) % nodes),
            false => Vec::new(),
        };
        Parcels { own, participants, held, arriving: (0..nodes).map(arriving).collect() }
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

    /// Ranks placed on the nodes in turn, or filling one node after another.
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
