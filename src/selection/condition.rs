//! What rules may ask of a call.

use super::Call;
use super::expression::Expression;
use super::measure::Measure;
use super::quantity::{bytes, number};
use super::ranges::Ranges;
use crate::algorithms::Collective;
use std::fmt;
use std::ops::RangeInclusive;

/// A number that belongs to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// Ranks, of both groups together.
    Ranks,
    /// Bytes; see [`Measure`].
    Bytes,
    /// The root's number.
    Root,
    /// Groups of the communicator.
    Groups,
    /// Nodes on which there are ranks.
    Nodes,
    /// The most ranks on a node.
    RanksPerNode,
    /// Neighbours of a rank away from borders, where all ranks have theirs at the same offsets of a grid.
    Neighbours,
    /// Dimensions of that grid in which there are neighbours.
    Dimensions,
}

/// Something that is true of a call or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    /// The number of ranks is a power of two.
    PowerOfTwo,
    /// The number of ranks is even. Algorithms ask for it, rules cannot.
    Even,
    /// The operator commutes.
    Commutative,
    /// The operator is one of MPI's own.
    Predefined,
    /// `MPI_IN_PLACE` stands for the send buffer, on all ranks.
    InPlace,
    /// The ranks of a node may share memory. Algorithms ask for it, rules cannot.
    SharedMemory,
    /// The ranks of a node can copy from each other's own memory. Algorithms ask for it, rules cannot.
    SingleCopy,
    /// Other collectives of the communicator can be called on its way. Algorithms ask for it, rules cannot.
    OtherCollectives,
    /// All ranks know that they have neighbours at the same offsets of a grid. Algorithms ask for it, rules cannot.
    Stencil,
    /// The result must be reproducible. Algorithms ask that it need not, rules cannot.
    Reproducible,
}

/// Something that rules or algorithms ask of a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A number is one of these.
    Quantity(Quantity, Ranges),
    /// A property holds, or does not.
    Property(Property, bool),
    /// An expression is true.
    When(Expression),
}

impl Quantity {
    /// All quantities.
    pub const ALL: [Quantity; 8] = [
        Quantity::Ranks,
        Quantity::Bytes,
        Quantity::Root,
        Quantity::Groups,
        Quantity::Nodes,
        Quantity::RanksPerNode,
        Quantity::Neighbours,
        Quantity::Dimensions,
    ];

    /// Its name in rules.
    pub fn name(self) -> &'static str {
        match self {
            Quantity::Ranks => "ranks",
            Quantity::Bytes => "bytes",
            Quantity::Root => "root",
            Quantity::Groups => "groups",
            Quantity::Nodes => "nodes",
            Quantity::RanksPerNode => "ranks_per_node",
            Quantity::Neighbours => "neighbours",
            Quantity::Dimensions => "dimensions",
        }
    }

    /// That of a call, if it is known and the same on all ranks.
    pub fn of(self, call: &Call) -> Option<usize> {
        match self {
            Quantity::Ranks => Some(call.size),
            Quantity::Bytes => call.is_measured().then_some(call.bytes),
            Quantity::Root => call.root.filter(|_| call.remote == 0),
            Quantity::Groups => Some(call.groups()),
            Quantity::Nodes => call.nodes,
            Quantity::RanksPerNode => call.ranks_per_node,
            Quantity::Neighbours => call.neighbourhood.map(|neighbourhood| neighbourhood.neighbours),
            Quantity::Dimensions => call.neighbourhood.map(|neighbourhood| neighbourhood.dimensions),
        }
    }

    /// Between which bounds that of a call lies whose ranks are on several nodes.
    fn bounds_on_several_nodes(self, call: &Call) -> Option<RangeInclusive<usize>> {
        match self {
            Quantity::Nodes => Some(2..=call.size),
            // At least one of them is elsewhere.
            Quantity::RanksPerNode => Some(1..=call.size - 1),
            Quantity::Ranks
            | Quantity::Bytes
            | Quantity::Root
            | Quantity::Groups
            | Quantity::Neighbours
            | Quantity::Dimensions => None,
        }
    }

    /// Reads one, as it is written in rules.
    pub fn read(self, text: &str) -> Result<usize, String> {
        if self == Quantity::Bytes { bytes(text) } else { number(text) }
    }

    /// What it can be at most, where it is always known.
    pub fn all(self) -> Option<Ranges> {
        match self {
            Quantity::Ranks => Some(Ranges::from(1)),
            Quantity::Groups => Some(Ranges::new([1..=2])),
            // Whoever asks for these asks for calls that have them.
            Quantity::Bytes | Quantity::Root => Some(Ranges::from(0)),
            Quantity::Nodes | Quantity::RanksPerNode | Quantity::Neighbours | Quantity::Dimensions => None,
        }
    }
}

impl Property {
    /// All that rules may ask for.
    pub const ASKED: [Property; 4] =
        [Property::PowerOfTwo, Property::Commutative, Property::Predefined, Property::InPlace];

