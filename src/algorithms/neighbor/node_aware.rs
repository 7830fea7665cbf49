//! Locality-aware neighbourhood collectives: from one node to another goes a single message, however many of their
//! ranks are neighbours.
//!
//! For each two nodes, one rank of the first collects what goes to the second. It sends all of it to one rank of
//! the second, who hands it out. A node's ranks take turns in this. There are three rounds. In the first and the
//! last, a rank sends at most q − 1 messages on its node, where that has q ranks. In the second, one message goes
//! from node to node, if ranks there are neighbours. Blocks for ranks of the own node go straight to them, in the
//! messages of the first round. In an allgather, a block crosses once to each node where it is needed, however many
//! ranks need it there.
//!
//! A rank must know the neighbours of all ranks of its node. The lengths of all blocks travel first, in the same messages
//! with 8 bytes for each block; persistent calls do this when they start for the first time.

use crate::algorithms::graph::Edge;
use crate::algorithms::nodes::{Nodes, Place};
use crate::algorithms::{Algorithm, Body, Collective, Neighbours, Problem, Requirement};
use crate::schedule::{Buffer::*, Builder, Message, Run, Schedule};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

pub const ALLTOALL: Algorithm = Algorithm {
    collectives: &[
        Collective::NeighborAlltoall,
        Collective::NeighborAlltoallv,
        Collective::NeighborAlltoallw,
    ],
    name: "node_aware",
    aliases: &[],
    source: "Collom, Li, Bienz 2023 (arXiv 2308.13869)",
    idea: "What goes from one node to another is collected by one rank, crosses in one message, and is handed out on \
            arrival.",
    avoid_when: "blocks are long, or a rank has few neighbours on other nodes, for the rounds follow each other and \
                 lengths travel first.",
    parameters: &[],
    requires: &[Requirement::Nodes, Requirement::NeighboursOfNode, Requirement::BlockLengths],
    body: Body::Messages(alltoall),
};

pub const ALLGATHER: Algorithm = Algorithm {
    collectives: &[Collective::NeighborAllgather, Collective::NeighborAllgatherv],
    body: Body::Messages(allgather),
    ..ALLTOALL
};

fn alltoall(problem: &Problem, rank: usize) -> Schedule {
    schedule(problem, rank, false)
}

fn allgather(problem: &Problem, rank: usize) -> Schedule {
    schedule(problem, rank, true)
}

/// `is_shared`: a rank sends one block to all its neighbours.
fn schedule(problem: &Problem, rank: usize, is_shared: bool) -> Schedule {
    let traffic = Traffic::of(problem, rank, is_shared);
    let neighbours = problem.graph.neighbours(rank);
    let mut blocks = Blocks::new(neighbours, is_shared);
    let mut program = Builder::new(rank, problem.size, neighbours.blocks());

    let mut collecting = Round::new(rank);
    // A shared block goes once to a rank that needs it and sends it to other nodes.
    let mut given_to = HashSet::new();
    let mut is_new = |source, target| given_to.insert((source, target)) || !is_shared;
    for Parcel { source, targets } in &traffic.staying {
        for &target in targets {
            let given = (*source == rank).then(|| blocks.given(target));
            let is_passed_on = || is_shared && *source != rank && traffic.is_sent_by(rank, *source);
            let taken = (target == rank).then(|| blocks.taken(*source, is_passed_on()));
            match given.zip(taken) {
                Some((given, taken)) => program.copy(given, taken),
                None if is_new(*source, target) => collecting.pass(*source, target, given.or(taken)),
                None => {}
            }
        }
    }
    let mut crossing = Round::new(rank);
    for Load { parcels, sender, receiver } in &traffic.leaving {
        for Parcel { source, targets } in parcels {
            let place = match () {
                () if *source == rank => Some(blocks.given(targets[0])),
                () if *sender == rank => Some(blocks.passing(*source)),
                () => None,
            };
            if is_new(*source, *sender) {
                collecting.pass(*source, *sender, place);
            }
            crossing.pass(*sender, *receiver, place);
        }
    }
    let mut handing_out = Round::new(rank);
    for Load { parcels, sender, receiver } in &traffic.arriving {
        for Parcel { source, targets } in parcels {
            let place = match () {
                () if targets.contains(&rank) => {
                    Some(blocks.taken(*source, *receiver == rank && targets.len() > 1))
                }
                () if *receiver == rank => Some(blocks.passing(*source)),
                () => None,
            };
            crossing.pass(*sender, *receiver, place);
            targets.iter().for_each(|&target| handing_out.pass(*receiver, target, place));
        }
    }
    for round in [collecting, crossing, handing_out] {
        round.add_to(&mut program);
    }
    for (kept, place) in blocks.copies {
        program.copy(kept, place);
    }
    program.build()
}

