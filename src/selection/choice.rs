//! What rules choose.

use super::entry::BELOW;
use super::{Call, Parameters};
use crate::algorithms::{Algorithm, Reason};
use std::fmt;
use std::ptr;

/// Who serves a call, and how.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// Whoever would have served it if this library were not there.
    Below,
    /// A registered algorithm.
    Use {
        /// The algorithm.
        algorithm: &'static Algorithm,
        /// Its parameters.
        parameters: Parameters,
    },
}

impl PartialEq for Choice {
    fn eq(&self, other: &Choice) -> bool {
        match (self, other) {
            (Choice::Below, Choice::Below) => true,
            (Choice::Use { algorithm, parameters }, Choice::Use { algorithm: other, parameters: others }) => {
                ptr::eq(*algorithm, *other) && parameters == others
            }
            _ => false,
        }
    }
}

/// The algorithm's name and its parameters, or `below`.
impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(self.algorithm().map_or(BELOW, |algorithm| algorithm.name))?;
        for (parameter, value) in self.parameters().given() {
            write!(formatter, ", {} {value}", parameter.name())?;
        }
        Ok(())
    }
}

impl Choice {
    /// The algorithm, if it is not left to whoever is below.
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        match self {
            Choice::Below => None,
            Choice::Use { algorithm, .. } => Some(algorithm),
        }
    }

    /// Its parameters; none are set for whoever is below.
    pub fn parameters(&self) -> Parameters {
        match self {
            Choice::Below => Parameters::default(),
            Choice::Use { parameters, .. } => *parameters,
        }
    }

    /// Whether it can serve a call.
    pub(super) fn serves(&self, call: &Call) -> Result<(), Reason> {
        match self {
            // Nothing is known of results from there.
            Choice::Below if call.reproducible => Err(Reason::Irreproducible),
            Choice::Below => Ok(()),
            Choice::Use { algorithm, .. } => call.is_served_by(algorithm),
        }
    }
}
