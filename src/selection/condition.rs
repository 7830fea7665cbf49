//! The conditions that rules and algorithms place on a call.

use super::Call;
use super::expression::Expression;
use super::measure::Measure;
use super::quantity::{bytes, number};
use super::ranges::Ranges;
use crate::algorithms::Collective;
use std::fmt;
use std::ops::RangeInclusive;

/// A numeric property of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The number of ranks, in both groups together.
    Ranks,
    /// Bytes; see [`Measure`].
    Bytes,
    Root,
    /// The number of groups of the communicator, 1 or 2.
    Groups,
    /// The number of nodes that have ranks.
    Nodes,
    /// The most ranks on a node.
    RanksPerNode,
    /// The neighbours of a rank away from borders, if all ranks have them at the same offsets of a grid.
    Neighbours,
    /// The dimensions of that grid in which there are neighbours.
    Dimensions,
}

/// A property of a call that is true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Property {
    PowerOfTwo,
    /// The number of ranks is even. Algorithms can require this property, rules cannot.
    Even,
    Commutative,
    /// MPI predefines the operator.
    Predefined,
    /// All ranks pass `MPI_IN_PLACE` as the send buffer.
    InPlace,
    /// Messages between nodes go by TCP.
    Tcp,
    /// The ranks of a node may share memory. Algorithms can require this property, rules cannot.
    SharedMemory,
    /// The ranks of a node can copy from each other's private memory. Algorithms can require this, rules cannot.
    SingleCopy,
    /// An algorithm may call other collectives of the communicator. Algorithms can require this, rules cannot.
    OtherCollectives,
    /// All ranks know that all have neighbours at the same offsets of a grid. Algorithms can require this,
    /// rules cannot.
    Stencil,
    /// Each rank knows the neighbours of all ranks of its node. Algorithms can require this, rules cannot.
    NeighboursOfNode,
    /// The result must be reproducible. Algorithms can require that it need not be, rules cannot.
    Reproducible,
}

/// A condition of a rule or an algorithm on a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The quantity is in these ranges.
    Quantity(Quantity, Ranges),
    /// The property has this value.
    Property(Property, bool),
    /// The expression is true.
    When(Expression),
}

impl Quantity {
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

    /// Returns the name in rules.
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

    /// Returns the quantity's value for a call, if it is known and equal on all ranks.
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

    /// Returns bounds for the quantity's value, for a call whose ranks are on several nodes. `None` if
    /// nothing is known.
    fn bounds_on_several_nodes(self, call: &Call) -> Option<RangeInclusive<usize>> {
        match self {
            Quantity::Nodes => Some(2..=call.size),
            // At least one rank is on another node.
            Quantity::RanksPerNode => Some(1..=call.size - 1),
            Quantity::Ranks
            | Quantity::Bytes
            | Quantity::Root
            | Quantity::Groups
            | Quantity::Neighbours
            | Quantity::Dimensions => None,
        }
    }

    /// Reads a value of the quantity, as rules write it.
    pub fn read(self, text: &str) -> Result<usize, String> {
        if self == Quantity::Bytes { bytes(text) } else { number(text) }
    }

    /// Returns all values that the quantity can have.
    pub fn possible(self) -> Ranges {
        match self {
            Quantity::Ranks | Quantity::Nodes | Quantity::RanksPerNode => Ranges::from(1),
            Quantity::Groups => Ranges::new([1..=2]),
            Quantity::Bytes | Quantity::Root | Quantity::Neighbours | Quantity::Dimensions => Ranges::from(0),
        }
    }

    /// Whether each call has the quantity, and all its ranks know it. A condition on bytes or root applies only to calls that
    /// have them.
    pub fn is_always_known(self) -> bool {
        matches!(self, Quantity::Ranks | Quantity::Groups | Quantity::Bytes | Quantity::Root)
    }
}

impl Property {
    /// All properties that rules may ask for.
    pub const ASKED: [Property; 5] =
        [Property::PowerOfTwo, Property::Commutative, Property::Predefined, Property::InPlace, Property::Tcp];

