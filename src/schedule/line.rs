//! A line of a text, token by token.

use std::fmt;
use std::ops::RangeInclusive;

/// Tokens of several characters that are not words.
const SYMBOLS: [&str; 5] = ["..", "==", "!=", "<=", ">="];

/// Why and where a text is not a schedule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the character within the line, from 1.
    pub column: usize,
    /// The token there; empty at the end of a line.
    pub found: String,
    /// What the parser expected there.
    pub expected: String,
}

impl ParseError {
    /// Returns what is wrong, without the place.
    pub fn message(&self) -> String {
        match self.found.as_str() {
            "" => format!("expected {}, found the end of the line", self.expected),
            found => format!("expected {}, found {found:?}", self.expected),
        }
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message())
    }
}

impl std::error::Error for ParseError {}

/// Returns a line without its comment.
pub fn content(line: &str) -> &str {
    line.split('#').next().unwrap_or_default().trim_end()
}

/// A line that is being read.
#[derive(Clone, Copy)]
pub struct Line<'text> {
    /// Its number, from 1.
    pub number: usize,
    text: &'text str,
    /// The unread part: a suffix of `text` that does not begin with a space.
    pub rest: &'text str,
}

impl<'text> Line<'text> {
    pub fn new(number: usize, text: &'text str) -> Self {
        let text = content(text);
        Line { number, text, rest: text.trim_start() }
    }

    pub fn number(&mut self, what: &str, bounds: RangeInclusive<u32>) -> Result<u32, ParseError> {
        let token = self.token();
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(self.error(what));
        }
        let Some(number) = token.parse().ok().filter(|number| bounds.contains(number)) else {
            return Err(self.error(format!("{what} from {} to {}", bounds.start(), bounds.end())));
        };
        self.skip(token);
        Ok(number)
    }

    pub fn expect(&mut self, token: &str) -> Result<(), ParseError> {
        if self.accept(token) { Ok(()) } else { Err(self.error(format!("{token:?}"))) }
    }

    pub fn accept(&mut self, token: &str) -> bool {
        let accepted = self.token() == token;
        if accepted {
            self.skip(token);
        }
        accepted
    }

    pub fn end<T>(self, result: T) -> Result<T, ParseError> {
        if self.at_end() { Ok(result) } else { Err(self.error("the end of the line")) }
    }

    pub fn at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the next word or number, a symbol, or any other character; empty at the end.
    pub fn token(&self) -> &'text str {
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let word = self.rest.find(|letter| !is_of_word(letter)).unwrap_or(self.rest.len());
        let symbol = SYMBOLS.iter().find(|symbol| self.rest.starts_with(*symbol));
        let length = match (word, symbol) {
            (0, Some(symbol)) => symbol.len(),
            (0, None) => self.rest.chars().next().map_or(0, char::len_utf8),
            _ => word,
        };
        &self.rest[..length]
    }

    /// Skips `token`, which must come next, and the spaces behind it.
    pub fn skip(&mut self, token: &str) {
        self.rest = self.rest[token.len()..].trim_start();
    }

    /// As [`Line::error`], about the line as a whole.
    pub fn error_at_start(&self, expected: impl Into<String>) -> ParseError {
        Line { rest: self.text.trim_start(), ..*self }.error(expected)
    }

    /// Returns the error that something else should come next.
    pub fn error(&self, expected: impl Into<String>) -> ParseError {
        ParseError {
            line: self.number,
            column: self.column(),
            found: self.token().to_string(),
            expected: expected.into(),
        }
    }

    /// Returns the number of the next character within the line, from 1.
    pub fn column(&self) -> usize {
        self.text[..self.text.len() - self.rest.len()].chars().count() + 1
    }
}
