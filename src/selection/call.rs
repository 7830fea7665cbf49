//! A call, as far as rules may look at it.

use super::measure::Measure;
use crate::algorithms::{Algorithm, Collective, Reason, Requirement, Stencil};

/// What is known of a call when its algorithm is chosen; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// Number of ranks, of both groups together if there are two.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, which is the same for each rank of a group; else 0.
    pub remote: usize,
    /// Bytes, by the collective's [`Measure`]; 0 where there is none.
    pub bytes: usize,
    /// The root, where there is one; of two groups each numbers it otherwise, so it is not known there.
    pub root: Option<usize>,
    /// Whether the operator commutes; true where there is none.
    pub commutative: bool,
    /// Whether the operator is one of MPI's own, if that is known.
    pub predefined: Option<bool>,
    /// Whether `MPI_IN_PLACE` stands for the send buffer, on all ranks.
    pub in_place: bool,
    /// Whether its result must be reproducible.
    pub reproducible: bool,
    /// Whether the ranks of a node may share memory, as far as is known.
    pub shares_memory: bool,
    /// Whether they can copy from each other's own memory, as far as is known.
    pub copies_singly: bool,
    /// Whether other collectives of the communicator can be called on its way, in as much memory as they need.
    pub calls_others: bool,
    /// Whether there are ranks on several nodes; known before it is known on how many.
    pub is_on_several_nodes: bool,
    /// Number of nodes on which there are ranks, if that is known.
    pub nodes: Option<usize>,
    /// The most ranks on one node, if that is known.
    pub ranks_per_node: Option<usize>,
    /// The ranks' neighbours, if all ranks know that they have them at the same offsets of a grid.
    pub neighbourhood: Option<Neighbourhood>,
}

/// What all ranks have in common whose neighbours are at the same offsets of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbourhood {
    /// Number of neighbours of a rank away from borders, besides itself.
    pub neighbours: usize,
    /// Number of dimensions in which there are neighbours.
    pub dimensions: usize,
}

impl From<&Stencil> for Neighbourhood {
    fn from(stencil: &Stencil) -> Neighbourhood {
        Neighbourhood { neighbours: stencil.degree(), dimensions: stencil.dimensions() }
    }
}

impl Call {
    /// A call in one group with a commutative operator of MPI's own, not in place, of which nothing else is known.
    pub fn new(collective: Collective, size: usize, bytes: usize) -> Call {
        Call {
            collective,
            size,
            remote: 0,
            bytes,
            root: None,
            commutative: true,
            predefined: collective.reduces().then_some(true),
            shares_memory: true,
            copies_singly: true,
            calls_others: true,
            in_place: false,
            reproducible: false,
            is_on_several_nodes: false,
            nodes: None,
            ranks_per_node: None,
            neighbourhood: None,
        }
    }

    /// Number of groups, 1 or 2.
    pub fn groups(&self) -> usize {
        if self.remote > 0 { 2 } else { 1 }
    }

    /// Whether all ranks know the bytes.
    pub fn is_measured(&self) -> bool {
        let measure = match () {
            () if self.remote > 0 => Measure::between_groups(self.collective),
            () if self.neighbourhood.is_some() => Measure::on_stencils(self.collective),
            () => Measure::of(self.collective),
        };
        measure != Measure::Nothing
    }

    /// Whether an algorithm can serve it.
    pub fn is_served_by(&self, algorithm: &Algorithm) -> Result<(), Reason> {
        algorithm.serves(self.size, self.remote, self.commutative)?;
        // Ahead of what such a call cannot have, for that is why it cannot.
        if self.reproducible && !algorithm.is_reproducible() {
            return Err(Reason::Irreproducible);
        }
        let is_met = |requirement: &Requirement| match requirement {
            Requirement::OneNode => self.nodes == Some(1),
            Requirement::SharedMemory => self.shares_memory,
            Requirement::SingleCopy => self.copies_singly,
            Requirement::OtherCollectives => self.calls_others,
            Requirement::Predefined => self.predefined == Some(true),
            Requirement::Stencil => self.neighbourhood.is_some(),
            _ => true,
        };
        let unmet = algorithm.requires.iter().find(|requirement| !is_met(requirement));
        unmet.map_or(Ok(()), |unmet| Err(Reason::Unmet(*unmet)))
    }
}
