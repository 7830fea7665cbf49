//! The rule file in TOML: the component's priority, and for each collective an array of tables with its rules.
//!
//! ```toml
//! priority = 70                # from 0 to 100
//!
//! [[alltoall]]
//! ranks = [4, "8..64"]         # a number, a range, both ends included, or a list of both
//! bytes = "..2KiB"             # likewise; B, KiB, MiB, GiB
//! algorithm = "bruck"          # or "below"
//! radix = "sqrt"               # or a number from 2 up
//!
//! [[bcast]]
//! when = "bytes > 4KiB * ranks"
//! algorithm = "binomial"
//! segment = "64KiB"
//! ```

use super::entry::{Entry, Item, Provenance, Word, Written};
use super::error::{Fault, shortened};
use super::nearest::unknown;
use crate::algorithms::Collective;
use crate::text::tables;
use std::ops::{Range, RangeInclusive};
use toml::Spanned;
use toml::de::DeValue;

type Value<'text> = Spanned<DeValue<'text>>;

const PRIORITY: &str = "priority";

/// The range of priorities of Open MPI's components.
const PRIORITIES: RangeInclusive<i32> = 0..=100;

/// Reads a file. Parts that cannot be read are left out and reported. If the text is not TOML, this is the only fault.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let Some(file) = tables::read(text, faults) else { return Written::default() };
    let mut reader = Reader { text, faults };
    let (settings, lists): (Vec<_>, Vec<_>) =
        file.get_ref().iter().partition(|(name, _)| name.get_ref() == PRIORITY);
    Written {
        priority: settings.first().and_then(|(_, value)| reader.priority(value)),
        lists: lists.into_iter().filter_map(|(name, rules)| reader.collective(name, rules)).collect(),
        notes: Vec::new(),
        is_commented: text.lines().any(|line| line.trim_start().starts_with('#')),
    }
}

struct Reader<'reader> {
    text: &'reader str,
    faults: &'reader mut Vec<Fault>,
}

impl Reader<'_> {
    fn fault<T>(&mut self, place: Range<usize>, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault { place, message: message.into() });
        None
    }

    fn priority(&mut self, value: &Value) -> Option<i32> {
        let word = self.word(value)?;
        match word.text.parse() {
            Ok(priority) if PRIORITIES.contains(&priority) => Some(priority),
            _ => {
                let (least, most) = (PRIORITIES.start(), PRIORITIES.end());
                let message =
                    format!("expected a number from {least} to {most}, found `{}`", shortened(&word.text));
                self.fault(word.place, message)
            }
        }
    }

    fn collective(
        &mut self,
        name: &Spanned<impl AsRef<str>>,
        rules: &Value,
    ) -> Option<(Collective, Vec<Entry>)> {
        let text = name.get_ref().as_ref();
        let Some(collective) = Collective::named(text) else {
            let known = Collective::ALL.map(Collective::name).into_iter().chain([PRIORITY]);
            return self.fault(name.span(), unknown("collective", text, known));
        };
        let DeValue::Array(rules) = rules.get_ref() else {
            return self.fault(name.span(), format!("write `[[{text}]]` above each rule"));
        };
        Some((collective, rules.iter().filter_map(|rule| self.entry(rule, text)).collect()))
    }

    fn entry(&mut self, rule: &Value, collective: &str) -> Option<Entry> {
        let DeValue::Table(table) = rule.get_ref() else {
            return self.fault(rule.span(), format!("write `[[{collective}]]` above each rule"));
        };
        let mut items: Vec<Item> = table.iter().filter_map(|(key, value)| self.item(key, value)).collect();
        items.sort_by_key(|item| item.key.place.start);
        Some(Entry { place: rule.span(), items, provenance: Provenance::Written })
    }

    fn item(&mut self, key: &Spanned<impl AsRef<str>>, value: &Value) -> Option<Item> {
        let values = match value.get_ref() {
            DeValue::Array(list) if list.is_empty() => return self.fault(value.span(), "the list is empty"),
            DeValue::Array(list) => list.iter().map(|element| self.word(element)).collect::<Option<_>>()?,
            _ => vec![self.word(value)?],
        };
        let text = key.get_ref().as_ref().to_owned();
        Some(Item { key: Word { text, place: key.span() }, values })
    }

    fn word(&mut self, value: &Value) -> Option<Word> {
        let place = value.span();
        let text = match value.get_ref() {
            DeValue::String(text) => return Some(self.within_quotes(text, place)),
            DeValue::Boolean(holds) => holds.to_string(),
            DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
                .map_or_else(|_| number.to_string(), |number| number.to_string()),
            _ => return self.fault(place, "expected a number, a text, true or false"),
        };
        Some(Word { text, place })
    }

    /// Returns a text with its place, without the quotes unless the text is written with escapes.
    fn within_quotes(&self, text: &str, place: Range<usize>) -> Word {
        let quotes = ['"', '\''];
        let raw = &self.text[place.clone()];
        let start = place.start + raw.len() - raw.trim_start_matches(quotes).len();
        let place = if raw.trim_matches(quotes) == text { start..start + text.len() } else { place };
        Word { text: text.to_owned(), place }
    }
}
