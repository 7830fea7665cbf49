//! Simulates the time of a collective on a machine: carries out the schedules of all ranks without data.
//!
//! Each rank is a program of posts, waits and processor work. The posts of all ranks are matched; then the
//! messages travel in the order of time through the ports of ranks or nodes. Flags need no port. Where all
//! ranks do the same, those of the first nodes stand for the others.

#[cfg(test)]
mod alike;
mod bounds;
mod chain;
mod charge;
mod events;
mod instant;
mod job;
mod least;
mod network;
mod program;
mod queue;
mod signals;
mod sizes;
mod symmetry;
#[cfg(test)]
mod tests;
mod timeline;

pub use bounds::LOWER_BOUNDS;
pub use charge::{Charge, Charged, Level};
pub use instant::Explanation;
pub use job::Simulation;
pub use timeline::{Activity, Span, Timeline};

use super::machine::Machine;
use crate::algorithms::{Algorithm, Collective, Problem, Reason};
use std::fmt;

/// The most sends, receives and flags (raised or awaited) of a simulation, which bounds its memory to some 4
/// GiB.
pub const MOST_POSTS: usize = 1 << 25;

/// The most ranks of a timeline: nobody could look at more.
pub const MOST_RANKS_IN_TIMELINE: usize = 1 << 10;

/// The longest vectors and blocks that are priced. Beyond, the bytes of many ranks together could not be
/// counted.
pub const MOST_BYTES: usize = 1 << if usize::BITS < u64::BITS { 22 } else { 44 };

/// What a collective costs on a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// When each rank is done, in seconds; see [`Prediction::of_rank`]. Where ranks are alike, only those of
    /// the first one or two nodes, which stand for all.
    pub ranks: Vec<f64>,
    /// When the last of the ranks has ended its first wait, its second and so on, in seconds.
    pub rounds: Vec<f64>,
    /// What travels within nodes.
    pub within: Traffic,
    /// What travels between nodes.
    pub between: Traffic,
    /// What passes through shared memory: waits for flags and slots, and bytes that ranks read in slots of
    /// others.
    pub shared: Traffic,
    /// What a rank sends, or receives if that is more; each number is a separate maximum over the ranks.
    pub busiest: Traffic,
}

/// Messages and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Traffic {
    pub messages: u64,
    /// Bytes of all messages together.
    pub bytes: f64,
}

impl Prediction {
    /// When all ranks are done, in seconds.
    pub fn time(&self) -> f64 {
        self.ranks.iter().copied().fold(0.0, f64::max)
    }

    /// The mean of the times at which ranks are done, in seconds.
    pub fn mean_time(&self) -> f64 {
        self.ranks.iter().sum::<f64>() / self.ranks.len() as f64
    }

    /// When a rank is done, in seconds.
    pub fn of_rank(&self, rank: usize) -> f64 {
        self.ranks[rank % self.ranks.len()]
    }
}

/// The progress of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub stage: Stage,
    /// How many ranks, or posts, are done in this stage.
    pub done: usize,
    /// How many ranks, or posts, there are in this stage.
    pub total: usize,
}

/// The stages of a simulation, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Writing the programs of the ranks.
    Programs,
    /// Messages travel.
    Messages,
}

/// Why a collective cannot be priced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimulationError {
    /// The algorithm cannot serve such a call.
    DoesNotServe(Reason),
    /// The algorithm calls other collectives. It costs what these cost, by whatever algorithms serve them.
    CostsWhatItCalls,
    /// The ranks together have more than [`MOST_POSTS`] sends, receives and flags, and are not alike.
    TooManyPosts { size: usize },
    /// More than [`MOST_RANKS_IN_TIMELINE`].
    TooManyRanks(usize),
    /// More than [`MOST_BYTES`].
    TooManyBytes(usize),
    /// The simulated time exceeds the limit that the caller set.
    TooSlow,
    /// A message is not expected, does not come, or has another length.
    Unmatched {
        /// The rank that sends or should.
        source: usize,
        /// The rank that receives or should.
        target: usize,
    },
    /// A rank waits forever.
    Deadlock { rank: usize },
}

impl fmt::Display for SimulationError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SimulationError::DoesNotServe(reason) => write!(formatter, "it cannot serve this: {reason}"),
            SimulationError::CostsWhatItCalls => formatter
                .write_str("it has no price of its own: it costs what the collectives do that it calls"),
            SimulationError::TooManyPosts { size } => write!(
                formatter,
                "this is too large to be simulated: the {size} ranks have more than {MOST_POSTS} sends, receives and flags"
            ),
            SimulationError::TooManyRanks(ranks) => write!(
                formatter,
                "{ranks} ranks are too many for a timeline; it shows at most {MOST_RANKS_IN_TIMELINE}"
            ),
            SimulationError::TooManyBytes(bytes) => {
                write!(formatter, "{bytes} bytes are too many to be priced; at most {MOST_BYTES} are")
            }
            SimulationError::TooSlow => formatter.write_str("it takes longer than was asked for"),
            SimulationError::Unmatched { source, target } => {
                write!(formatter, "the sends of rank {source} and the receives of rank {target} do not match")
            }
            SimulationError::Deadlock { rank } => write!(formatter, "rank {rank} waits forever"),
        }
    }
}

impl std::error::Error for SimulationError {}

/// Predicts what an algorithm costs on a machine, as [`Simulation::predict`] does; for several lengths, make a
/// [`Simulation`] once.
pub fn simulate(
    collective: Collective,
    algorithm: &'static Algorithm,
    problem: &Problem,
    bytes: usize,
    machine: &Machine,
) -> Result<Prediction, SimulationError> {
    Simulation::new(collective, algorithm, problem, machine)?.predict(bytes)
}
