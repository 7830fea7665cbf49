//! Who serves a call, and what decided that.

use crate::report::NO_SHARED_MEMORY_YET;
use crate::selection::Origin;
use std::ffi::c_int;
use std::fmt;
use std::sync::Arc;

/// What was decided about a call.
#[derive(Clone)]
pub struct Decision {
    /// The algorithm's number, 0 for the component below.
    pub number: c_int,
    pub decided: Decided,
    /// The algorithm with its parameters; `below` for the component below, `nobody` for a call without data.
    pub served: Arc<str>,
}

impl Decision {
    /// Returns the decision that the component below serves the call.
    pub fn below(decided: Decided) -> Decision {
        Decision { number: 0, decided, served: "below".into() }
    }

    /// Returns the decision about a call that moves no data.
    pub fn nothing_to_do() -> Decision {
        Decision { number: 0, decided: Decided::NothingToDo, served: "nobody".into() }
    }
}

/// What decided how a call is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// A parameter that forces an algorithm, even one that cannot serve the call.
    Parameter,
    /// An info key of the communicator that forces an algorithm.
    Info,
    /// The rule at that place.
    Rule(Origin),
    /// No rule matches.
    NoRule,
    /// The component below was chosen, but must not serve the call or does not exist.
    NoneBelow,
    /// The decision in the box, taken because something that an algorithm needs was lacking.
    Without(Lack, Box<Decided>),
    /// The call tries an algorithm.
    Tried,
    /// Earlier calls tried algorithms.
    Learnt,
    /// The call moves no data.
    NothingToDo,
}

/// What an algorithm needs and a call cannot have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    SharedMemory,
    /// Shared memory, which a communicator's first calls do not use.
    SharedMemoryYet,
    /// Room for a mock-up: memory, or counts that fit an int.
    RoomForCalls,
}

impl Decided {
    /// Whether it was decided so because something was lacking.
    pub fn is_without(&self, lack: Lack) -> bool {
        match self {
            Decided::Without(lacking, other) => *lacking == lack || other.is_without(lack),
            _ => false,
        }
    }

    /// Whether the user forces an algorithm.
    pub fn is_forced(&self) -> bool {
        matches!(self, Decided::Parameter | Decided::Info)
    }

    /// Returns a short text for a table; for a rule its file and line.
    pub fn in_short(&self) -> String {
        match self {
            Decided::Rule(Origin { file, line, .. }) => format!("{file}:{line}"),
            Decided::Without(lack, other) => format!("{}, {lack}", other.in_short()),
            other => other.to_string(),
        }
    }
}

impl fmt::Display for Decided {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Decided::Parameter => formatter.write_str("forced"),
            Decided::Info => formatter.write_str("forced by info key"),
            Decided::Rule(origin) => write!(formatter, "{origin}"),
            Decided::NoRule => formatter.write_str("no rule"),
            Decided::NoneBelow => formatter.write_str("nothing below"),
            Decided::Without(lack, other) => write!(formatter, "{other}, {lack}"),
            Decided::Tried => formatter.write_str("tried online"),
            Decided::Learnt => formatter.write_str("learnt online"),
            Decided::NothingToDo => formatter.write_str("nothing to do"),
        }
    }
}

impl fmt::Display for Lack {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Lack::SharedMemory => "no shared memory",
            Lack::SharedMemoryYet => NO_SHARED_MEMORY_YET,
            Lack::RoomForCalls => "too much memory or too large counts for a mock-up",
        })
    }
}
