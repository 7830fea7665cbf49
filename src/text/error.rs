//! Errors in a text, with their places.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A place in a text.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    /// The name of the file, or of another source of the text.
    pub file: Arc<str>,
    /// Number of the line, from 1; 0 for the text as a whole.
    pub line: usize,
    /// Number of the character in its line, from 1.
    pub column: usize,
}

impl Origin {
    /// Returns the place of a text as a whole, which may not even exist.
    pub fn whole(file: &str) -> Origin {
        Origin { file: file.into(), line: 0, column: 0 }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Origin { file, line, column } = self;
        if *line == 0 { formatter.write_str(file) } else { write!(formatter, "{file}:{line}:{column}") }
    }
}

/// One error in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    pub origin: Origin,
    /// The text at fault; empty if something is missing.
    pub text: String,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.origin, self.message)
    }
}

/// A remark on something that is right, but means less than it may seem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Note {
    pub origin: Origin,
    pub message: String,
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{}: {}", self.origin, self.message)
    }
}

/// All errors in a text, in its order; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextErrors(pub Vec<TextError>);

/// Writes one line for each error.
impl fmt::Display for TextErrors {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let lines: Vec<_> = self.0.iter().map(TextError::to_string).collect();
        formatter.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for TextErrors {}

/// A message about some bytes of a text.
#[derive(Debug)]
pub struct Fault {
    pub place: Range<usize>,
    pub message: String,
}

/// A text and its lines.
pub struct SourceText<'text> {
    file: Arc<str>,
    text: &'text str,
    /// The byte at which each line starts.
    lines: Vec<usize>,
}

/// The most characters of an offending text that messages show.
const MOST_SHOWN: usize = 60;

impl<'text> SourceText<'text> {
    pub fn new(file: &str, text: &'text str) -> Self {
        let lines = [0].into_iter().chain(text.match_indices('\n').map(|(newline, _)| newline + 1)).collect();
        SourceText { file: file.into(), text, lines }
    }

    /// Returns the place of a byte.
    pub fn origin(&self, byte: usize) -> Origin {
        self.origin_after(0, 1, byte)
    }

    /// As [`SourceText::origin`], given the column of an earlier byte: lines may be long and have many faults.
    fn origin_after(&self, earlier: usize, column: usize, byte: usize) -> Origin {
        let line = self.lines.partition_point(|&start| start <= byte);
        let start = self.lines[line - 1];
        let (from, column) = if start <= earlier { (earlier, column) } else { (start, 1) };
        let column = column + self.text[from..byte].chars().count();
        Origin { file: self.file.clone(), line, column }
    }

    /// Returns the errors in the order of the text.
    pub fn errors(&self, mut faults: Vec<Fault>) -> TextErrors {
        faults.sort_by_key(|fault| fault.place.start);
        let (mut earlier, mut column) = (0, 1);
        let error = |Fault { place, message }| {
            let place = floor(self.text, place.start)..floor(self.text, place.end);
            let origin = self.origin_after(earlier, column, place.start);
            (earlier, column) = (place.start, origin.column);
            TextError { origin, text: shortened(&self.text[place]), message }
        };
        TextErrors(faults.into_iter().map(error).collect())
    }

    /// Returns notes in the order of the text.
    pub fn notes(&self, notes: Vec<Fault>) -> Vec<Note> {
        let errors = self.errors(notes).0.into_iter();
        errors.map(|TextError { origin, message, .. }| Note { origin, message }).collect()
    }
}

/// Returns the start of the character that a byte belongs to.
fn floor(text: &str, byte: usize) -> usize {
    (0..=byte.min(text.len())).rev().find(|&byte| text.is_char_boundary(byte)).unwrap_or(0)
}

/// Returns as much of a text as messages show.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_characters_from_the_start_of_a_line() {
        let source = SourceText::new("file", "ab\n\u{e9}\u{e9} cd\ne\u{e9}");
        let fault = |place| Fault { place, message: String::new() };
        // In the order of the text, not of the faults. A place within a character becomes that character's.
        let errors = source.errors([13..14, 0..1, 8..10, 9..10, 3..5, 14..14, 12..12].map(fault).into());
        let found: Vec<_> =
            errors.0.iter().map(|error| (error.origin.line, error.origin.column, &error.text[..])).collect();
        let expected =
            [(1, 1, "a"), (2, 1, "é"), (2, 4, "cd"), (2, 5, "d"), (3, 2, ""), (3, 2, "é"), (3, 3, "")];
        assert_eq!(found, expected);
        for error in &errors.0 {
            assert_eq!(error.origin.file.as_ref(), "file");
        }
        assert_eq!(source.origin(9).to_string(), "file:2:5");
    }

    #[test]
    fn long_texts_are_shown_in_part() {
        assert_eq!(shortened("é"), "é");
        assert_eq!(shortened(&"é".repeat(MOST_SHOWN + 1)), "é".repeat(MOST_SHOWN) + "…");
    }
}
