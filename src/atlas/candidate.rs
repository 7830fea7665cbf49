//! Who takes part in an atlas: algorithms with parameters.

use crate::algorithms::{Algorithm, Collective, Graph, Parameter, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{Simulation, SimulationError};
use crate::selection::{Choice, Parameters};
use std::fmt;
use std::ptr;

/// Radices that are tried besides the default one.
const RADICES: [usize; 5] = [2, 4, 8, 16, 32];

/// Segments that are tried besides a whole vector.
const SEGMENTS: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// A vector that would be cut into more segments is not: pipelines of so many gain little from more, and take long to be
/// simulated.
const MOST_SEGMENTS_TRIED: usize = 64;

/// An algorithm with parameters.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    /// The collective.
    pub collective: Collective,
    /// The algorithm.
    pub algorithm: &'static Algorithm,
    /// Its parameters.
    pub parameters: Parameters,
}

/// Which parameters are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// The defaults alone.
    Defaults,
    /// A choice of radices and segments besides.
    Parameters,
}

impl Candidate {
    /// All algorithms of a collective that have schedules and serve one group.
    pub fn algorithms(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
        collective.scheduled().filter(|algorithm| !algorithm.is_for_two_groups())
    }

    /// The same with the parameters that are tried.
    pub fn all(collective: Collective, sweep: Sweep) -> Vec<Candidate> {
        let of = |algorithm| Candidate::of(collective, algorithm, sweep);
        Candidate::algorithms(collective).flat_map(of).collect()
    }

    /// An algorithm with all the parameters that are tried, the defaults first.
    pub fn of(collective: Collective, algorithm: &'static Algorithm, sweep: Sweep) -> Vec<Candidate> {
        let mut all = vec![Parameters::default()];
        for &parameter in algorithm.parameters.iter().filter(|_| sweep == Sweep::Parameters) {
            let values: &[usize] = match parameter {
                Parameter::Radix => &RADICES,
                Parameter::Segment if algorithm.cuts_segments() => &SEGMENTS,
                Parameter::Segment | Parameter::Window => &[],
            };
            let with =
                |&parameters: &Parameters| values.iter().map(move |&value| parameters.with(parameter, value));
            let more: Vec<Parameters> = all.iter().flat_map(with).collect();
            all.extend(more);
        }
        all.into_iter().map(|parameters| Candidate { collective, algorithm, parameters }).collect()
    }

    /// The problem that it solves, with root 0.
    pub fn problem(&self, size: usize, bytes: usize) -> Problem {
        self.problem_among(Graph::default(), size, bytes)
    }

    /// The same where these are the neighbours.
    pub fn problem_among(&self, graph: Graph, size: usize, bytes: usize) -> Problem {
        self.parameters.applied(self.algorithm, bytes, Problem { graph, ..Problem::new(size) })
    }

    /// What predicts it on a machine, for such a problem.
    pub fn simulation(&self, problem: &Problem, machine: &Machine) -> Result<Simulation, SimulationError> {
        let simulation = Simulation::new(self.collective, self.algorithm, problem, machine)?;
        Ok(simulation.in_stripes(self.stripe()))
    }

    /// See [`Parameters::stripe`].
    pub fn stripe(&self) -> Option<usize> {
        self.parameters.stripe(self.algorithm)
    }

    /// Whether it takes as long as another one that solves the same problem.
    pub(super) fn is_alike(&self, other: &Candidate) -> bool {
        ptr::eq(self.algorithm, other.algorithm) && self.stripe() == other.stripe()
    }

    /// Its radix, if it is not left at its default.
    pub fn radix(&self) -> Option<usize> {
        self.parameters.get(Parameter::Radix)
    }

    /// The same, if it can serve calls whose operator commutes.
    pub(super) fn served(&self, size: usize, bytes: usize) -> Option<Problem> {
        self.algorithm.serves(size, 0, true).is_ok().then(|| self.problem(size, bytes))
    }

    /// Whether it is tried for so many bytes.
    pub(super) fn is_tried(&self, bytes: usize) -> bool {
        let is_long = |segment| bytes.div_ceil(segment) > MOST_SEGMENTS_TRIED;
        !self.parameters.get(Parameter::Segment).is_some_and(is_long)
    }
}

/// The algorithm's name, and the parameters that are not left at their defaults.
impl fmt::Display for Candidate {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Candidate { algorithm, parameters, .. } = *self;
        Choice::Use { algorithm, parameters }.fmt(formatter)
    }
}
