//! A line, token by token.

use super::super::Misread;
use std::ops::RangeInclusive;

/// What has more than one character and is no word.
const SYMBOLS: [&str; 5] = ["..", "==", "!=", "<=", ">="];

/// A line that is being read.
#[derive(Clone, Debug)]
pub struct Tokens<'text> {
    pub number: usize,
    text: &'text str,
    /// What has not been read yet, without spaces before it.
    rest: &'text str,
}

impl<'text> Tokens<'text> {
    pub fn new(number: usize, text: &'text str) -> Tokens<'text> {
        Tokens { number, text, rest: text.trim_start() }
    }

    /// The next token; empty at the end.
    pub fn next(&self) -> &'text str {
        let word = self.rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let length = match word.unwrap_or(self.rest.len()) {
            0 => SYMBOLS
                .iter()
                .find(|symbol| self.rest.starts_with(*symbol))
                .map_or_else(|| self.rest.chars().next().map_or(0, char::len_utf8), |symbol| symbol.len()),
            length => length,
        };
        &self.rest[..length]
    }

    pub fn is_next(&self, token: &str) -> bool {
        self.next() == token
    }

    pub fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    /// Reads the next token.
    pub fn take(&mut self) -> &'text str {
        let token = self.next();
        self.rest = self.rest[token.len()..].trim_start();
        token
    }

    pub fn accept(&mut self, token: &str) -> bool {
        let is_next = self.is_next(token);
        if is_next {
            self.take();
        }
        is_next
    }

    pub fn expect(&mut self, token: &str) -> Result<(), Misread> {
        if self.accept(token) { Ok(()) } else { Err(self.expected(&format!("{token:?}"))) }
    }

    pub fn end(&self) -> Result<(), Misread> {
        if self.is_at_end() { Ok(()) } else { Err(self.expected("the end of the line")) }
    }

    /// A number that stands there.
    pub fn number(&mut self, what: &str, bounds: RangeInclusive<usize>) -> Result<usize, Misread> {
        match self.next().parse().ok().filter(|number| bounds.contains(number)) {
            Some(number) => {
                self.take();
                Ok(number)
            }
            None => Err(self.expected(&format!("{what} from {} to {}", bounds.start(), bounds.end()))),
        }
    }

    /// Says that something else should come next.
    pub fn expected(&self, what: &str) -> Misread {
        let found = match self.next() {
            "" => "the end of the line".into(),
            token => format!("{token:?}"),
        };
        self.fault(format!("expected {what}, found {found}"))
    }

    /// Says what is wrong with what comes next.
    pub fn fault(&self, message: String) -> Misread {
        let read = &self.text[..self.text.len() - self.rest.len()];
        Misread { line: self.number, column: read.chars().count() + 1, message }
    }
}
