//! What there is: collectives, algorithms, machines.

use crate::machine::{self, Preset};
use crate::problem::control;
use crate::words;
use rustcoll::algorithms::description::Field;
use rustcoll::algorithms::{Algorithm, Collective, Reason, Requirement};
use rustcoll::selection::Measure;
use serde::Serialize;
use ts_rs::TS;

/// All that the guide knows.
#[derive(Debug, Serialize, TS)]
pub struct Catalog {
    /// The version of rustcoll.
    pub version: String,
    /// All collectives, by name.
    pub collectives: Vec<CollectiveEntry>,
    /// Machines whose parameters are known.
    pub machines: Vec<Preset>,
}

/// A collective.
#[derive(Debug, Serialize, TS)]
pub struct CollectiveEntry {
    /// Its name.
    pub name: String,
    /// Its name in MPI.
    pub mpi: String,
    /// What it does.
    pub summary: String,
    /// Whether one rank is the root.
    pub is_rooted: bool,
    /// Whether an operator is applied.
    pub reduces: bool,
    /// What bytes mean in rules; none, if rules cannot look at bytes.
    pub measure: Option<String>,
    /// Its algorithms, in the order of the registry.
    pub algorithms: Vec<AlgorithmEntry>,
}

/// An algorithm.
#[derive(Debug, Serialize, TS)]
pub struct AlgorithmEntry {
    /// Its name.
    pub name: String,
    /// Its names in MPICH and Open MPI.
    pub aliases: Vec<String>,
    /// Where it was first described.
    pub source: String,
    /// What it does.
    pub summary: String,
    /// When others are faster, if that can be said in a sentence.
    pub loses: Option<String>,
    /// By what ranks communicate.
    pub kind: Kind,
    /// What can be chosen besides the number of ranks, by the names of [`crate::problem::ProblemFields`].
    pub controls: Vec<String>,
    /// What a call must satisfy, each as the reason for which one that does not is refused.
    pub refuses: Vec<String>,
    /// Whether operands are combined in the order of their ranks.
    pub keeps_order: bool,
}

/// By what ranks communicate.
#[derive(Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// By messages.
    Messages,
    /// By memory that the ranks of a node share, and messages between nodes.
    Shared,
    /// By calling other collectives.
    Calls,
}

impl Catalog {
    /// The catalog.
    pub fn new() -> Catalog {
        Catalog {
            version: env!("CARGO_PKG_VERSION").into(),
            collectives: Collective::ALL.into_iter().map(CollectiveEntry::of).collect(),
            machines: machine::presets(),
        }
    }
}

impl Default for Catalog {
    fn default() -> Catalog {
        Catalog::new()
    }
}

impl CollectiveEntry {
    fn of(collective: Collective) -> CollectiveEntry {
        let name = collective.name();
        let measure = Measure::of(collective);
        CollectiveEntry {
            name: name.into(),
            mpi: format!("MPI_{}{}", name[..1].to_uppercase(), &name[1..]),
            summary: words::of_collective(collective).into(),
            is_rooted: collective.is_rooted(),
            reduces: collective.reduces(),
            measure: (measure != Measure::Nothing).then(|| measure.description().into()),
            algorithms: collective.algorithms().map(AlgorithmEntry::of).collect(),
        }
    }
}

impl AlgorithmEntry {
    fn of(algorithm: &'static Algorithm) -> AlgorithmEntry {
        let kind = match algorithm.is_mock_up() {
            true => Kind::Calls,
            false if algorithm.takes_shared_memory() => Kind::Shared,
            false => Kind::Messages,
        };
        let between_groups = algorithm.is_for_two_groups();
        let controls = Field::ALL.into_iter().filter(|&field| algorithm.is_shaped_by(field, between_groups));
        AlgorithmEntry {
            name: algorithm.name.into(),
            aliases: algorithm.aliases.iter().map(|alias| alias.to_string()).collect(),
            source: algorithm.source.into(),
            summary: algorithm.idea.into(),
            loses: (!algorithm.is_mock_up()).then(|| algorithm.avoid_when.into()),
            kind,
            controls: controls.map(|field| control(field.name())).collect(),
            refuses: algorithm.requires.iter().filter_map(refuses).collect(),
            keeps_order: algorithm.keeps_order(),
        }
    }
}

/// For which reason a call is refused that does not satisfy a requirement; none, if that is seen to.
fn refuses(requirement: &Requirement) -> Option<String> {
    let is_seen_to =
        matches!(requirement, Requirement::Nodes | Requirement::BlockLengths | Requirement::LongestBlock);
    (!is_seen_to).then(|| Reason::Unmet(*requirement).to_string())
}
