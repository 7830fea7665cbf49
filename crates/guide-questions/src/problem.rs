//! The algorithm that a question is about, and its problem.

use crate::failure::Failure;
use rustcoll::algorithms::description::{Description, Field};
use rustcoll::algorithms::{Algorithm, Collective, Problem, Requirement};
use rustcoll::cost::simulation;
use rustcoll::text::nearest;
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::ops::RangeInclusive;
use ts_rs::TS;

/// Numbers of ranks that the page draws.
pub const DRAWN_RANKS: RangeInclusive<usize> = 2..=32;

/// The page draws no vector with more segments.
pub const MOST_DRAWN_SEGMENTS: usize = 32;

/// The most bytes that the page asks about: as many as are priced where an address has 32 bits, as in the page.
pub const MOST_BYTES: usize = 1 << 22;

const _: () = assert!(MOST_BYTES <= simulation::MOST_BYTES);

/// An algorithm and the problem that it solves.
#[derive(Clone, Debug, Deserialize, TS)]
pub struct Subject {
    pub collective: String,
    /// The algorithm's name or one of its aliases.
    pub algorithm: String,
    pub problem: ProblemInput,
}

/// The fields of a problem. A field that is left out has its default, or makes no difference.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
#[serde(default, deny_unknown_fields)]
#[ts(concrete(Number = f64), optional_fields = nullable)]
pub struct ProblemFields<Number> {
    #[ts(optional = false)]
    pub ranks: Number,
    pub root: Option<Number>,
    pub radix: Option<Number>,
    pub segments: Option<Number>,
    pub window: Option<Number>,
    pub in_place: Option<bool>,
    pub remote: Option<Number>,
    pub ranks_per_node: Option<Number>,
    pub grid: Option<String>,
    pub periodic: Option<bool>,
    pub corners: Option<bool>,
}

/// A problem as a user gives it. Controls and links may contain numbers that are not whole.
pub type ProblemInput = ProblemFields<f64>;

/// A problem with its defaults filled in.
pub type ShownProblem = ProblemFields<usize>;

/// Returns the name of the page's control for a field of a description.
pub fn control(field: &str) -> String {
    field.replace('-', "_")
}

/// Returns the collective of this name. Fails if there is none.
pub fn collective(name: &str) -> Result<Collective, Failure> {
    let names = Collective::ALL.into_iter().map(Collective::name);
    Collective::named(name)
        .ok_or_else(|| Failure::of("collective", nearest::unknown("collective", name, names)))
}

impl Subject {
    /// Returns the algorithm and the problem. Fails if the algorithm is unknown or cannot serve the problem.
    pub fn read(&self) -> Result<(&'static Algorithm, Problem), Failure> {
        let collective = collective(&self.collective)?;
        let algorithm = collective.algorithm(&self.algorithm).ok_or_else(|| {
            let names = collective.algorithms().map(|algorithm| algorithm.name);
            let what = format!("{} algorithm", collective.name());
            Failure::of("algorithm", nearest::unknown(&what, &self.algorithm, names))
        })?;
        Ok((algorithm, self.problem.of(algorithm)?))
    }
}

impl ProblemInput {
    fn of(&self, algorithm: &Algorithm) -> Result<Problem, Failure> {
        let ranks = bounded("ranks", self.ranks, DRAWN_RANKS)?;
        let most = *DRAWN_RANKS.end();
        let remote = whole("remote", self.remote)?;
        let remote = remote.or_else(|| algorithm.is_for_two_groups().then_some(ranks / 2));
        let description = Description {
            ranks,
            root: whole("root", self.root)?,
            radix: whole("radix", self.radix)?,
            segments: at_most(MOST_DRAWN_SEGMENTS, "segments", self.segments)?,
            window: at_most(most, "window", self.window)?,
            in_place: self.in_place.unwrap_or(false),
            remote,
            ranks_per_node: at_most(most, "ranks_per_node", self.ranks_per_node)?,
            grid: self.grid.clone(),
            periodic: self.periodic.unwrap_or(false),
            corners: self.corners.unwrap_or(false),
        };
        Ok(description.problem(algorithm)?)
    }

    /// Returns the fields of `problem` that shape the algorithm's schedule.
    pub fn shown(&self, algorithm: &Algorithm, problem: &Problem) -> ShownProblem {
        let is_shown = |field| algorithm.is_shaped_by(field, problem.remote > 0);
        let number = |field, value| is_shown(field).then_some(value);
        ShownProblem {
            ranks: problem.size,
            root: number(Field::Root, problem.root),
            radix: number(Field::Radix, problem.radix),
            segments: number(Field::Segments, problem.segments),
            window: number(Field::Window, problem.window),
            in_place: is_shown(Field::InPlace).then_some(problem.in_place),
            remote: number(Field::Remote, problem.remote),
            ranks_per_node: number(Field::RanksPerNode, ranks_per_node(problem)),
            grid: is_shown(Field::Grid).then(|| self.grid.clone().unwrap_or(problem.size.to_string())),
            periodic: is_shown(Field::Periodic).then_some(self.periodic.unwrap_or(false)),
            corners: is_shown(Field::Corners).then_some(self.corners.unwrap_or(false)),
        }
    }
}

/// Returns how many ranks share the first node; nodes are equal.
pub fn ranks_per_node(problem: &Problem) -> usize {
    if problem.nodes.is_empty() { problem.size } else { problem.nodes.population(0) }
}

/// Whether an algorithm serves only calls with all ranks on one node.
pub fn is_for_one_node(algorithm: &Algorithm) -> bool {
    algorithm.requires.contains(&Requirement::OneNode)
}

/// Returns the value of a control as an integer. Fails unless it is whole and from 0 to `u32::MAX`.
pub fn whole(field: &str, number: Option<f64>) -> Result<Option<usize>, Failure> {
    match number {
        None => Ok(None),
        Some(number) if number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number) => {
            Ok(Some(number as usize))
        }
        Some(number) => Err(Failure::of(
            field,
            format!("{field} {number:?}: expected a whole number from 0 to {}", u32::MAX),
        )),
    }
}

fn at_most(most: usize, field: &str, number: Option<f64>) -> Result<Option<usize>, Failure> {
    number.map(|number| bounded(field, number, 1..=most)).transpose()
}

/// Returns the value of a control as an integer. Fails unless it is whole and within `range`.
pub fn bounded(field: &str, number: f64, range: RangeInclusive<usize>) -> Result<usize, Failure> {
    let whole = number as usize;
    match whole as f64 == number && range.contains(&whole) {
        true => Ok(whole),
        false => Err(out_of_range(field, &number, range)),
    }
}

/// Fails unless the number is within `range`.
pub fn drawn(field: &str, number: usize, range: RangeInclusive<usize>) -> Result<(), Failure> {
    if range.contains(&number) { Ok(()) } else { Err(out_of_range(field, &number, range)) }
}

fn out_of_range(field: &str, number: &dyn Display, range: RangeInclusive<usize>) -> Failure {
    let (first, last) = (range.start(), range.end());
    Failure::of(field, format!("{field} {number}: expected a whole number from {first} to {last}"))
}
