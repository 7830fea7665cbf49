//! The posts of all ranks, each matched with the post at its other end.

use super::program::{Direction, Post, Program};
use super::signals::Signals;
use super::sizes::Amount;
use super::symmetry::Symmetry;
use super::{Prediction, SimulationError, Traffic};
use crate::algorithms::{Nodes, Place};
use crate::cost::machine::{Company, Groups};
use std::collections::HashMap;

/// The programs of all ranks, or of those that stand for all, with their posts matched and numbered rank by rank.
pub struct Network {
    /// The programs, without their posts and signals.
    pub programs: Vec<Program>,
    /// The number of each rank's first post, then the number of all posts.
    pub first: Vec<usize>,
    /// The posts, by number.
    pub ends: Vec<End>,
    /// Properties that many posts have in common.
    pub kinds: Vec<PostKind>,
    /// Flags and ends of stripes within nodes.
    pub signals: Signals,
    pub places: Vec<RankPosition>,
    /// How many ranks there are, including those for which others stand.
    size: usize,
}

/// A post, which is one end of a message.
#[derive(Clone, Copy, Debug)]
pub struct End {
    /// Position in [`Network::kinds`].
    pub kind: u32,
    /// Number of the post at the other end, or of the one that stands for it.
    pub partner: u32,
    /// The rank whose post this is.
    pub rank: u32,
    /// The first of the rank's waits that waits for it; `u32::MAX` if none does.
    pub wait: u32,
}

/// What decides how long a post takes.
#[derive(Clone, Copy, Debug)]
pub struct PostKind {
    pub bytes: Amount,
    pub direction: Direction,
    /// Whether the message stays on a node.
    pub is_within: bool,
    /// Whether it is a send to the rank to which the rank's send before was.
    pub repeats: bool,
    /// What both ranks wait for together with it; [`Company::Others`] if they wait for different things.
    pub company: Company,
    /// The fraction of the messages it stands for that go from one group of nodes to another.
    pub crossing: f32,
}

/// Where a rank is.
#[derive(Clone, Copy, Debug)]
pub struct RankPosition {
    /// Number of its node, from 0 in the order of the ranks.
    pub node: u32,
    /// Its number on the node.
    pub local: u32,
}

impl Network {
    /// Matches the posts: between two ranks, the k-th send meets the k-th receive.
    pub fn new(
        mut programs: Vec<Program>,
        symmetry: Symmetry,
        nodes: &Nodes,
        groups: Option<&Groups>,
    ) -> Result<Network, SimulationError> {
        let mut crossings = Crossings::new(symmetry, nodes, groups);
        let first: Vec<usize> = [0]
            .into_iter()
            .chain(programs.iter().scan(0, |posts, program| {
                *posts += program.posts.len();
                Some(*posts)
            }))
            .collect();
        let of_rank = |(rank, program): (usize, &Program)| {
            program.posts.iter().map(move |post| (rank, *post)).collect::<Vec<_>>()
        };
        let posts: Vec<(usize, Post)> = programs.iter().enumerate().flat_map(of_rank).collect();
        let partners = partners(&programs, symmetry, &posts)?;
        let mut kinds = Kinds::default();
        let end = |(&(rank, post), &partner): (&(usize, Post), &u32)| End {
            kind: kinds.number(PostKind {
                bytes: post.bytes,
                direction: post.direction,
                is_within: nodes.of(rank) == nodes.of(post.peer as usize),
                repeats: post.repeats,
                company: shared_company(post.company, posts[partner as usize].1.company),
                crossing: crossings.of(rank, post.peer as usize),
            }),
            partner,
            rank: rank as u32,
            wait: post.wait,
        };
        let ends = posts.iter().zip(&partners).map(end).collect();
        let signals = Signals::new(&programs, symmetry, nodes)?;
        for program in &mut programs {
            (program.posts, program.given, program.expected) = Default::default();
        }
        let place = |rank| {
            let Place { node, local } = nodes.place(rank);
            RankPosition { node: node as u32, local: local as u32 }
        };
        let places = (0..programs.len()).map(place).collect();
        Ok(Network { programs, first, ends, kinds: kinds.all, signals, places, size: symmetry.size() })
    }

    pub fn kind(&self, end: &End) -> &PostKind {
        &self.kinds[end.kind as usize]
    }

    /// Returns a prediction that has only the traffic, with blocks of so many bytes where programs leave the
    /// length open.
    pub fn traffic(&self, block_bytes: f64) -> Prediction {
        let mut within = Traffic::default();
        let mut between = Traffic::default();
        let mut busiest = Traffic::default();
        for posts in self.first.windows(2) {
            let [mut sent, mut received] = [Traffic::default(); 2];
            for end in &self.ends[posts[0]..posts[1]] {
                let kind = self.kind(end);
                let bytes = kind.bytes.with(block_bytes);
                match kind.direction {
                    Direction::Send => {
                        sent.add(bytes);
                        if kind.is_within { &mut within } else { &mut between }.add(bytes);
                    }
                    Direction::Receive => received.add(bytes),
                }
            }
            for traffic in [sent, received] {
                busiest.messages = busiest.messages.max(traffic.messages);
                busiest.bytes = busiest.bytes.max(traffic.bytes);
            }
        }
        let shared = Traffic {
            messages: self.signals.expectations() as u64,
            bytes: self.programs.iter().map(|program| program.read.with(block_bytes)).sum(),
        };
        let [within, between, shared] =
            [within, between, shared].map(|traffic| traffic.of_all(self.size, self.programs.len()));
        Prediction { ranks: Vec::new(), rounds: Vec::new(), within, between, shared, busiest }
    }
}

