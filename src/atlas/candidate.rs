//! Candidates of an atlas: algorithms with parameters.

use crate::algorithms::{Algorithm, Collective, Parameter, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{Simulation, SimulationError};
use crate::selection::{Choice, Parameters};
use std::fmt;
use std::ptr;

/// Radices that are tried besides the default one.
const RADICES: [usize; 5] = [2, 4, 8, 16, 32];

/// Segment lengths in bytes that are tried besides the whole vector.
const SEGMENTS: [usize; 4] = [16 << 10, 64 << 10, 256 << 10, 1 << 20];

/// The most segments of a vector that a candidate is tried with. Longer pipelines gain little and take long
/// to simulate.
const MOST_SEGMENTS_TRIED: usize = 64;

/// An algorithm with parameters.
#[derive(Clone, Copy, Debug)]
pub struct Candidate {
    pub collective: Collective,
    pub algorithm: &'static Algorithm,
    pub parameters: Parameters,
}

/// Which parameters are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Only the default parameters.
    Defaults,
    /// The defaults, and all combinations of a few radices and segment lengths.
    Parameters,
}

impl Candidate {
    /// Returns all algorithms of a collective that have schedules and serve intra-communicators.
    pub fn algorithms(collective: Collective) -> impl Iterator<Item = &'static Algorithm> {
        collective.scheduled().filter(|algorithm| !algorithm.is_for_two_groups())
    }

    /// Returns these algorithms with all the parameters that `sweep` tries.
    pub fn all(collective: Collective, sweep: Sweep) -> Vec<Candidate> {
        let of = |algorithm| Candidate::of(collective, algorithm, sweep);
        Candidate::algorithms(collective).flat_map(of).collect()
    }

    /// Returns an algorithm with all the parameters that `sweep` tries, the defaults first.
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

    /// Returns the problem that the candidate solves, with root 0.
    pub fn problem(&self, size: usize, bytes: usize) -> Problem {
        self.problem_on(&Problem::new(size), bytes)
    }

    /// Returns the problem that the candidate solves on these ranks, with their nodes and neighbours.
    pub fn problem_on(&self, on: &Problem, bytes: usize) -> Problem {
        self.parameters.applied(self.algorithm, bytes, on.clone())
    }

    /// Returns the simulation that predicts the candidate's cost on a machine, for such a problem.
    pub fn simulation(&self, problem: &Problem, machine: &Machine) -> Result<Simulation, SimulationError> {
        let simulation = Simulation::new(self.collective, self.algorithm, problem, machine)?;
        Ok(simulation.in_stripes(self.stripe()))
    }

    /// See [`Parameters::stripe`].
    pub fn stripe(&self) -> Option<usize> {
        self.parameters.stripe(self.algorithm)
    }

    /// Whether both candidates take equally long where they solve equal problems.
    pub(super) fn is_alike(&self, other: &Candidate) -> bool {
        ptr::eq(self.algorithm, other.algorithm) && self.stripe() == other.stripe()
    }

    /// Returns the radix, unless it is left at its default.
    pub fn radix(&self) -> Option<usize> {
        self.parameters.get(Parameter::Radix)
    }

    /// Returns the problem, if the algorithm can serve calls whose operator commutes.
    pub(super) fn served(&self, size: usize, bytes: usize) -> Option<Problem> {
        self.algorithm.serves(size, 0, true).is_ok().then(|| self.problem(size, bytes))
    }

    /// Whether the candidate is tried for so many bytes; see [`MOST_SEGMENTS_TRIED`].
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
