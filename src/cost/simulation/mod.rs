//! The time that a collective takes on a machine: the schedules of all ranks are carried out without data.
//!
//! Each rank is a program of posts, waits and work of its processor. The posts of all are matched; then the messages
//! travel in the order of time through the ports of ranks or nodes. Where all ranks do the same, those of a node stand for
//! the others.

#[cfg(test)]
mod alike;
mod events;
mod network;
mod program;
mod sizes;
mod symmetry;
#[cfg(test)]
mod tests;

use super::machine::{Machine, Port};
use crate::algorithms::{Algorithm, Cut, Problem, Reason};
use network::Network;
use program::{Compiler, Program};
use std::fmt;
use symmetry::Symmetry;

/// How many sends and receives are simulated at most, which bounds memory to some 2 GiB.
pub const MOST_POSTS: usize = 1 << 25;

/// The longest vectors and blocks that are priced: beyond them bytes could no longer be counted.
pub const MOST_BYTES: usize = 1 << 44;

/// Up to so many ranks are all simulated: it takes no time, and blocks that differ by a byte are told apart.
const FEW_RANKS: usize = 32;

/// The programs of so many ranks are written before it is asked whether they are too long.
const MANY_RANKS: usize = 1 << 10;

/// What a collective costs on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// When each rank is done, in seconds; see [`Prediction::of_rank`]. Where ranks are alike, those of the first one or two
    /// nodes stand for all.
    pub ranks: Vec<f64>,
    /// When the last of the ranks has ended its first wait, its second and so on, in seconds.
    pub rounds: Vec<f64>,
    /// What travels within nodes.
    pub within: Traffic,
    /// What travels between nodes.
    pub between: Traffic,
    /// What a rank sends, or receives if that is more; each number is a maximum over the ranks for itself.
    pub busiest: Traffic,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    /// How many messages.
    pub messages: u64,
    /// Bytes of them all.
    pub bytes: f64,
}

impl Prediction {
    /// When all ranks are done, in seconds.
    pub fn time(&self) -> f64 {
        self.ranks.iter().copied().fold(0.0, f64::max)
    }

    /// When a rank is done, in seconds.
    pub fn of_rank(&self, rank: usize) -> f64 {
        self.ranks[rank % self.ranks.len()]
    }
}

/// How far a simulation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done.
    pub done: usize,
    /// How much there is to do.
    pub total: usize,
}

/// What a simulation does, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The programs of the ranks are written.
    Programs,
    /// Messages travel.
    Messages,
}

/// Why a collective cannot be priced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// The algorithm cannot serve such a call.
    DoesNotServe(Reason),
    /// The ranks together have more than [`MOST_POSTS`] sends and receives, and are not alike.
    TooManyPosts {
        /// Number of ranks.
        size: usize,
    },
    /// More than [`MOST_BYTES`].
    TooManyBytes(usize),
    /// A message is not expected, or does not come.
    Unmatched {
        /// Who sends it or should.
        source: usize,
        /// Who receives it or should.
        target: usize,
    },
    /// A rank waits for ever.
    Deadlock {
        /// The rank.
        rank: usize,
    },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SimulationError::DoesNotServe(reason) => write!(formatter, "it cannot serve this: {reason}"),
            SimulationError::TooManyPosts { size } => write!(
                formatter,
                "this is too large to be simulated: the {size} ranks have more than {MOST_POSTS} sends and receives"
            ),
            SimulationError::TooManyBytes(bytes) => {
                write!(formatter, "{bytes} bytes are too many to be priced; at most {MOST_BYTES} are")
            }
            SimulationError::Unmatched { source, target } => {
                write!(formatter, "the sends of rank {source} and the receives of rank {target} do not match")
            }
            SimulationError::Deadlock { rank } => write!(formatter, "rank {rank} waits for ever"),
        }
    }
}

impl std::error::Error for SimulationError {}

/// Predicts what an algorithm costs on a machine. `bytes` are those of the collective's
/// [`Measure`](crate::selection::Measure); where it has none, of each block.
///
/// The ranks' nodes are those of the problem, if it has any, else as the machine places them.
///
/// Vectors are cut as the engine cuts them, into blocks that differ by a byte at most. But where more than a few ranks do
/// the same, they are given blocks of the mean length: a block's bytes are wrong by less than one, and blocks of less than
/// a byte are sent although some would be empty and stay away.
pub fn simulate(
    algorithm: &Algorithm,
    problem: &Problem,
    bytes: usize,
    machine: &Machine,
) -> Result<Prediction, SimulationError> {
    simulate_observed(algorithm, problem, bytes, machine, &mut |_| {})
}

