//! An algorithm on a machine, from its schedules to its price.

use super::events::Bytes;
use super::instant::{Causes, Explanation};
use super::network::Network;
use super::program::{Compiler, Program, go_with_lengths, slot_bounds};
use super::sizes::{Lengths, Sizes};
use super::symmetry::{MOST_UNITS, Symmetry};
use super::timeline::{Records, Timeline};
use super::{
    MOST_BYTES, MOST_POSTS, MOST_RANKS_IN_TIMELINE, Prediction, Progress, SimulationError, Stage, events,
};
use crate::algorithms::{Algorithm, Collective, Cut, Problem, Reason, Requirement};
use crate::cost::machine::{Machine, Port};
use crate::engine::SlotBounds;
use crate::random::Random;
use crate::schedule::{Schedule, SlotKind};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// On at most so many ranks, all ranks are simulated, with the exact lengths of their blocks: that is quick.
const FEW_RANKS: usize = 32;

/// By default, programs of calls with at most so many sends and receives are kept.
const MOST_POSTS_KEPT: usize = 1 << 17;

/// On more ranks, the last node may be taken to be as full as the others, and all ranks to copy as much.
const MANY_EXACT_RANKS: usize = 256;

/// On more ranks, all may be taken to wait for their messages in the same order.
pub(super) const MANY_ORDERED_RANKS: usize = 1 << 12;

/// With more programs than this, a sample is checked before all are written: they may be too long.
const MANY_RANKS: usize = 1 << 10;

/// How many ranks of a node are sampled besides the first.
const SAMPLED_OTHERS: usize = 5;

/// What an algorithm does on a machine, for vectors and blocks of any length.
pub struct Simulation {
    /// The collective that is called, one of the algorithm's. It decides what bytes are counted.
    pub(super) collective: Collective,
    algorithm: &'static Algorithm,
    pub(super) problem: Problem,
    /// The most bytes of a block in its slot, if limited.
    stripe: Option<usize>,
    /// With the parameters for a job of so many ranks.
    pub(super) machine: Machine,
    /// Whether nodes hold `ranks_per_node` consecutive ranks each.
    is_block_placed: bool,
    /// How many blocks a schedule cuts vectors into.
    blocks: usize,
    /// The most blocks in a buffer of a rank.
    most_blocks: usize,
    /// How many slots each rank shares.
    slots: usize,
    /// What the slots hold.
    slot_kind: SlotKind,
    /// The ranks that stand for all, if any; found on first use.
    symmetry: OnceLock<Option<Symmetry>>,
    /// Programs that were kept: those for equal blocks of any length, and the last ones for other lengths.
    known: Vec<(Lengths, Network)>,
    /// Programs of calls with more sends and receives are written again for each call.
    most_kept: usize,
}

impl Simulation {
    /// Puts ranks on the nodes of the problem if it has any, otherwise where the machine places them.
    pub fn new(
        collective: Collective,
        algorithm: &'static Algorithm,
        problem: &Problem,
        machine: &Machine,
    ) -> Result<Self, SimulationError> {
        assert!(algorithm.performs(collective), "{} is no {}", algorithm.name, collective.name());
        algorithm.serves(problem.size, problem.remote, true).map_err(SimulationError::DoesNotServe)?;
        if algorithm.is_mock_up() {
            return Err(SimulationError::CostsWhatItCalls);
        }
        let placed = machine.nodes(problem.size);
        let is_block_placed = problem.nodes.is_empty() || problem.nodes == placed;
        let nodes = if problem.nodes.is_empty() { placed } else { problem.nodes.clone() };
        let is_one_node = nodes.number() == 1;
        if algorithm.requires.contains(&Requirement::OneNode) && !is_one_node {
            return Err(SimulationError::DoesNotServe(Reason::Unmet(Requirement::OneNode)));
        }
        let copies_singly = machine.shared().single_copy_time.is_some();
        if algorithm.requires.contains(&Requirement::SingleCopy) && !copies_singly {
            return Err(SimulationError::DoesNotServe(Reason::Unmet(Requirement::SingleCopy)));
        }
        let (size, problem) = (problem.size, Problem { nodes, ..problem.clone() });
        let Schedule { blocks, slots, slot_kind, .. } = algorithm.program(&problem, 0);
        let most_blocks = |rank| {
            let sent = collective.send_blocks(&problem, rank, blocks).len();
            sent.max(collective.recv_blocks(&problem, rank, blocks).len())
        };
        Ok(Simulation {
            collective,
            algorithm,
            most_blocks: (0..size).map(most_blocks).max().unwrap_or(0),
            problem,
            stripe: None,
            machine: machine.of_job(size),
            is_block_placed,
            blocks,
            slots,
            slot_kind,
            symmetry: OnceLock::new(),
            known: Vec::new(),
            most_kept: MOST_POSTS_KEPT,
        })
    }

