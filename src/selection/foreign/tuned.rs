//! The rule file of Open MPI's tuned component: numbers, and comments from `#` to the end of a line.
//!
//! ```text
//! rule-file-version-2   # may be left out
//! 1                     # number of collectives
//! 2                     # a collective
//! 1                     # number of communicator sizes
//! 8                     # a communicator size: from it on to the next one, the first also below
//! 2                     # number of message sizes
//! 0    3 0 0            # a message size: from it on; algorithm, fan-out, segment size
//! 4096 4 0 0 0          # and from version 2 on the number of requests
//! ```
//!
//! Open MPI silently ignores a file that has a fault or ends too early. rustcoll reports each fault.

mod numbers;
#[cfg(test)]
mod tests;

use super::super::reading::MOST_RULES;
use super::tuned_algorithms::{COLLECTIVES, TunedAlgorithm, TunedMeasure, algorithms};
use super::tuned_rule::{Number, TunedRule, left_to_others, no_measure};
use super::{Conditions, Entry, Fault, Lists, Provenance, Written};
use crate::algorithms::Collective;
use numbers::{Communicator, Numbers};
use std::ops::RangeInclusive;

/// The beginning of a file that has a version.
pub const VERSION: &str = "rule-file-version-";

/// Reads a file. Parts that cannot be read are left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut reader = Reader { numbers: Numbers::of(text, faults), notes: Vec::new() };
    let mut lists = Lists::default();
    reader.file(&mut lists);
    Written { lists: lists.0, notes: reader.notes, ..Written::default() }
}

struct Reader<'reader> {
    numbers: Numbers<'reader>,
    notes: Vec<Fault>,
}

impl Reader<'_> {
    /// Reads the file. Reports a fault and returns `None` if the file ends too early.
    fn file(&mut self, lists: &mut Lists) -> Option<()> {
        let count = self.numbers.number("the number of collectives")?;
        let mut seen = Vec::new();
        for read in 0..count.value {
            let Some(id) = self.numbers.number("a collective") else {
                self.numbers.fault(
                    &count.place,
                    format!("only {read} of {} collectives follow: write {read}", count.value),
                );
                return None;
            };
            let collective = COLLECTIVES.get(id.value).copied();
            match collective {
                None => self
                    .numbers
                    .fault(&id.place, format!("there is no collective {}: they are 0 to 21", id.value)),
                Some(collective) if seen.contains(&collective) => {
                    self.numbers.fault(&id.place, format!("{} stands twice", collective.name()));
                }
                Some(collective) => seen.push(collective),
            }
            let communicators = self.numbers.communicators()?;
            if let Some(collective) = collective {
                let entries = self.entries(collective, &id, &communicators);
                lists.of(collective).extend(entries);
            }
        }
        self.numbers.end(count.value);
        Some(())
    }

    fn entries(&mut self, collective: Collective, id: &Number, communicators: &[Communicator]) -> Vec<Entry> {
        if algorithms(collective).is_empty() {
            self.notes.push(left_to_others(collective, &id.place));
            return Vec::new();
        }
        let mut entries = Vec::new();
        for (position, communicator) in communicators.iter().enumerate() {
            // A list with more rules is refused later, so a very long rest is not stored.
            if entries.len() > MOST_RULES {
                break;
            }
            let first = if position == 0 { 0 } else { communicator.size.value };
            let ranks = until(first, communicators.get(position + 1).map(|next| &next.size));
            let rules = self.rules(collective, communicator, &ranks);
            // The range is empty if sizes do not ascend, which has been reported.
            if !ranks.is_empty() {
                entries.extend(self.of_communicator(collective, &communicator.size, ranks, &rules));
            }
        }
        entries
    }

    fn of_communicator(
        &mut self,
        collective: Collective,
        size: &Number,
        ranks: RangeInclusive<usize>,
        rules: &[TunedRule],
    ) -> Vec<Entry> {
        let mut conditions = Conditions::default();
        let is_unmeasured = TunedMeasure::of(collective) == TunedMeasure::Element && rules.len() > 1;
        if is_unmeasured {
            self.notes.push(no_measure(collective, &rules[1].place));
        }
        if is_unmeasured || rules.is_empty() {
            conditions.add_range("ranks", ranks, &size.place);
            return vec![conditions.below(&size.place, Provenance::Translated)];
        }
        let entries = rules.iter().flat_map(|rule| rule.entries(&conditions, &mut self.notes));
        entries.take(MOST_RULES + 1).collect()
    }

    /// Returns the rules of a communicator, without those that no message reaches. Rules with unknown
    /// algorithms are left out and reported.
    fn rules(
        &mut self,
        collective: Collective,
        communicator: &Communicator,
        ranks: &RangeInclusive<usize>,
    ) -> Vec<TunedRule> {
        let messages = &communicator.messages;
        let mut rules = Vec::new();
        for (position, message) in messages.iter().enumerate() {
            let Some(algorithm) = self.algorithm(collective, &message.algorithm) else { continue };
            // Before version 6, Open MPI ignores an allgather's fan-out and takes the radix 2. Version 6 has
            // another format.
            let fan = (collective != Collective::Allgather).then(|| message.fan.clone());
            rules.push(TunedRule {
                place: message.place.clone(),
                collective,
                ranks: ranks.clone(),
                ranks_place: communicator.size.place.clone(),
                messages: until(message.size.value, messages.get(position + 1).map(|next| &next.size)),
                messages_place: message.size.place.clone(),
                algorithm,
                named: message.algorithm.place.clone(),
                fan,
                segment: Some(message.segment.clone()),
                requests: message.requests.clone(),
            });
        }
        rules.retain(|rule| !rule.messages.is_empty());
        rules
    }

    fn algorithm(&mut self, collective: Collective, number: &Number) -> Option<&'static TunedAlgorithm> {
        let known = algorithms(collective);
        let found = known.get(number.value);
        if found.is_none() {
            let (name, last) = (collective.name(), known.len() - 1);
            let message = format!("{name} has no algorithm {}: they are 0 to {last}", number.value);
            self.numbers.fault(&number.place, message);
        }
        found
    }
}

/// Returns the range from one size to just below the next one.
fn until(first: usize, next: Option<&Number>) -> RangeInclusive<usize> {
    first..=next.map_or(usize::MAX, |next| next.value.saturating_sub(1))
}
