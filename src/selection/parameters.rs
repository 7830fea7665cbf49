//! Parameters of algorithms as users set them, and their effect on a problem.

use crate::algorithms::{Algorithm, Parameter, Problem, default_radix, legal_radix};

/// The most segments of a vector, even if the user asks for shorter ones.
pub const MOST_SEGMENTS: usize = 1 << 14;

/// The parameters that a rule sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters([Option<usize>; Parameter::ALL.len()]);

impl Parameters {
    /// Returns a parameter's value; `None` for the default. A segment is in bytes.
    pub fn get(&self, parameter: Parameter) -> Option<usize> {
        self.0[parameter as usize]
    }

    /// Returns these parameters, with the values of `others` for those that have their default.
    pub fn or(mut self, others: Parameters) -> Parameters {
        for parameter in Parameter::ALL {
            self.set(parameter, self.get(parameter).or(others.get(parameter)));
        }
        self
    }

    /// Sets a parameter; `None` sets the default.
    pub fn set(&mut self, parameter: Parameter, value: Option<usize>) {
        self.0[parameter as usize] = value;
    }

    /// Returns these parameters with one of them set.
    pub fn with(mut self, parameter: Parameter, value: usize) -> Parameters {
        self.set(parameter, Some(value));
        self
    }

    /// Returns the parameters that do not have their default.
    pub fn given(&self) -> impl Iterator<Item = (Parameter, usize)> + use<> {
        let values = *self;
        Parameter::ALL.into_iter().filter_map(move |parameter| Some((parameter, values.get(parameter)?)))
    }

    /// Returns the most bytes of a block that are in shared memory at a time, for an algorithm whose schedule
    /// has no segments.
    pub fn stripe(&self, algorithm: &Algorithm) -> Option<usize> {
        self.get(Parameter::Segment).filter(|_| !algorithm.cuts_segments())
    }

    /// Returns the problem with those of these parameters that the algorithm takes, for a call of this many
    /// bytes. Illegal values are replaced by the nearest legal ones.
    pub fn applied(&self, algorithm: &Algorithm, bytes: usize, mut problem: Problem) -> Problem {
        for &parameter in algorithm.parameters {
            let wanted = self.get(parameter);
            match parameter {
                Parameter::Radix => {
                    let radix = wanted.unwrap_or(default_radix(problem.size));
                    problem.radix = legal_radix(radix, problem.size);
                }
                Parameter::Segment if algorithm.cuts_segments() => {
                    let segments = bytes.div_ceil(wanted.unwrap_or(usize::MAX));
                    problem.segments = segments.clamp(1, MOST_SEGMENTS);
                }
                Parameter::Segment => {}
                Parameter::Window => problem.window = wanted.unwrap_or(problem.window),
            }
        }
        problem
    }
}
