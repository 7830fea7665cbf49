//! The choice that rules make for a call.

use super::entry::BELOW;
use super::{Call, Parameters};
use crate::algorithms::{Algorithm, Reason};
use std::fmt;
use std::ptr;

/// The component or algorithm that serves a call.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// The component that would serve the call without rustcoll.
    Below,
    /// A registered algorithm.
    Use { algorithm: &'static Algorithm, parameters: Parameters },
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

/// Writes the algorithm's name and its parameters, or `below`.
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
    /// Returns the algorithm; `None` for [`Choice::Below`].
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        match self {
            Choice::Below => None,
            Choice::Use { algorithm, .. } => Some(algorithm),
        }
    }

    /// Returns the algorithm's parameters; none are set for [`Choice::Below`].
    pub fn parameters(&self) -> Parameters {
        match self {
            Choice::Below => Parameters::default(),
            Choice::Use { parameters, .. } => *parameters,
        }
    }

    /// Fails with the reason if the choice cannot serve a call.
    pub(super) fn serves(&self, call: &Call) -> Result<(), Reason> {
        match self {
            // rustcoll cannot know whether the other component's results are reproducible.
            Choice::Below if call.reproducible => Err(Reason::Irreproducible),
            Choice::Below => Ok(()),
            Choice::Use { algorithm, .. } => call.is_served_by(algorithm),
        }
    }
}
