//! Reads TOML, with the places of keys and values.

use super::error::Fault;
use toml::Spanned;
use toml::de::DeTable;

/// Returns the keys and values of a text. `None` if it is no TOML; `faults` then tells why.
pub fn read<'text>(text: &'text str, faults: &mut Vec<Fault>) -> Option<Spanned<DeTable<'text>>> {
    let (file, errors) = DeTable::parse_recoverable(text);
    let is_right = errors.is_empty();
    faults.extend(errors.into_iter().map(|error| Fault {
        place: error.span().unwrap_or(text.len()..text.len()),
        message: error.message().to_owned(),
    }));
    is_right.then_some(file)
}