/// A block on its way from a rank to some ranks of one node.
struct Parcel {
    source: usize,
    targets: Vec<usize>,
}

/// What goes from one node to another, in an order that both know, and by whom.
struct Load {
    parcels: Vec<Parcel>,
    sender: usize,
    receiver: usize,
}

/// What a node's ranks send and receive.
struct Traffic {
    staying: Vec<Parcel>,
    leaving: Vec<Load>,
    arriving: Vec<Load>,
}

impl Traffic {
    /// The traffic of a rank's node.
    fn of(problem: &Problem, rank: usize, is_shared: bool) -> Traffic {
        let nodes = if problem.nodes.is_empty() { Nodes::one(problem.size) } else { problem.nodes.clone() };
        let own = nodes.place(rank).node;
        let (mut sent, mut received) = (BTreeMap::<usize, Vec<_>>::new(), BTreeMap::<usize, Vec<_>>::new());
        for member in nodes.members(own) {
            let Neighbours { sources, destinations, .. } = problem.graph.neighbours(member);
            for &Edge { peer, .. } in destinations {
                sent.entry(nodes.place(peer).node).or_default().push((member, peer));
            }
            for &Edge { peer, .. } in sources {
                received.entry(nodes.place(peer).node).or_default().push((peer, member));
            }
        }
        received.remove(&own);
        let staying = sent.remove(&own).map_or(Vec::new(), |pairs| parcels(pairs, is_shared));
        let load = |(from, to), pairs| Load {
            parcels: parcels(pairs, is_shared),
            sender: carrier(&nodes, from, to),
            receiver: carrier(&nodes, to, from),
        };
        let leaving = sent.into_iter().map(|(node, pairs)| load((own, node), pairs)).collect();
        let arriving = received.into_iter().map(|(node, pairs)| load((node, own), pairs)).collect();
        Traffic { staying, leaving, arriving }
    }

    /// Whether a rank sends a block of this source to another node.
    fn is_sent_by(&self, rank: usize, source: usize) -> bool {
        let sent = self.leaving.iter().filter(|load| load.sender == rank);
        sent.flat_map(|load| &load.parcels).any(|parcel| parcel.source == source)
    }
}

/// The rank of a node that sends to and receives from another node. The nearest nodes are served by different ranks.
fn carrier(nodes: &Nodes, node: usize, other: usize) -> usize {
    let distance = (other + nodes.number() - node) % nodes.number();
    nodes.member(Place { node, local: distance % nodes.population(node) })
}

/// The parcels of edges, each a source and a target. Those of one source are one if they are the same block.
fn parcels(mut edges: Vec<(usize, usize)>, is_shared: bool) -> Vec<Parcel> {
    edges.sort_unstable();
    if is_shared {
        edges.dedup();
    }
    let is_same = |one: &(usize, usize), other: &(usize, usize)| is_shared && one.0 == other.0;
    let parcel = |edges: &[(usize, usize)]| Parcel {
        source: edges[0].0,
        targets: edges.iter().map(|&(_, target)| target).collect(),
    };
    edges.chunk_by(is_same).map(parcel).collect()
}

/// The blocks of a rank. The k-th parcel to or from a neighbour is that of the k-th edge, or of all edges if it is shared.
struct Blocks {
    is_shared: bool,
    sent: HashMap<usize, VecDeque<usize>>,
    received: HashMap<usize, VecDeque<usize>>,
    /// How many places there are in scratch memory.
    kept: usize,
    /// Where a shared block of each source is in scratch memory.
    places: HashMap<usize, Run>,
    /// What is copied to where it belongs at the end. Nothing may be read in the receive buffer: if the lengths are not
    /// those expected, results are put elsewhere first.
    copies: Vec<(Run, Run)>,
}

impl Blocks {
    fn new(neighbours: &Neighbours, is_shared: bool) -> Blocks {
        let by_peer = |edges: &[Edge]| {
            let mut blocks = HashMap::<usize, VecDeque<usize>>::new();
            edges.iter().for_each(|edge| blocks.entry(edge.peer).or_default().push_back(edge.block));
            blocks
        };
        let (sent, received) = (by_peer(&neighbours.destinations), by_peer(&neighbours.sources));
        Blocks { is_shared, sent, received, kept: 0, places: HashMap::new(), copies: Vec::new() }
    }