    /// Its name in rules.
    pub fn name(self) -> &'static str {
        match self {
            Property::PowerOfTwo => "power_of_two",
            Property::Even => "even",
            Property::Commutative => "commutative",
            Property::Predefined => "predefined",
            Property::InPlace => "in_place",
            Property::SharedMemory => "shared_memory",
            Property::SingleCopy => "single_copy",
            Property::OtherCollectives => "other_collectives",
            Property::Stencil => "stencil",
            Property::Reproducible => "reproducible",
        }
    }

    /// Whether it holds for a call, if that is known and the same on all ranks.
    pub fn of(self, call: &Call) -> Option<bool> {
        match self {
            Property::PowerOfTwo => Some(call.size.is_power_of_two()),
            Property::Even => Some(call.size.is_multiple_of(2)),
            Property::Commutative => Some(call.commutative),
            Property::Predefined => call.predefined,
            Property::InPlace => Some(call.in_place),
            Property::SharedMemory => Some(call.shares_memory),
            Property::SingleCopy => Some(call.copies_singly),
            Property::OtherCollectives => Some(call.calls_others),
            Property::Stencil => Some(call.neighbourhood.is_some()),
            Property::Reproducible => Some(call.reproducible),
        }
    }
}

impl Condition {
    /// The key of an expression.
    pub const WHEN: &'static str = "when";

    /// Its key in rules.
    pub fn key(&self) -> &'static str {
        match self {
            Condition::Quantity(quantity, _) => quantity.name(),
            Condition::Property(property, _) => property.name(),
            Condition::When(_) => Condition::WHEN,
        }
    }

    /// Whether it asks for a quantity.
    pub fn looks_at(&self, wanted: Quantity) -> bool {
        match self {
            Condition::Quantity(quantity, _) => *quantity == wanted,
            Condition::Property(..) => false,
            Condition::When(expression) => expression.quantities().any(|quantity| quantity == wanted),
        }
    }

    /// Whether it asks for the ranks' nodes.
    pub fn looks_at_nodes(&self) -> bool {
        self.looks_at(Quantity::Nodes) || self.looks_at(Quantity::RanksPerNode)
    }

    /// Whether it asks for something that is known only where all ranks have their neighbours at the same offsets of a grid.
    pub fn looks_at_stencil(&self, collective: Collective) -> bool {
        self.looks_at(Quantity::Neighbours)
            || self.looks_at(Quantity::Dimensions)
            || (self.looks_at(Quantity::Bytes) && Measure::of(collective) != Measure::on_stencils(collective))
    }

    /// Whether it holds for a call, if that is known.
    pub fn holds(&self, call: &Call) -> Option<bool> {
        match self {
            Condition::Quantity(quantity, wanted) => match quantity.of(call) {
                Some(number) => Some(wanted.contains(number)),
                None if call.is_on_several_nodes => {
                    quantity.bounds_on_several_nodes(call).and_then(|bounds| wanted.contains_one_of(bounds))
                }
                None => None,
            },
            Condition::Property(property, wanted) => property.of(call).map(|holds| holds == *wanted),
            Condition::When(expression) => expression.is_true(call),
        }
    }

    /// Whether a call meets it. What is not known is not met.
    pub fn is_met(&self, call: &Call) -> bool {
        self.holds(call) == Some(true)
    }

    /// What it looks at, with the call's values; None if something of it is not known.
    pub fn value(&self, call: &Call) -> Option<String> {
        match self {
            Condition::Quantity(quantity, _) => quantity.of(call).map(|number| number.to_string()),
            Condition::Property(property, _) => property.of(call).map(|holds| holds.to_string()),
            Condition::When(expression) => expression.values(call),
        }
    }

    /// Whether a new communicator's ranks and groups decide it for all calls.
    pub fn is_settled_by_communicator(&self) -> bool {
        match self {
            Condition::Quantity(quantity, _) => matches!(quantity, Quantity::Ranks | Quantity::Groups),
            Condition::Property(property, _) => matches!(property, Property::PowerOfTwo | Property::Even),
            Condition::When(expression) => {
                expression.quantities().all(|quantity| quantity == Quantity::Ranks)
            }
        }
    }
}

/// As it is written in a line.
impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Condition::Quantity(_, wanted) => write!(formatter, "{}={wanted}", self.key()),
            Condition::Property(_, wanted) => write!(formatter, "{}={wanted}", self.key()),
            Condition::When(expression) => write!(formatter, "{}=\"{expression}\"", self.key()),
        }
    }
}

/// Why a condition must not stand in a collective's rules, if so: ranks would decide differently, or it is about nothing.
pub fn objection(key: &str, collective: Collective) -> Option<String> {
    let name = collective.name();
    let has_in_place = matches!(
        collective,
        Collective::Allgather
            | Collective::Allgatherv
            | Collective::Allreduce
            | Collective::Alltoall
            | Collective::Alltoallv
            | Collective::Alltoallw
    );
    match key {
        "contiguous" => {
            Some("ranks may use datatypes of different layouts, and would decide differently".into())
        }
        "bytes" if Measure::on_stencils(collective) == Measure::Nothing => {
            Some(format!("there are no bytes of {name} that all ranks know"))
        }
        "neighbours" | "dimensions" if Measure::of(collective) == Measure::on_stencils(collective) => {
            Some(format!("{name} has no neighbours that all ranks know"))
        }
        "root" if !collective.is_rooted() => Some(format!("{name} has no root")),
        "commutative" | "predefined" if !collective.reduces() => Some(format!("{name} has no operator")),
        "in_place" if !has_in_place => Some(format!(
            "in {name} not all ranks need to pass MPI_IN_PLACE, so they would decide differently"
        )),
        _ => None,
    }
}
