//! JSON with the places of its parts. Comments and trailing commas are allowed, as the libraries that read such files do.

use super::super::error::shortened;
use super::super::nearest::unknown;
use super::Fault;
use jsonc_parser::ast::{Object, ObjectProp, Value};
use jsonc_parser::common::Ranged;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use std::ops::Range;

const OPTIONS: ParseOptions = ParseOptions {
    allow_comments: true,
    allow_trailing_commas: true,
    allow_loose_object_property_names: false,
    allow_missing_commas: false,
    allow_single_quoted_strings: false,
    allow_hexadecimal_numbers: false,
    allow_unary_plus_numbers: false,
    allow_bare_decimal_point_numbers: false,
    allow_non_finite_numbers: false,
    allow_extended_string_escapes: false,
};

/// Parses a text as an object. Reports a fault if it is anything else.
pub fn object<'text>(text: &'text str, faults: &mut Vec<Fault>) -> Option<Object<'text>> {
    let (place, message) = match parse_to_ast(text, &CollectOptions::default(), &OPTIONS) {
        Ok(parsed) => match parsed.value {
            Some(Value::Object(object)) => return Some(object),
            Some(other) => (place(&other), "expected `{`".to_owned()),
            None => (text.len()..text.len(), "expected `{`".to_owned()),
        },
        Err(error) => (error.range().start..error.range().end, error.kind().to_string()),
    };
    faults.push(Fault { place, message });
    None
}

/// Returns the place of a part of the JSON.
pub fn place(part: &impl Ranged) -> Range<usize> {
    part.range().start..part.range().end
}

/// Returns the place of a key without its quotes.
pub fn key_place(property: &ObjectProp) -> Range<usize> {
    let quoted = place(&property.name);
    quoted.start + 1..quoted.end - 1
}

/// Returns the properties of an object. Reports repeated keys.
pub fn properties<'value, 'text>(
    object: &'value Object<'text>,
    faults: &mut Vec<Fault>,
) -> impl Iterator<Item = (&'value str, &'value ObjectProp<'text>)> + use<'value, 'text> {
    let mut seen = std::collections::HashSet::new();
    for property in &object.properties {
        if !seen.insert(property.name.as_str()) {
            let message = format!("`{}` stands twice", shortened(property.name.as_str()));
            faults.push(Fault { place: key_place(property), message });
        }
    }
    object.properties.iter().map(|property| (property.name.as_str(), property))
}

/// Reports unknown keys of an object.
pub fn check_keys(object: &Object, known: &[&str], faults: &mut Vec<Fault>) {
    for (key, property) in properties(object, faults).collect::<Vec<_>>() {
        if !known.contains(&key) {
            let message = unknown("key", key, known.iter().copied());
            faults.push(Fault { place: key_place(property), message });
        }
    }
}

/// Returns the value as an object. Reports a fault if it is not an object.
pub fn as_object<'value, 'text>(
    value: &'value Value<'text>,
    faults: &mut Vec<Fault>,
) -> Option<&'value Object<'text>> {
    let object = value.as_object();
    if object.is_none() {
        faults.push(Fault { place: place(value), message: "expected `{`".into() });
    }
    object
}

/// Returns the elements of a list. Reports a fault if the value is no list.
pub fn elements<'value, 'text>(
    value: &'value Value<'text>,
    faults: &mut Vec<Fault>,
) -> &'value [Value<'text>] {
    match value.as_array() {
        Some(array) => &array.elements,
        None => {
            faults.push(Fault { place: place(value), message: "expected `[`".into() });
            &[]
        }
    }
}
