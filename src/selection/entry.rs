//! Rules as they are written, in a file or in a line: keys and values with their places, and no meaning yet.

use super::error::Fault;
use crate::algorithms::Collective;
use std::ops::Range;

/// The key of the algorithm.
pub const ALGORITHM: &str = "algorithm";

/// The algorithm that stands for the component below.
pub const BELOW: &str = "below";

/// A text of rules as it is written.
#[derive(Debug, Default)]
pub struct Written {
    /// The component's priority.
    pub priority: Option<i32>,
    /// The rules of each collective, the first first.
    pub lists: Vec<(Collective, Vec<Entry>)>,
    /// What a reader should know of rules that could not be taken over as they are.
    pub notes: Vec<Fault>,
    /// Whether it has comments, and may do without rules: they say why there are none.
    pub is_commented: bool,
}

/// A rule as it is written.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Where it begins.
    pub place: Range<usize>,
    /// Its keys and values in the order of the text.
    pub items: Vec<Item>,
    pub standing: Standing,
}

/// How a rule came about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It is written so. That it never decides is a fault.
    Written,
    /// It is what a rule of another library means, and may ask for one thing several times. That it never decides is noted.
    Translated,
    /// It completes others, and need not decide.
    Implied,
}

/// A key and its values.
#[derive(Clone, Debug)]
pub struct Item {
    pub key: Word,
    /// None stands for `true`; several are the elements of a list.
    pub values: Vec<Word>,
}

impl Entry {
    /// Where a key stands with its values; the whole rule's place, if it does not.
    pub fn place_of(&self, key: &str) -> Range<usize> {
        let item = self.items.iter().find(|item| item.key.text == key);
        item.map_or_else(|| self.place.clone(), Item::place)
    }
}

impl Item {
    fn place(&self) -> Range<usize> {
        let end = self.values.last().map_or(self.key.place.end, |value| value.place.end);
        self.key.place.start..end
    }
}

/// A name or a value.
#[derive(Clone, Debug)]
pub struct Word {
    pub text: String,
    /// The bytes of the source that it was read from.
    pub place: Range<usize>,
}

impl Word {
    /// Where some bytes of the word stand; where the whole word does, if it is written by escapes.
    pub fn part(&self, part: Range<usize>) -> Range<usize> {
        match self.place.len() == self.text.len() {
            true => self.place.start + part.start..self.place.start + part.end,
            false => self.place.clone(),
        }
    }

    /// What stands between commas.
    pub fn split(&self) -> impl Iterator<Item = Word> {
        let pieces = self.text.split(',').scan(0, |next, piece| {
            let start = *next;
            *next += piece.len() + 1;
            Some((start, piece))
        });
        pieces.map(|(start, piece)| {
            let text = piece.trim();
            let start = start + piece.len() - piece.trim_start().len();
            Word { text: text.to_owned(), place: self.part(start..start + text.len()) }
        })
    }
}