    /// The rank's next block for a rank.
    fn given(&mut self, target: usize) -> Run {
        match self.is_shared {
            true => Send.block(0),
            false => Send.block(next(&mut self.sent, target)),
        }
    }

    /// Where the next block from a rank arrives.
    fn taken(&mut self, source: usize, is_passed_on: bool) -> Run {
        let first = next(&mut self.received, source);
        let others = if self.is_shared { self.received.remove(&source) } else { None }.unwrap_or_default();
        if !is_passed_on && others.is_empty() {
            return Recv.block(first);
        }
        let kept = self.passing(source);
        self.copies.extend([first].into_iter().chain(others).map(|block| (kept, Recv.block(block))));
        kept
    }

    /// A place in scratch memory for a block from a rank, or where it is if it is shared and has come.
    fn passing(&mut self, source: usize) -> Run {
        let next = Scratch.block(self.kept);
        let place = if self.is_shared { *self.places.entry(source).or_insert(next) } else { next };
        self.kept += usize::from(place == next);
        place
    }
}

fn next(blocks: &mut HashMap<usize, VecDeque<usize>>, peer: usize) -> usize {
    blocks.get_mut(&peer).and_then(VecDeque::pop_front).expect("both ends of an edge know it")
}

/// The messages of a round, by the other rank.
struct Round {
    rank: usize,
    sent: BTreeMap<usize, Vec<Run>>,
    received: BTreeMap<usize, Vec<Run>>,
}

impl Round {
    fn new(rank: usize) -> Round {
        Round { rank, sent: BTreeMap::new(), received: BTreeMap::new() }
    }

    /// A block goes from a rank to another. If this rank is one of them, the block's place here is `place`.
    fn pass(&mut self, source: usize, target: usize, place: Option<Run>) {
        let messages = match () {
            () if source == target => return,
            () if source == self.rank => self.sent.entry(target),
            () if target == self.rank => self.received.entry(source),
            () => return,
        };
        messages.or_default().push(place.expect("a rank that passes a block has it"));
    }

    fn add_to(self, program: &mut Builder) {
        for (source, blocks) in self.received {
            program.receive(source, blocks.into_iter().collect::<Message>());
        }
        for (target, blocks) in self.sent {
            program.send(target, blocks.into_iter().collect::<Message>());
        }
        program.end_round();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Graph;
    use crate::schedule::Step;

    /// All ranks are neighbours of all; the nodes have three, two and two ranks.
    fn problem() -> Problem {
        let all = || (0..7).map(Some);
        let graph = Graph::new((0..7).map(|_| Neighbours::listed(all(), all())));
        Problem { graph, nodes: [0, 0, 0, 1, 1, 2, 2].into(), ..Problem::new(7) }
    }

    /// Returns how many messages go from each node to each, and how many blocks.
    fn traffic(algorithm: &Algorithm) -> Vec<(usize, usize)> {
        let problem = problem();
        let mut counts = [(0, 0); 9];
        for rank in 0..7 {
            for step in algorithm.program(&problem, rank).steps {
                if let Step::Send { peer, message, .. } = step {
                    let ends = [rank, peer as usize].map(|rank| problem.nodes.place(rank).node);
                    let (messages, blocks) = &mut counts[ends[0] * 3 + ends[1]];
                    *messages += 1;
                    *blocks += message.blocks();
                }
            }
        }
        [1, 2, 3, 5, 6, 7].map(|ends| counts[ends]).into()
    }

    #[test]
    fn one_message_goes_from_node_to_node() {
        assert_eq!(traffic(&ALLTOALL), [(1, 6), (1, 6), (1, 6), (1, 4), (1, 6), (1, 4)]);
        assert_eq!(traffic(&ALLGATHER), [(1, 3), (1, 3), (1, 2), (1, 2), (1, 2), (1, 2)]);
    }

    #[test]
    fn different_ranks_serve_different_nodes() {
        let nodes = problem().nodes;
        assert_eq!([1, 2].map(|other| carrier(&nodes, 0, other)), [1, 2]);
        assert_eq!([0, 2].map(|other| carrier(&nodes, 1, other)), [3, 4]);
    }
}
