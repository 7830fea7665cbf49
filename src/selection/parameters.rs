//! Parameters of algorithms as users set them, and what they make of a problem.

use crate::algorithms::{Algorithm, Parameter, Problem, default_radix, legal_radix};

/// A vector is cut into at most so many segments, however short the user wants them.
pub const MOST_SEGMENTS: usize = 1 << 14;

/// The parameters that a rule sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters([Option<usize>; Parameter::ALL.len()]);

impl Parameters {
    /// One of them, if it is not left at its default; a segment is in bytes.
    pub fn get(&self, parameter: Parameter) -> Option<usize> {
        self.0[parameter as usize]
    }

    /// These, and where they are left at their defaults the others.
    pub fn or(mut self, others: Parameters) -> Parameters {
        for parameter in Parameter::ALL {
            self.set(parameter, self.get(parameter).or(others.get(parameter)));
        }
        self
    }

    /// Sets one of them, or leaves it at its default.
    pub fn set(&mut self, parameter: Parameter, value: Option<usize>) {
        self.0[parameter as usize] = value;
    }

    /// These with one of them set.
    pub fn with(mut self, parameter: Parameter, value: usize) -> Parameters {
        self.set(parameter, Some(value));
        self
    }

    /// Those that are not left at their defaults.
    pub fn given(&self) -> impl Iterator<Item = (Parameter, usize)> + use<> {
        let values = *self;
        Parameter::ALL.into_iter().filter_map(move |parameter| Some((parameter, values.get(parameter)?)))
    }

    /// The most bytes of a block that are in shared memory at a time, for an algorithm whose schedule takes no segments.
    pub fn stripe(&self, algorithm: &Algorithm) -> Option<usize> {
        self.get(Parameter::Segment).filter(|_| !algorithm.cuts_segments())
    }

    /// A problem with these parameters, as far as an algorithm takes them, for a call of so many bytes. What goes too far is
    /// cut to what is legal.
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