    /// Predicts what the algorithm costs. `bytes` are those of the collective's
    /// [`Measure`]; where it has none, of each block.
    ///
    /// Vectors are cut as the engine cuts them, into blocks that differ by a byte at most. But with more than
    /// a few ranks, all blocks have the mean length, which is wrong by less than a byte. Then blocks of less
    /// than a byte are sent, although the engine would not send the empty ones among them.
    pub fn predict(&mut self, bytes: usize) -> Result<Prediction, SimulationError> {
        self.predict_observed(bytes, &mut |_| {})
    }

    /// As [`Simulation::predict`], with a limit in seconds: a simulation beyond it ends early with [`SimulationError::TooSlow`].
    pub fn predict_within(&mut self, bytes: usize, limit: f64) -> Result<Prediction, SimulationError> {
        self.predict_with(bytes, limit, &mut |_| {})
    }

    /// As [`Simulation::predict`], and calls `observe` now and then with the progress.
    pub fn predict_observed(
        &mut self,
        bytes: usize,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Prediction, SimulationError> {
        self.predict_with(bytes, f64::INFINITY, observe)
    }

    fn predict_with(
        &mut self,
        bytes: usize,
        limit: f64,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Prediction, SimulationError> {
        if bytes > MOST_BYTES {
            return Err(SimulationError::TooManyBytes(bytes));
        }
        let (lengths, bytes) = self.lengths_and_bytes(bytes);
        let network = self.known_network(lengths, observe)?;
        let prediction = events::run(&network, bytes, &self.machine, limit, observe);
        self.keep(lengths, network);
        prediction
    }

    /// Returns what the algorithm costs, and what its time is made of.
    pub fn explain(&mut self, bytes: usize) -> Result<Explanation, SimulationError> {
        if bytes > MOST_BYTES {
            return Err(SimulationError::TooManyBytes(bytes));
        }
        let (lengths, bytes) = self.lengths_and_bytes(bytes);
        let network = self.known_network(lengths, &mut |_| {})?;
        let mut causes = Causes::none();
        let explained =
            events::run_recorded(&network, bytes, &self.machine, f64::INFINITY, &mut |_| {}, &mut causes);
        self.keep(lengths, network);
        let (prediction, ends) = explained?;
        Ok(Explanation { prediction, causes, ends })
    }

    /// Replaces the machine by one with as many ranks on a node. What takes no time on one of the two must
    /// not take any on the other, as programs leave it out.
    pub fn on(&mut self, machine: &Machine) -> &mut Self {
        self.machine = machine.of_job(self.size());
        self
    }

    /// Limits the bytes of a block in its slot at a time:
    /// [`Parameters::stripe`](crate::selection::Parameters::stripe).
    pub fn in_stripes(self, stripe: Option<usize>) -> Self {
        Simulation { stripe, ..self }
    }

    /// Keeps the programs of calls with up to `posts` sends and receives. Later calls then take a quarter of
    /// the time. Each send or receive takes about 100 bytes.
    pub fn keeping(self, posts: usize) -> Self {
        Simulation { most_kept: posts, ..self }
    }

    /// Returns about how many sends, receives and flags are simulated for a call.
    pub fn posts(&self, bytes: usize) -> usize {
        let ranks = self.symmetry().map_or(self.size(), Symmetry::period);
        let lengths = self.lengths_and_bytes(bytes.min(MOST_BYTES)).0;
        ranks * self.typical_posts(&self.compiler(lengths), ranks)
    }

    /// Returns the bytes of the call in the rank that has most of them.
    fn held(&self, bytes: usize) -> f64 {
        let parts = Sizes::parts(self.collective, &self.problem, self.blocks);
        bytes as f64 * self.most_blocks as f64 / parts as f64
    }

    /// Returns the lengths of blocks for which the programs of a call are written, and the call's bytes.
    pub(super) fn lengths_and_bytes(&self, bytes: usize) -> (Lengths, Bytes) {
        let parts = Sizes::parts(self.collective, &self.problem, self.blocks);
        let held = self.held(bytes);
        let is_even = bytes.is_multiple_of(parts) || self.has_mean_blocks();
        let block = bytes as f64 / parts as f64;
        if bytes > 0 && is_even && !self.is_in_parts(bytes.div_ceil(parts)) {
            return (Lengths::AnyOne, Bytes { block, held });
        }
        if let Some(model) = self.block_cut_alike(bytes, parts) {
            return (Lengths::AnyLike(model), Bytes { block, held });
        }
        (self.lengths(bytes), Bytes { block: 1.0, held })
    }

    /// Returns the length of the shortest blocks that pass slots in as many stripes as those of a call:
    /// programs for them serve the call. `None` unless all blocks are equal and their lengths powers of two,
    /// which multiply amounts without rounding.
    fn block_cut_alike(&self, bytes: usize, parts: usize) -> Option<usize> {
        let whole = bytes.div_ceil(parts);
        let is_exact = whole == 1 || (bytes.is_multiple_of(parts) && whole.is_power_of_two());
        if bytes == 0 || self.slots == 0 || !self.has_mean_blocks() || !is_exact {
            return None;
        }
        let cut = |block: usize| {
            let bounds = slot_bounds(self.slots, self.stripe, block);
            let (step, slots) = bounds.cut((self.slots, self.slot_kind), block, 1);
            block.is_multiple_of(step).then_some((block / step, slots.kind(), self.follows_lengths(block)))
        };
        let wanted = cut(whole)?;
        let halves = std::iter::successors(Some(whole), |block| Some(block / 2).filter(|half| *half > 0));
        halves.take_while(|&block| cut(block) == Some(wanted)).last()
    }

    /// Keeps the programs for later calls, unless they have too many posts.
    fn keep(&mut self, lengths: Lengths, network: Network) {
        if network.ends.len() <= self.most_kept {
            self.known.push((lengths, network));
        }
    }

    /// Takes the programs for such lengths out of those that were kept, or writes them.
    fn known_network(
        &mut self,
        lengths: Lengths,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Network, SimulationError> {
        if let Some(position) = self.known.iter().position(|known| known.0 == lengths) {
            return Ok(self.known.swap_remove(position).1);
        }
        let is_small = |network: &Network| network.ends.len() <= MOST_POSTS_KEPT;
        self.known.retain(|(lengths, network)| *lengths == Lengths::AnyOne && is_small(network));
        self.network(self.symmetry(), lengths, observe)
    }

    /// Whether blocks of so many bytes pass slots in pieces, or after their lengths. Their length then decides what the
    /// programs do.
    fn is_in_parts(&self, block_bytes: usize) -> bool {
        let bounds = SlotBounds { stripe: self.stripe, ..SlotBounds::DEFAULT };
        let are_cut = self.slots > 0 && self.slot_kind != SlotKind::Lent;
        self.follows_lengths(block_bytes) || are_cut && block_bytes > bounds.longest_stripe(self.slots)
    }

    /// Whether blocks of so many bytes pass slots in a second stage, after their lengths.
    fn follows_lengths(&self, block_bytes: usize) -> bool {
        let are_exchanged = self.algorithm.requires.contains(&Requirement::LongestBlock);
        self.slots > 0 && are_exchanged && !go_with_lengths(self.slots, self.stripe, block_bytes)
    }

    fn lengths(&self, bytes: usize) -> Lengths {
        if self.has_mean_blocks() { Lengths::Mean(bytes) } else { Lengths::Of(bytes) }
    }

    fn has_mean_blocks(&self) -> bool {
        self.size() > FEW_RANKS
    }

    /// Returns what each rank does when, for the bytes of [`Simulation::predict`]. Simulates all ranks, even
    /// if they do the same. Fails beyond [`MOST_RANKS_IN_TIMELINE`].
    pub fn timeline(&self, bytes: usize) -> Result<Timeline, SimulationError> {
        if self.size() > MOST_RANKS_IN_TIMELINE {
            return Err(SimulationError::TooManyRanks(self.size()));
        }
        if bytes > MOST_BYTES {
            return Err(SimulationError::TooManyBytes(bytes));
        }
        let network = self.network(None, self.lengths(bytes), &mut |_| {})?;
        let mut records = Records::of(&network);
        let bytes = Bytes { block: 1.0, held: self.held(bytes) };
        let (prediction, _) =
            events::run_recorded(&network, bytes, &self.machine, f64::INFINITY, &mut |_| {}, &mut records)?;
        Ok(records.timeline(&network, &prediction))
    }

    /// Replaces the ranks that stand for all.
    #[cfg(test)]
    pub(super) fn with_symmetry(&mut self, symmetry: Option<Symmetry>) -> &mut Self {
        (self.symmetry, self.known) = (symmetry.into(), Vec::new());
        self
    }

    pub(super) fn size(&self) -> usize {
        self.problem.size
    }

    /// Returns the ranks whose programs stand for all; `None` on few ranks, where they are not sought.
    pub(super) fn symmetry(&self) -> Option<Symmetry> {
        *self.symmetry.get_or_init(|| self.has_mean_blocks().then(|| self.find_symmetry()).flatten())
    }

    /// Returns the ranks whose programs stand for all, if they do. A symmetry of few ranks is one of
    /// whole nodes too, which share ports.
    pub(super) fn find_symmetry(&self) -> Option<Symmetry> {
        let compiler = self.compiler(Lengths::AnyOne);
        let known = RefCell::new(BTreeMap::new());
        let program = |rank| known.borrow_mut().entry(rank).or_insert_with(|| compiler.program(rank)).clone();
        let alike = |simplify| self.symmetries().find(|symmetry| symmetry.holds(program, simplify));
        let are_many = self.size() > MANY_EXACT_RANKS;
        let are_very_many = self.size() > MANY_ORDERED_RANKS;
        // On many ranks, the blocks of some messages wrap around to block 0, so that some ranks pack them:
        // one copy more or less.
        let symmetry = alike(|program| program)
            .or_else(|| are_many.then(|| alike(Program::without_work)).flatten())
            .or_else(|| are_very_many.then(|| alike(Program::without_order)).flatten())?;
        let coarser = symmetry.coarser(self.ranks_sharing_ports())?;
        // A last node that is not full does not affect algorithms without nodes, and matters little on many.
        let is_close = are_many && !self.algorithm.takes_nodes();
        Some(coarser).filter(|_| coarser.is_exact() || is_close)
    }

    /// Returns the possible symmetries. Rooted collectives have none: the root does what no other rank does.
    /// Nor have topologies: they may be irregular anywhere, so a sample shows nothing.
    pub(super) fn symmetries(&self) -> impl Iterator<Item = Symmetry> {
        let collective = self.collective;
        let is_sampled = !collective.is_rooted() && collective.cut() != Cut::Edges;
        let may_be = self.is_block_placed && self.problem.remote == 0 && is_sampled;
        // As many ranks as one acts for, and as many nodes if the algorithm takes nodes.
        let node =
            Some(self.machine.ranks_per_node).filter(|&ranks| ranks > 2 && self.algorithm.takes_nodes());
        let numbers = (0..).map(|exponent| 1 << exponent).take_while(|&number| number <= MOST_UNITS);
        let periods = [1]
            .into_iter()
            .chain(node)
            .flat_map(move |unit| numbers.clone().map(move |number| number * unit));
        let periods = periods.filter(move |_| may_be);
        periods.flat_map(|period| Symmetry::of_period(self.size(), period))
    }

    fn ranks_sharing_ports(&self) -> usize {
        let Machine { within, ranks_per_node, .. } = self.machine;
        let is_one_node = self.size() <= ranks_per_node;
        let shares_memory =
            !within.node_byte_time.is_none() || !self.machine.shared().node_byte_time.is_none();
        let shares_nothing = is_one_node && within.port != Port::Node && !shares_memory;
        if shares_nothing { 1 } else { ranks_per_node }
    }

    /// Returns what writes programs for calls with such blocks.
    pub(super) fn compiler(&self, lengths: Lengths) -> Compiler<'_> {
        let Simulation { collective, algorithm, ref problem, stripe, ref machine, .. } = *self;
        Compiler { collective, algorithm, problem, stripe, lengths, machine }
    }

    /// Returns the matched programs of the ranks that stand for all; without a symmetry, of all ranks.
    fn network(
        &self,
        symmetry: Option<Symmetry>,
        lengths: Lengths,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Network, SimulationError> {
        let symmetry = symmetry.unwrap_or(Symmetry::none(self.size()));
        let programs = self.programs(&self.compiler(lengths), symmetry.period(), observe)?;
        Network::new(programs, symmetry, &self.problem.nodes, self.machine.groups.as_ref())
    }

    /// Writes the programs of the first so many ranks.
    fn programs(
        &self,
        compiler: &Compiler,
        ranks: usize,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Program>, SimulationError> {
        let mut programs = Vec::with_capacity(ranks);
        let mut posts = 0;
        for rank in 0..ranks {
            observe(Progress { stage: Stage::Programs, done: rank, total: ranks });
            let program = compiler.program(rank);
            posts += program.posts_and_signals();
            // Rejects a job that is too large before all its programs are written.
            let is_unlikely_to_fit = rank == 0
                && (ranks > MANY_RANKS || posts.saturating_mul(ranks) > MOST_POSTS)
                && self.typical_posts(compiler, ranks).saturating_mul(ranks) > MOST_POSTS;
            if is_unlikely_to_fit || posts > MOST_POSTS {
                return Err(SimulationError::TooManyPosts { size: self.size() });
            }
            programs.push(program);
        }
        Ok(programs)
    }

    /// Returns about how many sends, receives and signals one of the first so many ranks has. On some node, the first rank counts as
    /// what it is, which may lead the node; a sample stands for the others.
    fn typical_posts(&self, compiler: &Compiler, ranks: usize) -> usize {
        let mut random = Random(ranks as u64);
        let nodes = &self.problem.nodes;
        let node = nodes.place(random.below(ranks)).node;
        let members: Vec<usize> = nodes.members(node).filter(|&rank| rank < ranks).collect();
        let (first, others) = members.split_first().expect("the rank is on its node");
        let posts = |rank: usize| compiler.program(rank).posts_and_signals();
        let sampled =
            (0..SAMPLED_OTHERS.min(others.len())).map(|_| posts(others[random.below(others.len())]));
        let mut sampled: Vec<usize> = sampled.collect();
        sampled.sort_unstable();
        let median = sampled.get(sampled.len() / 2).copied().unwrap_or(0);
        (posts(*first) + others.len() * median).div_ceil(members.len())
    }
}
