//! A problem as a user describes it: only the values that differ from the defaults.

use super::{Algorithm, Cut, Dimension, Graph, Parameter, Problem, Reason, Stencil};
use crate::engine::SlotBounds;
use std::fmt;

/// The most neighbours of a rank on a grid.
const MOST_NEIGHBOURS: usize = 1 << 12;

/// A user's description of a problem. `None` stands for the default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The number of ranks, of both groups together if there are two; at least 1.
    pub ranks: usize,
    pub root: Option<usize>,
    pub radix: Option<usize>,
    /// Into how many segments a vector is cut.
    pub segments: Option<usize>,
    /// How many messages are in flight at a time.
    pub window: Option<usize>,
    /// Whether the input is in the receive buffer.
    pub in_place: bool,
    /// How many of the ranks, the last ones, form the other group of an inter-communicator.
    pub remote: Option<usize>,
    /// How many neighbouring ranks share a node.
    pub ranks_per_node: Option<usize>,
    /// The grid of a neighbourhood collective, as `4x3`; one dimension unless given.
    pub grid: Option<String>,
    /// Whether the grid's last rank in each dimension is a neighbour of its first.
    pub periodic: bool,
    /// Whether all ranks that touch a rank on the grid are its neighbours, those at its corners too.
    pub corners: bool,
}

/// Why a description is not a problem that an algorithm can serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Misdescribed {
    /// The value of a field is illegal or has no effect.
    Field {
        /// The field's name, with dashes for underscores.
        name: &'static str,
        /// What is wrong, as a text that continues the name.
        message: String,
    },
    /// The algorithm cannot serve so many ranks, or so many groups.
    Unserved {
        /// The names of the collective and the algorithm.
        name: String,
        reason: Reason,
    },
}

impl fmt::Display for Misdescribed {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Misdescribed::Field { name, message } => write!(formatter, "{name} {message}"),
            Misdescribed::Unserved { name, reason } => {
                write!(formatter, "{name} cannot serve this: {reason}")
            }
        }
    }
}

impl std::error::Error for Misdescribed {}

impl Description {
    /// Returns the problem. Fails if the algorithm cannot serve it, or if a given field is illegal or has no effect.
    pub fn problem(&self, algorithm: &Algorithm) -> Result<Problem, Misdescribed> {
        let size = at_least(1, self.ranks, "ranks")?;
        let remote = self.remote.unwrap_or(0);
        if self.remote.is_some() && !(1..size).contains(&remote) {
            return Err(wrong("remote", format!("{remote}: each group needs a rank of the {size}")));
        }
        let name = algorithm.title();
        let unserved = |reason| Misdescribed::Unserved { name: name.clone(), reason };
        algorithm.serves(size, remote, true).map_err(unserved)?;
        self.refuse_what_has_no_effect(algorithm, &name)?;

        let mut problem = Problem { remote, in_place: self.in_place, ..Problem::new(size) };
        problem.root = below(self.root.unwrap_or(0), size, "root")?;
        problem.segments = at_least(1, self.segments.unwrap_or(problem.segments), "segments")?;
        problem.window = at_least(1, self.window.unwrap_or(problem.window), "window")?;
        problem.radix = at_least(2, self.radix.unwrap_or(problem.radix), "radix")?;
        if problem.radix > size.max(2) {
            return Err(wrong("radix", format!("{}: there are but {size} ranks", problem.radix)));
        }
        if let Some(sharing) = self.ranks_per_node {
            let sharing = at_least(1, sharing, "ranks-per-node")?;
            problem.nodes = (0..size).map(|rank| (rank / sharing) as u32).collect();
        }
        if algorithm.contract().cut() == Cut::Edges {
            let grid = self.dimensions()?;
            problem.graph = match self.corners {
                true => Graph::of_stencil(Stencil::around(&grid)),
                false => Graph::grid(&grid),
            };
            if algorithm.takes_shared_memory() && problem.graph.most_sent() > SlotBounds::slots(size) {
                return Err(unserved(Reason::TooManyNeighbours));
            }
        }
        Ok(problem)
    }