/// The same, and tells now and then how far it is.
pub fn simulate_observed(
    algorithm: &Algorithm,
    problem: &Problem,
    bytes: usize,
    machine: &Machine,
    observe: &mut dyn FnMut(Progress),
) -> Result<Prediction, SimulationError> {
    let simulation = Simulation::new(algorithm, problem, bytes, machine)?;
    let symmetry = if problem.size <= FEW_RANKS { None } else { simulation.symmetry() };
    simulation.run(symmetry, observe)
}

/// What is to be simulated.
struct Simulation<'job> {
    algorithm: &'job Algorithm,
    problem: Problem,
    bytes: usize,
    machine: &'job Machine,
    /// Whether nodes hold consecutive ranks, as many as the machine says.
    is_block_placed: bool,
}

impl<'job> Simulation<'job> {
    fn new(
        algorithm: &'job Algorithm,
        problem: &Problem,
        bytes: usize,
        machine: &'job Machine,
    ) -> Result<Self, SimulationError> {
        algorithm.serves(problem.size, problem.remote, true).map_err(SimulationError::DoesNotServe)?;
        if bytes > MOST_BYTES {
            return Err(SimulationError::TooManyBytes(bytes));
        }
        let placed = machine.nodes(problem.size);
        let is_block_placed = problem.nodes.is_empty() || problem.nodes == placed;
        let nodes = if problem.nodes.is_empty() { placed } else { problem.nodes.clone() };
        let problem = Problem { nodes, ..problem.clone() };
        Ok(Simulation { algorithm, problem, bytes, machine, is_block_placed })
    }

    fn size(&self) -> usize {
        self.problem.size
    }

    /// Whose programs stand for all, if they do. What holds for single ranks or pairs of them holds for whole nodes, which
    /// share ports.
    fn symmetry(&self) -> Option<Symmetry> {
        let compiler = self.compiler(true);
        let holds = |symmetry: &Symmetry| symmetry.holds(symmetry.sample(), |rank| compiler.program(rank));
        let symmetry = self.symmetries().find(holds)?;
        symmetry.coarser(self.ranks_sharing_ports())
    }

    /// Those that there may be. Where there is a root it does what no other rank does, and a topology may be irregular
    /// anywhere: there a sample shows nothing.
    fn symmetries(&self) -> impl Iterator<Item = Symmetry> {
        let collective = self.algorithm.collective;
        let is_sampled = !collective.is_rooted() && collective.cut() != Cut::Edges;
        let may_be = self.is_block_placed && self.problem.remote == 0 && is_sampled;
        let periods = [1, 2].into_iter().filter(move |_| may_be);
        periods.flat_map(|period| Symmetry::of_period(self.size(), period))
    }

    fn ranks_sharing_ports(&self) -> usize {
        let is_one_node = self.size() <= self.machine.ranks_per_node;
        if is_one_node && self.machine.within.port == Port::Rank { 1 } else { self.machine.ranks_per_node }
    }

    fn compiler(&self, is_mean: bool) -> Compiler<'_> {
        Compiler::new(self.algorithm, &self.problem, self.bytes, self.machine, is_mean)
    }

    /// Simulates the ranks that stand for all, or all.
    fn run(
        &self,
        symmetry: Option<Symmetry>,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Prediction, SimulationError> {
        let compiler = self.compiler(symmetry.is_some());
        let symmetry = symmetry.unwrap_or(Symmetry::none(self.size()));
        let programs = self.programs(&compiler, symmetry.period(), observe)?;
        let network = Network::new(&programs, symmetry, &self.problem.nodes)?;
        events::run(&programs, &network, self.machine, observe)
    }
    /// The programs of the first so many ranks.
    fn programs(
        &self,
        compiler: &Compiler,
        ranks: usize,
        observe: &mut dyn FnMut(Progress),
    ) -> Result<Vec<Program>, SimulationError> {
        let too_many = Err(SimulationError::TooManyPosts { size: self.size() });
        if typical_posts(compiler, ranks) * ranks > MOST_POSTS {
            return too_many;
        }
        let mut programs = Vec::with_capacity(ranks);
        let mut posts = 0;
        for rank in 0..ranks {
            observe(Progress { stage: Stage::Programs, done: rank, total: ranks });
            let program = compiler.program(rank);
            posts += program.posts.len();
            if posts > MOST_POSTS {
                return too_many;
            }
            programs.push(program);
        }
        Ok(programs)
    }
}

/// How many sends and receives a rank has that is not the busiest; 0 for few ranks. It is to find out in time that a job
/// is too large.
fn typical_posts(compiler: &Compiler, ranks: usize) -> usize {
    if ranks <= MANY_RANKS {
        return 0;
    }
    let mut posts = [1, 2, 3, 4, 5].map(|sixth| compiler.program(ranks * sixth / 6).posts.len());
    posts.sort_unstable();
    posts[2]
}
