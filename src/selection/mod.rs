//! Selects the algorithm of a call. Each collective has an ordered list of rules; the first rule that matches decides.
//!
//! Files ([`Rules::parse`]) and lines ([`Rules::parse_line`]) are read into the same entries. The same checks
//! turn all entries into rules. `docs/rules.md` describes both formats for users.

#![forbid(unsafe_code)]

mod call;
mod choice;
mod condition;
mod decisions;
mod differences;
mod domain;
mod entry;
mod explain;
mod expression;
mod file;
mod foreign;
mod line;
mod load;
mod measure;
pub mod online;
mod parameters;
mod ranges;
mod reading;
#[cfg(test)]
mod samples;
mod table;
#[cfg(test)]
mod tests;
mod writing;

pub use crate::text::{
    LONGEST_TEXT, Note, Origin, TextError as RuleError, TextErrors as RuleErrors, file_content, nearest,
    quantity,
};
pub use call::{Call, Neighbourhood};
pub use choice::Choice;
pub use decisions::{DecidedBytes, RuledChoice};
pub use differences::Difference;
pub use explain::{Explanation, Verdict};
pub use foreign::Format;
pub use measure::Measure;
pub use parameters::{MOST_SEGMENTS, Parameters};
pub(crate) use ranges::Ranges;
pub use reading::{algorithm_names, keys};
pub use table::Table;
pub use writing::Conversion;

use crate::algorithms::Collective;
use crate::text::content::{check_length, refusal, text};
use crate::text::error::{self, Fault, SourceText};
use condition::{Condition, Quantity};
use entry::Written;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// The name of the built-in rules in messages.
pub const BUILT_IN_NAME: &str = "default";

/// The text of the built-in rules.
pub const BUILT_IN_TEXT: &str = include_str!("../../selection-rules/default.toml");

/// The rules of all collectives.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    lists: BTreeMap<Collective, Vec<Rule>>,
    priority: Option<i32>,
    notes: Vec<Note>,
}

impl Rules {
    /// Returns the rules that apply unless the user gives others.
    pub fn built_in() -> &'static Rules {
        static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| {
            let read = |text: &str, faults: &mut Vec<Fault>| file::read(text, faults).tested();
            Rules::of_entries(BUILT_IN_NAME, BUILT_IN_TEXT, read).expect("tested with the library")
        });
        &BUILT_IN
    }

    /// Reads the content of a rule file. `name` is for messages. Fails if the content is not text, and like
    /// [`Rules::parse`].
    pub fn read(name: &str, content: &[u8]) -> Result<Rules, RuleErrors> {
        Rules::parse(name, text(name, content)?)
    }

    /// Reads the text of a rule file. Fails if the text is longer than [`LONGEST_TEXT`] or has neither rules
    /// nor comments. Otherwise fails with all faults of the rules.
    pub fn parse(name: &str, text: &str) -> Result<Rules, RuleErrors> {
        Rules::of_entries(name, text, |text, faults| Format::of(text).read(text, faults))
    }

    /// Reads the rules of one collective from a line. `name` is for messages. Fails like [`Rules::parse`].
    pub fn parse_line(name: &str, collective: Collective, line: &str) -> Result<Rules, RuleErrors> {
        Rules::of_entries(name, line, |line, faults| Written {
            lists: vec![(collective, line::read(line, faults))],
            ..Written::default()
        })
    }

    fn of_entries(
        name: &str,
        text: &str,
        read: impl Fn(&str, &mut Vec<Fault>) -> Written,
    ) -> Result<Rules, RuleErrors> {
        check_length(name, text)?;
        let source = SourceText::new(name, text);
        let mut faults = Vec::new();
        let Written { priority, lists, mut notes, is_commented } = read(text, &mut faults);
        let is_empty = priority.is_none()
            && notes.is_empty()
            && !is_commented
            && lists.iter().all(|(_, entries)| entries.is_empty());
        if faults.is_empty() && is_empty {
            return Err(refusal(name, "there are no rules".into()));
        }
        let rules = lists.iter().map(|(collective, entries)| {
            (*collective, reading::rules(*collective, entries, &source, &mut faults, &mut notes))
        });
        let lists = rules.collect();
        let rules = Rules { lists, priority, notes: source.notes(notes) };
        if faults.is_empty() { Ok(rules) } else { Err(source.errors(faults)) }
    }

    /// Appends other rules, which decide the calls that none of these rules matches. Likewise, the priority
    /// of `others` counts only if these rules have none.
    pub fn followed_by(mut self, others: &Rules) -> Rules {
        for (&collective, list) in &others.lists {
            self.lists.entry(collective).or_default().extend_from_slice(list);
        }
        self.priority = self.priority.or(others.priority);
        self.notes.extend_from_slice(&others.notes);
        self
    }

    /// Returns the component's priority in the rule file, from 0 to 100, if the file sets one.
    pub fn priority(&self) -> Option<i32> {
        self.priority
    }

    /// Returns notes on rules of another library that could not be taken over unchanged, in the order of the text.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Returns the rules of a collective in order.
    pub fn of(&self, collective: Collective) -> &[Rule] {
        self.lists.get(&collective).map_or(&[], Vec::as_slice)
    }

    /// Returns the choice of the first rule that matches; [`Choice::Below`] if none matches.
    pub fn choose(&self, call: &Call) -> Choice {
        let deciding = self.of(call.collective).iter().find(|rule| rule.matches(call));
        deciding.map_or(Choice::Below, |rule| rule.choice)
    }
}

/// A rule of a collective.
#[derive(Clone, Debug)]
pub struct Rule {
    pub origin: Origin,
    pub choice: Choice,
    conditions: Vec<Condition>,
}

impl Rules {
    /// Returns the largest number of ranks at which a rule begins or ceases to match; 0 if no rule asks for ranks.
    pub fn last_change_of_ranks(&self) -> usize {
        let rules = Collective::ALL.into_iter().flat_map(|collective| self.of(collective));
        rules.map(Rule::last_change_of_ranks).max().unwrap_or(0)
    }
}

impl Rule {
    fn matches(&self, call: &Call) -> bool {
        self.conditions.iter().all(|condition| condition.is_met(call)) && self.choice.serves(call).is_ok()
    }

    /// Returns the largest number of ranks at which the rule begins or ceases to match; 0 if it does not ask for ranks.
    fn last_change_of_ranks(&self) -> usize {
        let changes = self.conditions.iter().map(|condition| match condition {
            Condition::Quantity(Quantity::Ranks, ranges) => ranges.last_change(),
            _ => 0,
        });
        changes.max().unwrap_or(0)
    }

    /// Whether the rule has no expression among its conditions, so that its [`domain`] is exact.
    fn is_box(&self) -> bool {
        !self.conditions.iter().any(|condition| matches!(condition, Condition::When(_)))
    }
}
