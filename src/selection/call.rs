//! The properties of a call that rules may look at.

use super::measure::Measure;
use crate::algorithms::{Algorithm, Collective, Cut, Reason, Requirement, Stencil};

/// The known properties of a call when its algorithm is chosen; they are the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    pub collective: Collective,
    /// The number of ranks, in both groups together on an inter-communicator.
    pub size: usize,
    /// The number of ranks in the other group of an inter-communicator; 0 on an intra-communicator. All ranks
    /// of a group have the same value.
    pub remote: usize,
    /// Bytes, by the collective's [`Measure`]; 0 if it has none.
    pub bytes: usize,
    /// Bytes of the longest block; `None` if all blocks are equally long, or not all ranks know their lengths. More than all
    /// bytes together counts as all of them.
    pub longest: Option<usize>,
    /// The root, if there is one. `None` on inter-communicators, because each group numbers the root differently.
    pub root: Option<usize>,
    /// Whether the operator commutes; true if there is no operator.
    pub commutative: bool,
    /// Whether MPI predefines the operator, if this is known.
    pub predefined: Option<bool>,
    /// Whether all ranks pass `MPI_IN_PLACE` as the send buffer.
    pub in_place: bool,
    /// Whether the result must be reproducible.
    pub reproducible: bool,
    /// Whether the ranks of a node may share memory, by what is known so far.
    pub shares_memory: bool,
    /// Whether the ranks of a node can copy from each other's private memory, by what is known so far.
    pub copies_singly: bool,
    /// Whether the algorithm may call other collectives of the communicator, and has the memory that they need.
    pub calls_others: bool,
    /// Whether there are ranks on several nodes. This is known before `nodes` is.
    pub is_on_several_nodes: bool,
    /// The number of nodes that have ranks, if it is known.
    pub nodes: Option<usize>,
    /// The most ranks on one node, if it is known.
    pub ranks_per_node: Option<usize>,
    /// Whether messages between nodes go by TCP, as far as all ranks know.
    pub goes_by_tcp: bool,
    /// Whether each rank knows the neighbours of all ranks of its node.
    pub knows_neighbours_of_node: bool,
    /// The ranks' neighbours, if all ranks know that everyone has them at the same offsets of a grid.
    pub neighbourhood: Option<Neighbourhood>,
}

/// The common properties of ranks whose neighbours are at the same offsets of a grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Neighbourhood {
    /// The number of neighbours of a rank away from borders, without the rank itself.
    pub neighbours: usize,
    /// The number of dimensions in which there are neighbours.
    pub dimensions: usize,
}

impl From<&Stencil> for Neighbourhood {
    fn from(stencil: &Stencil) -> Neighbourhood {
        Neighbourhood { neighbours: stencil.degree(), dimensions: stencil.dimensions() }
    }
}

impl Call {
    /// A call on an intra-communicator with a commutative, predefined operator, not in place. Nothing else is
    /// known of it.
    pub fn new(collective: Collective, size: usize, bytes: usize) -> Call {
        Call {
            collective,
            size,
            remote: 0,
            bytes,
            longest: None,
            root: None,
            commutative: true,
            predefined: collective.reduces().then_some(true),
            shares_memory: true,
            copies_singly: true,
            calls_others: true,
            in_place: false,
            reproducible: false,
            knows_neighbours_of_node: collective.cut() == Cut::Edges,
            is_on_several_nodes: false,
            nodes: None,
            ranks_per_node: None,
            goes_by_tcp: false,
            neighbourhood: None,
        }
    }

    /// Returns the number of groups of the communicator, 1 or 2.
    pub fn groups(&self) -> usize {
        if self.remote > 0 { 2 } else { 1 }
    }

    /// Returns the bytes of the longest block, which may be a fraction if all are equally long. `None` unless blocks may differ and
    /// all ranks know their lengths.
    pub fn longest_block(&self) -> Option<f64> {
        let mean = self.bytes as f64 / self.size as f64;
        let longest = || self.longest.map_or(mean, |longest| mean.max(longest.min(self.bytes) as f64));
        (Measure::of(self.collective) == Measure::AllBlocks && self.is_measured()).then(longest)
    }

    /// Whether all ranks know the call's bytes.
    pub fn is_measured(&self) -> bool {
        let measure = match () {
            () if self.remote > 0 => Measure::between_groups(self.collective),
            () if self.neighbourhood.is_some() => Measure::on_stencils(self.collective),
            () => Measure::of(self.collective),
        };
        measure != Measure::Nothing
    }

    /// Whether all ranks know how long the call is: its bytes, or that it moves none.
    pub fn is_length_known(&self) -> bool {
        self.collective == Collective::Barrier || self.is_measured()
    }

    /// Fails with the reason if an algorithm cannot serve the call.
    pub fn is_served_by(&self, algorithm: &Algorithm) -> Result<(), Reason> {
        algorithm.serves(self.size, self.remote, self.commutative)?;
        // Checked first, because this requirement is the reason why such a call lacks some of the others.
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
            Requirement::NeighboursOfNode => self.knows_neighbours_of_node,
            _ => true,
        };
        let unmet = algorithm.requires.iter().find(|requirement| !is_met(requirement));
        unmet.map_or(Ok(()), |unmet| Err(Reason::Unmet(*unmet)))
    }
}