    fn refuse_what_has_no_effect(&self, algorithm: &Algorithm, name: &str) -> Result<(), Misdescribed> {
        let has_effect = |field| algorithm.is_shaped_by(field, self.remote.is_some());
        for (field, is_given) in [
            (Field::Root, self.root.is_some()),
            (Field::Radix, self.radix.is_some()),
            (Field::Segments, self.segments.is_some()),
            (Field::Window, self.window.is_some()),
            (Field::InPlace, self.in_place),
            (Field::RanksPerNode, self.ranks_per_node.is_some()),
            (Field::Grid, self.grid.is_some()),
            (Field::Periodic, self.periodic),
            (Field::Corners, self.corners),
        ] {
            if is_given && !has_effect(field) {
                return Err(wrong(field.name(), format!("has no effect on {name}")));
            }
        }
        Ok(())
    }

    fn dimensions(&self) -> Result<Vec<Dimension>, Misdescribed> {
        let dimension = |length| Dimension { length, periodic: self.periodic };
        let Some(text) = &self.grid else { return Ok(vec![dimension(self.ranks)]) };
        let lengths = text.split('x').map(|length| length.parse().ok().filter(|length| *length > 0));
        let lengths: Option<Vec<usize>> = lengths.collect();
        let lengths =
            lengths.ok_or_else(|| wrong("grid", format!("{text}: expected numbers from 1 up, as in 4x3")))?;
        let places = lengths.iter().try_fold(1usize, |places, length| places.checked_mul(*length));
        if places != Some(self.ranks) {
            return Err(wrong("grid", format!("{text} does not have {} places", self.ranks)));
        }
        // A dimension of one rank counts, too.
        let neighbours = match (self.corners, lengths.len()) {
            (true, dimensions) => 3usize.saturating_pow(dimensions.try_into().unwrap_or(u32::MAX)) - 1,
            (false, dimensions) => 2 * dimensions,
        };
        if neighbours > MOST_NEIGHBOURS {
            let message = format!("{text}: each rank would have more than {MOST_NEIGHBOURS} neighbours");
            return Err(wrong("grid", message));
        }
        Ok(lengths.into_iter().map(dimension).collect())
    }
}

/// A field of a [`Description`] besides `ranks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Root,
    Radix,
    Segments,
    Window,
    InPlace,
    Remote,
    RanksPerNode,
    Grid,
    Periodic,
    Corners,
}

impl Field {
    pub const ALL: [Field; 10] = [
        Field::Root,
        Field::Radix,
        Field::Segments,
        Field::Window,
        Field::InPlace,
        Field::Remote,
        Field::RanksPerNode,
        Field::Grid,
        Field::Periodic,
        Field::Corners,
    ];

    /// Returns the field's name for users, with dashes for underscores.
    pub fn name(self) -> &'static str {
        match self {
            Field::Root => "root",
            Field::Radix => "radix",
            Field::Segments => "segments",
            Field::Window => "window",
            Field::InPlace => "in-place",
            Field::Remote => "remote",
            Field::RanksPerNode => "ranks-per-node",
            Field::Grid => "grid",
            Field::Periodic => "periodic",
            Field::Corners => "corners",
        }
    }
}

impl Algorithm {
    /// Whether a field changes the algorithm's schedule, between two groups or in one.
    pub fn is_shaped_by(&self, field: Field, between_groups: bool) -> bool {
        let takes = |parameter| self.parameters.contains(&parameter);
        match field {
            Field::Root => self.contract().is_rooted(),
            Field::Radix => takes(Parameter::Radix),
            Field::Segments => self.cuts_segments(),
            Field::Window => takes(Parameter::Window),
            // There is no call in place on an inter-communicator.
            Field::InPlace => self.contract().has_in_place() && !between_groups,
            Field::Remote => self.is_for_two_groups(),
            Field::RanksPerNode => self.takes_nodes(),
            Field::Grid | Field::Periodic | Field::Corners => self.contract().cut() == Cut::Edges,
        }
    }
}

/// Returns `rank` if it is below `size`, otherwise an error about `field`.
pub fn below(rank: usize, size: usize, field: &'static str) -> Result<usize, Misdescribed> {
    match rank < size {
        true => Ok(rank),
        false => Err(wrong(field, format!("{rank}: ranks are numbered from 0 to {}", size - 1))),
    }
}

/// Returns `number` if it is at least `least`, otherwise an error about `field`.
pub fn at_least(least: usize, number: usize, field: &'static str) -> Result<usize, Misdescribed> {
    match number >= least {
        true => Ok(number),
        false => Err(wrong(field, format!("{number}: expected a number from {least} up"))),
    }
}

fn wrong(name: &'static str, message: String) -> Misdescribed {
    Misdescribed::Field { name, message }
}