impl Traffic {
    fn add(&mut self, bytes: f64) {
        self.messages += 1;
        self.bytes += bytes;
    }

    /// Returns the traffic of `ranks` ranks, for which `standing` ranks stand.
    fn of_all(self, ranks: usize, standing: usize) -> Traffic {
        Traffic {
            messages: self.messages * ranks as u64 / standing as u64,
            bytes: self.bytes * (ranks as f64 / standing as f64),
        }
    }
}

fn shared_company(one: Company, other: Company) -> Company {
    if one == other { one } else { Company::Others }
}

/// Kinds of posts, each once.
#[derive(Default)]
struct Kinds {
    all: Vec<PostKind>,
    numbers: HashMap<(Amount, Direction, bool, bool, Company, u32), u32>,
}

impl Kinds {
    fn number(&mut self, kind: PostKind) -> u32 {
        let PostKind { bytes, direction, is_within, repeats, company, crossing } = kind;
        let key = (bytes, direction, is_within, repeats, company, crossing.to_bits());
        *self.numbers.entry(key).or_insert_with(|| {
            self.all.push(kind);
            self.all.len() as u32 - 1
        })
    }
}

/// Counts the messages that go from one group of nodes to another.
pub struct Crossings<'job> {
    symmetry: Symmetry,
    nodes: &'job Nodes,
    groups: Option<&'job Groups>,
    known: HashMap<(usize, usize), f32>,
}

impl<'job> Crossings<'job> {
    pub fn new(symmetry: Symmetry, nodes: &'job Nodes, groups: Option<&'job Groups>) -> Self {
        Crossings { symmetry, nodes, groups, known: HashMap::new() }
    }

    /// As [`Crossings::of`], for a rank for which another one may stand.
    pub fn of_any(&mut self, rank: usize, peer: usize) -> f32 {
        self.of(self.symmetry.representative(rank), self.symmetry.seen_from(rank, peer))
    }

    /// Returns the crossing fraction of the messages between a rank and its peer and between those for which
    /// they stand.
    fn of(&mut self, rank: usize, peer: usize) -> f32 {
        let Crossings { symmetry, nodes, groups, ref mut known } = *self;
        let Some(groups) = groups else { return 0.0 };
        let group = |rank: usize| groups.of(nodes.place(rank).node);
        if symmetry.period() == symmetry.size() {
            return f32::from(u8::from(group(rank) != group(peer)));
        }
        // Where whole nodes stand for all, the nodes of the two ranks decide.
        let is_of_nodes =
            symmetry.is_exact() && nodes.of(symmetry.period() - 1) != nodes.of(symmetry.period());
        let key = if is_of_nodes { (nodes.place(rank).node, nodes.place(peer).node) } else { (rank, peer) };
        *known.entry(key).or_insert_with(|| {
            let pairs = symmetry.moved(rank, peer);
            let (crossing, all) = pairs.fold((0, 0), |(crossing, all), (rank, peer)| {
                (crossing + usize::from(group(rank) != group(peer)), all + 1)
            });
            crossing as f32 / all as f32
        })
    }
}

/// The receiver and the sender of a message. The receiver is one that stands for others.
type Pair = (u32, u32);

/// Returns the number of the post at the other end of each post.
fn partners(
    programs: &[Program],
    symmetry: Symmetry,
    posts: &[(usize, Post)],
) -> Result<Vec<u32>, SimulationError> {
    let of = |direction| matching_order(programs, symmetry, direction);
    let (sends, receives) = (of(Direction::Send), of(Direction::Receive));
    let mut partners = vec![u32::MAX; posts.len()];
    for position in 0..sends.len().max(receives.len()) {
        let (send, receive) = match (sends.get(position), receives.get(position)) {
            (Some(send), Some(receive)) if send.0 == receive.0 => (send.1, receive.1),
            (send, receive) => {
                return Err(unmatched(send.map(|send| send.0), receive.map(|receive| receive.0)));
            }
        };
        if posts[send as usize].1.bytes != posts[receive as usize].1.bytes {
            return Err(unmatched(Some(sends[position].0), None));
        }
        (partners[send as usize], partners[receive as usize]) = (receive, send);
    }
    Ok(partners)
}

/// Returns the posts of a direction by pair, and those of a pair in the order of the program.
fn matching_order(programs: &[Program], symmetry: Symmetry, direction: Direction) -> Vec<(Pair, u32)> {
    let mut posts = Vec::new();
    let mut number = 0;
    for (rank, program) in programs.iter().enumerate() {
        for post in &program.posts {
            let peer = post.peer as usize;
            let pair = match direction {
                Direction::Receive => (rank, peer),
                Direction::Send => symmetry.seen_by_target(rank, peer),
            };
            if post.direction == direction {
                posts.push(((pair.0 as u32, pair.1 as u32), number));
            }
            number += 1;
        }
    }
    posts.sort_unstable();
    posts
}

/// Returns the error for the first pair whose messages do not match.
fn unmatched(send: Option<Pair>, receive: Option<Pair>) -> SimulationError {
    let pair = send.into_iter().chain(receive).min();
    let (target, source) = pair.expect("one of them is there");
    SimulationError::Unmatched { source: source as usize, target: target as usize }
}
