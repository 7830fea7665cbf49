//! Rules as written in a file or a line: keys and values with their places, not yet interpreted.

use super::error::Fault;
use crate::algorithms::Collective;
use std::ops::Range;

/// The key of the algorithm in rules.
pub const ALGORITHM: &str = "algorithm";

/// The word that leaves a call to the component that would serve it without rustcoll.
pub const BELOW: &str = "below";

/// A text of rules, not yet interpreted.
#[derive(Debug, Default)]
pub struct Written {
    pub priority: Option<i32>,
    /// The rules of each collective, in the order of the text.
    pub lists: Vec<(Collective, Vec<Entry>)>,
    /// Notes on rules that could not be taken over unchanged.
    pub notes: Vec<Fault>,
    /// Whether the text has comments. Such a text may lack rules, because comments can say why there are none.
    pub is_commented: bool,
}

impl Written {
    /// Returns the same rules as rules of the library itself.
    pub fn tested(mut self) -> Written {
        let entries = self.lists.iter_mut().flat_map(|(_, entries)| entries);
        entries.for_each(|entry| entry.provenance = Provenance::Tested);
        self
    }
}

/// A rule, not yet interpreted.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The place to report for the rule: its header in a file, the whole rule in a line.
    pub place: Range<usize>,
    /// Keys and values in the order of the text.
    pub items: Vec<Item>,
    pub provenance: Provenance,
}

/// The origin of a rule. It decides what happens if the rule never decides a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provenance {
    /// The user wrote the rule. If it never decides, this is a fault.
    Written,
    /// Translated from a rule of another library; keys may repeat. If it never decides, this is noted.
    Translated,
    /// The rule completes others and need not decide any call.
    Implied,
    /// A built-in rule. Tests check that it decides, so that processes need not.
    Tested,
}

/// A key and its values.
#[derive(Clone, Debug)]
pub struct Item {
    pub key: Word,
    /// No value means `true`; several values are the elements of a list.
    pub values: Vec<Word>,
}

impl Entry {
    /// Returns the place of a key with its values, or the whole rule's place if it lacks the key.
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
    /// The word's bytes in the source.
    pub place: Range<usize>,
}

impl Word {
    /// Returns the place of some bytes of the word, or of the whole word if it is written with escapes.
    pub fn part(&self, part: Range<usize>) -> Range<usize> {
        match self.place.len() == self.text.len() {
            true => self.place.start + part.start..self.place.start + part.end,
            false => self.place.clone(),
        }
    }

    /// Returns the parts between commas.
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
