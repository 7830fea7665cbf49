//! Choices in words.

use rustcoll::algorithms::Parameter;
use rustcoll::selection::Choice;

/// The algorithm's name, or that it is left to the component below.
pub fn name(choice: Choice) -> &'static str {
    choice.algorithm().map_or("below", |algorithm| algorithm.name)
}

/// The parameters that are not left at their defaults.
pub fn parameters(choice: Choice) -> impl Iterator<Item = (Parameter, usize)> {
    let set = move |parameter| match choice {
        Choice::Below => None,
        Choice::Use { parameters, .. } => parameters.get(parameter),
    };
    Parameter::ALL.into_iter().filter_map(move |parameter| Some((parameter, set(parameter)?)))
}

/// Name and parameters.
pub fn in_words(choice: Choice) -> String {
    let parameters = parameters(choice).map(|(parameter, value)| format!(", {} {value}", parameter.name()));
    format!("{}{}", name(choice), parameters.collect::<String>())
}