    /// Returns the name in rules.
    pub fn name(self) -> &'static str {
        match self {
            Property::PowerOfTwo => "power_of_two",
            Property::Even => "even",
            Property::Commutative => "commutative",
            Property::Predefined => "predefined",
            Property::InPlace => "in_place",
            Property::Tcp => "tcp",
            Property::SharedMemory => "shared_memory",
            Property::SingleCopy => "single_copy",
            Property::OtherCollectives => "other_collectives",
            Property::Stencil => "stencil",
            Property::NeighboursOfNode => "neighbours_of_node",
            Property::Reproducible => "reproducible",
        }
    }

    /// Whether the property holds for a call, if this is known and equal on all ranks.
    pub fn of(self, call: &Call) -> Option<bool> {
        match self {
            Property::PowerOfTwo => Some(call.size.is_power_of_two()),
            Property::Even => Some(call.size.is_multiple_of(2)),
            Property::Commutative => Some(call.commutative),
            Property::Predefined => call.predefined,
            Property::InPlace => Some(call.in_place),
            Property::Tcp => Some(call.goes_by_tcp),
            Property::SharedMemory => Some(call.shares_memory),
            Property::SingleCopy => Some(call.copies_singly),
            Property::OtherCollectives => Some(call.calls_others),
            Property::Stencil => Some(call.neighbourhood.is_some()),
            Property::NeighboursOfNode => Some(call.knows_neighbours_of_node),
            Property::Reproducible => Some(call.reproducible),
        }
    }
}

impl Condition {
    /// The key of an expression in rules.
    pub const WHEN: &'static str = "when";

    /// Returns the condition's key in rules.
    pub fn key(&self) -> &'static str {
        match self {
            Condition::Quantity(quantity, _) => quantity.name(),
            Condition::Property(property, _) => property.name(),
            Condition::When(_) => Condition::WHEN,
        }
    }

    /// Whether the condition depends on a quantity.
    pub fn looks_at(&self, wanted: Quantity) -> bool {
        match self {
            Condition::Quantity(quantity, _) => *quantity == wanted,
            Condition::Property(..) => false,
            Condition::When(expression) => expression.quantities().any(|quantity| quantity == wanted),
        }
    }

    /// Whether the condition depends on how long the longest block is.
    pub fn looks_at_longest(&self) -> bool {
        matches!(self, Condition::When(expression) if expression.names().any(|name| name == Expression::LONGEST))
    }

    /// Whether the condition depends on the placement of ranks on nodes.
    pub fn looks_at_nodes(&self) -> bool {
        self.looks_at(Quantity::Nodes) || self.looks_at(Quantity::RanksPerNode)
    }

    /// Whether the condition depends on something that is known only if all ranks have their neighbours at
    /// the same offsets of a grid.
    pub fn looks_at_stencil(&self, collective: Collective) -> bool {
        self.looks_at(Quantity::Neighbours)
            || self.looks_at(Quantity::Dimensions)
            || (self.looks_at(Quantity::Bytes) && Measure::of(collective) != Measure::on_stencils(collective))
    }

    /// Whether the condition holds for a call; `None` if this is not known.
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

    /// Whether a call meets the condition. A condition on something unknown is not met.
    pub fn is_met(&self, call: &Call) -> bool {
        self.holds(call) == Some(true)
    }

    /// Returns the call's values that the condition depends on; `None` if one of them is not known.
    pub fn value(&self, call: &Call) -> Option<String> {
        match self {
            Condition::Quantity(quantity, _) => quantity.of(call).map(|number| number.to_string()),
            Condition::Property(property, _) => property.of(call).map(|holds| holds.to_string()),
            Condition::When(expression) => expression.values(call),
        }
    }

    /// Whether the communicator's ranks and groups alone decide the condition, for all calls.
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

/// Writes the condition as in a line of rules.
impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Condition::Quantity(_, wanted) => write!(formatter, "{}={wanted}", self.key()),
            Condition::Property(_, wanted) => write!(formatter, "{}={wanted}", self.key()),
            Condition::When(expression) => write!(formatter, "{}=\"{expression}\"", self.key()),
        }
    }
}

/// Returns the reason why the rules of a collective must not use this key, if there is one: ranks would
/// decide differently, or the collective has no such thing.
pub fn objection(key: &str, collective: Collective) -> Option<String> {
    let name = collective.name();
    match key {
        "contiguous" => {
            Some("ranks may use datatypes of different layouts, and would decide differently".into())
        }
        "bytes" if Measure::on_stencils(collective) == Measure::Nothing => {
            Some(format!("there are no bytes of {name} that all ranks know"))
        }
        Expression::LONGEST if Measure::of(collective) != Measure::AllBlocks => {
            Some(format!("the blocks of {name} are equally long, or not all ranks know their lengths"))
        }
        "neighbours" | "dimensions" if Measure::of(collective) == Measure::on_stencils(collective) => {
            Some(format!("{name} has no neighbours that all ranks know"))
        }
        "root" if !collective.is_rooted() => Some(format!("{name} has no root")),
        "commutative" | "predefined" if !collective.reduces() => Some(format!("{name} has no operator")),
        "in_place" if !collective.is_in_place_at_all_ranks() => Some(format!(
            "in {name} not all ranks need to pass MPI_IN_PLACE, so they would decide differently"
        )),
        _ => None,
    }
}
