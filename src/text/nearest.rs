//! Guesses the name that a user has mistyped.

use super::error::shortened;

const LONGEST: usize = 64;

/// Returns the known name with the fewest edits from `name`.
pub fn nearest<'known>(name: &str, known: impl IntoIterator<Item = &'known str>) -> Option<&'known str> {
    known.into_iter().min_by_key(|candidate| edits(name, candidate))
}

/// Returns the message that a name is unknown, with the nearest known one.
pub fn unknown<'known>(what: &str, name: &str, known: impl IntoIterator<Item = &'known str>) -> String {
    // A text that is longer than any name is not a mistyped name.
    let hint = if name.len() <= LONGEST { nearest(name, known) } else { None };
    let hint = hint.map(|nearest| format!("; the nearest known one is `{nearest}`"));
    format!("unknown {what} `{}`{}", shortened(name), hint.unwrap_or_default())
}

/// Returns how many characters must be inserted, removed or replaced to turn one text into the other.
fn edits(from: &str, to: &str) -> usize {
    // Before each round, entry j is the distance from the part of `from` so far to the first j characters of
    // `to`.
    let mut row: Vec<usize> = (0..=to.chars().count()).collect();
    for (position, removed) in from.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], position + 1);
        for (column, inserted) in to.chars().enumerate() {
            let replaced = diagonal + usize::from(removed != inserted);
            diagonal = row[column + 1];
            row[column + 1] = replaced.min(diagonal + 1).min(row[column] + 1);
        }
    }
    row[to.chars().count()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (from, to, expected) in
            [("", "", 0), ("", "ring", 4), ("ring", "ring", 0), ("rign", "ring", 2), ("kitten", "sitting", 3)]
        {
            assert_eq!(edits(from, to), expected, "{from} to {to}");
            assert_eq!(edits(to, from), expected, "{to} to {from}");
        }
    }

    #[test]
    fn the_nearest_has_the_fewest_edits() {
        assert_eq!(nearest("pairwize", ["bruck", "pairwise", "spread_out"]), Some("pairwise"));
        assert_eq!(nearest("pairwise", []), None);
    }
}
