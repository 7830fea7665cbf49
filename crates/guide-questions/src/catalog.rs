//! The catalog of the guide: collectives, algorithms and machines.

use crate::machine::{self, Preset};
use crate::problem::{control, is_for_one_node};
use crate::words;
use rustcoll::algorithms::description::Field;
use rustcoll::algorithms::{Algorithm, Collective, Reason, Requirement};
use rustcoll::selection::Measure;
use serde::Serialize;
use ts_rs::TS;

/// The collectives, algorithms and machines that the guide can show.
#[derive(Debug, Serialize, TS)]
pub struct Catalog {
    /// The version of rustcoll.
    pub version: String,
    /// All collectives, by name.
    pub collectives: Vec<CollectiveEntry>,
    /// Machines whose parameters are known.
    pub machines: Vec<Preset>,
}

/// A collective and its algorithms.
#[derive(Debug, Serialize, TS)]
pub struct CollectiveEntry {
    pub name: String,
    /// The MPI function, such as `MPI_Allreduce`.
    pub mpi: String,
    pub summary: String,
    pub is_rooted: bool,
    /// Whether the collective applies an operator.
    pub reduces: bool,
    /// What "bytes" means in rules for this collective; none if its rules cannot ask for bytes.
    pub measure: Option<String>,
    /// Whether rules can ask for more if all ranks have their neighbours at the same offsets of a grid.
    pub has_grids: bool,
    /// In the order of the registry.
    pub algorithms: Vec<AlgorithmEntry>,
}

/// An algorithm as the page describes it.
#[derive(Debug, Serialize, TS)]
pub struct AlgorithmEntry {
    pub name: String,
    /// Its names in MPICH and Open MPI.
    pub aliases: Vec<String>,
    /// Where it was first described.
    pub source: String,
    pub summary: String,
    /// When other algorithms are faster; none for algorithms that call other collectives.
    pub loses: Option<String>,
    pub kind: Kind,
    /// Inputs that shape the schedule besides `ranks`, named as in [`crate::problem::ProblemFields`].
    pub controls: Vec<String>,
    /// Requirements of the algorithm, each as the reason for which a call that does not meet it is refused.
    pub refuses: Vec<String>,
    /// Whether the algorithm combines operands in the order of their ranks.
    pub keeps_order: bool,
    /// Whether the algorithm or its problem says which ranks share a node, so that a machine does not.
    pub places_ranks: bool,
}

/// How the ranks of an algorithm communicate.
#[derive(Debug, PartialEq, Eq, Serialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Messages,
    /// Through memory that the ranks of a node share, with messages between nodes.
    Shared,
    /// By calling other collectives.
    Calls,
}

impl Catalog {
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
        CollectiveEntry {
            name: name.into(),
            mpi: format!("MPI_{}{}", name[..1].to_uppercase(), &name[1..]),
            summary: words::of_collective(collective).into(),
            is_rooted: collective.is_rooted(),
            reduces: collective.reduces(),
            measure: described(Measure::of(collective)),
            has_grids: has_grids(collective),
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
            places_ranks: algorithm.takes_nodes() || is_for_one_node(algorithm),
        }
    }
}

/// Whether calls on grids have a measure that calls on other graphs do not have.
pub fn has_grids(collective: Collective) -> bool {
    Measure::on_stencils(collective) != Measure::of(collective)
}

/// Returns a measure in words; none if it is no measure.
pub fn described(measure: Measure) -> Option<String> {
    (measure != Measure::Nothing).then(|| measure.description().into())
}

/// Returns why a call that does not meet a requirement is refused; none if rustcoll meets it itself.
fn refuses(requirement: &Requirement) -> Option<String> {
    let is_seen_to =
        matches!(requirement, Requirement::Nodes | Requirement::BlockLengths | Requirement::LongestBlock);
    (!is_seen_to).then(|| Reason::Unmet(*requirement).to_string())
}
