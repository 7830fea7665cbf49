//! Choices in words.

use rustcoll::selection::{Choice, Parameters};
use serde_json::{Map, Value};

/// The algorithm's name, or that it is left to the component below.
pub fn name(choice: Choice) -> &'static str {
    choice.algorithm().map_or("below", |algorithm| algorithm.name)
}

/// The parameters that are not left at their defaults.
pub fn as_json(parameters: Parameters) -> Map<String, Value> {
    parameters.given().map(|(parameter, value)| (parameter.name().into(), value.into())).collect()
}
