//! Choices as text and JSON.

use rustcoll::selection::{Choice, Parameters};
use serde_json::{Map, Value};

/// Returns the algorithm's name, or `below` for the component below.
pub fn name(choice: Choice) -> &'static str {
    choice.algorithm().map_or("below", |algorithm| algorithm.name)
}

/// Returns the parameters that are not left at their defaults.
pub fn as_json(parameters: Parameters) -> Map<String, Value> {
    parameters.given().map(|(parameter, value)| (parameter.name().into(), value.into())).collect()
}
