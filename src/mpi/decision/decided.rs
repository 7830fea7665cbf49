//! What was decided about a call, and who did.

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
    /// Who decided it.
    pub decided: Decided,
    /// The algorithm with its parameters; `below` for the component below, `nobody` for a call without data.
    pub served: Arc<str>,
}

impl Decision {
    /// The component below serves the call.
    pub fn below(decided: Decided) -> Decision {
        Decision { number: 0, decided, served: "below".into() }
    }

    /// The call moves no data.
    pub fn nothing_to_do() -> Decision {
        Decision { number: 0, decided: Decided::NothingToDo, served: "nobody".into() }
    }
}

/// Who decided how a call is served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// A parameter that forces an algorithm, also if that cannot serve the call.
    Parameter,
    /// The same by an info key of the communicator.
    Info,
    /// The rule that stands there.
    Rule(Origin),
    /// No rule matches.
    NoRule,
    /// What was decided is the component below, but it must not serve the call, or there is none.
    NoneBelow,
    /// Somebody asked for what could not be had, and so this one decided.
    Without(Lack, Box<Decided>),
    /// The call is one of those by which algorithms are tried.
    Tried,
    /// Such calls, before.
    Learnt,
    /// The call moves no data.
    NothingToDo,
}

/// What could not be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// Shared memory.
    SharedMemory,
    /// The same, for a communicator's first calls.
    SharedMemoryYet,
    /// As much memory as an algorithm that calls other collectives would need.
    RoomForCalls,
}

impl Decided {
    /// Whether the user forces an algorithm.
    pub fn is_forced(&self) -> bool {
        matches!(self, Decided::Parameter | Decided::Info)
    }

    /// In short, for a table: of a rule the file and line.
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
            Lack::RoomForCalls => "more memory than mock-ups may have",
        })
    }
}
