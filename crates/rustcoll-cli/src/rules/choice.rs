//! Choices in words.

use rustcoll::atlas::Candidate;
use rustcoll::selection::{Choice, Parameters};
use serde_json::{Map, Value};

/// The algorithm's name, or that it is left to the component below.
pub fn name(choice: Choice) -> &'static str {
    choice.algorithm().map_or("below", |algorithm| algorithm.name)
}

/// Name and parameters.
pub fn in_words(choice: Choice) -> String {
    match choice {
        Choice::Below => name(choice).to_owned(),
        Choice::Use { algorithm, parameters } => {
            let collective = algorithm.contract();
            Candidate { collective, algorithm, parameters }.to_string()
        }
    }
}

/// The parameters that are not left at their defaults.
pub fn as_json(parameters: Parameters) -> Map<String, Value> {
    parameters.given().map(|(parameter, value)| (parameter.name().into(), value.into())).collect()
}
