//! The rule file of the tuned component from Open MPI 6 on, in JSON.
//!
//! For a communicator, only the first fitting element of its collective's list counts, and within this
//! element the first fitting rule. If nothing fits, Open MPI decides.

#[cfg(test)]
mod tests;

use super::super::error::shortened;
use super::super::nearest::unknown;
use super::super::ranges::Ranges;
use super::super::reading::MOST_RULES;
use super::json::{as_object, check_keys, elements, key_place, object, place, properties};
use super::tuned_algorithms::{TunedAlgorithm, TunedMeasure, algorithms};
use super::tuned_rule::{Number, TunedRule, left_to_others, no_measure};
use super::{Conditions, Entry, Fault, Lists, Provenance, Written};
use crate::algorithms::Collective;
use jsonc_parser::ast::{Object, Value};
use std::ops::RangeInclusive;

const FILE_KEYS: [&str; 4] = ["$schema", "rule_file_version", "module", "collectives"];
const COMMUNICATOR_KEYS: [&str; 4] = ["comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"];
const RULE_KEYS: [&str; 6] = ["msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs"];

/// The distributions of ranks, by name, with the condition that must be 1.
const DISTRIBUTIONS: [(&str, Option<&str>); 3] =
    [("any", None), ("one-per-node", Some("ranks_per_node")), ("single-node", Some("nodes"))];

/// Whether a JSON text has this format, possibly with mistakes. No other format has one of these keys.
pub fn is_its(text: &str) -> bool {
    FILE_KEYS.iter().any(|key| text.contains(&format!("\"{key}\"")))
}

/// Reads a file. Parts that cannot be read are left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut lists = Lists::default();
    let mut reader = Reader { faults, notes: Vec::new() };
    if let Some(file) = object(text, reader.faults) {
        reader.file(&file, &mut lists);
    }
    Written { lists: lists.0, notes: reader.notes, ..Written::default() }
}

struct Reader<'reader> {
    faults: &'reader mut Vec<Fault>,
    notes: Vec<Fault>,
}

impl Reader<'_> {
    fn file(&mut self, file: &Object, lists: &mut Lists) {
        check_keys(file, &FILE_KEYS, self.faults);
        if let Some(module) = file.get("module") {
            let is_tuned = module.value.as_string_lit().is_some_and(|name| name.value == "tuned");
            if !is_tuned {
                self.faults.push(Fault { place: place(&module.value), message: "expected \"tuned\"".into() });
            }
        }
        let Some(collectives) = file.get("collectives") else {
            let message = "there is no `collectives`".into();
            self.faults.push(Fault { place: place(file), message });
            return;
        };
        let Some(collectives) = as_object(&collectives.value, self.faults) else { return };
        for (name, property) in properties(collectives, self.faults) {
            let Some(collective) = Collective::named(name) else {
                let message = unknown("collective", name, Collective::ALL.map(Collective::name));
                self.faults.push(Fault { place: key_place(property), message });
                continue;
            };
            if algorithms(collective).is_empty() {
                self.notes.push(left_to_others(collective, &key_place(property)));
                continue;
            }
            let list = lists.of(collective);
            let mut fitting = Vec::new();
            for communicator in elements(&property.value, self.faults) {
                if list.len() > MOST_RULES {
                    break;
                }
                list.extend(self.communicator(collective, communicator, &mut fitting));
            }
            let others = Ranges::new(fitting).complement();
            if !list.is_empty() && !others.is_empty() {
                let mut conditions = Conditions::default();
                conditions.add("ranks", others, &key_place(property));
                list.push(conditions.below(&key_place(property), Provenance::Implied));
            }
        }
    }

    /// Returns the rules of an element of a collective's list. Without a condition on the distribution of
    /// ranks, the element fits all communicators of its sizes, and these are added to `fitting`.
    fn communicator(
        &mut self,
        collective: Collective,
        value: &Value,
        fitting: &mut Vec<RangeInclusive<usize>>,
    ) -> Vec<Entry> {
        let Some(object) = as_object(value, self.faults) else { return Vec::new() };
        check_keys(object, &COMMUNICATOR_KEYS, self.faults);
        let ranks = self.range(object, ["comm_size_min", "comm_size_max"]);
        let mut conditions = Conditions::default();
        self.distribution(object, &mut conditions);
        if conditions.0.is_empty() {
            fitting.push(ranks.clone());
        }
        let Some(rules) = object.get("rules") else {
            let message = "there is no `rules`".into();
            self.faults.push(Fault { place: place(object), message });
            return Vec::new();
        };
        let rules = elements(&rules.value, self.faults);
        let rules: Vec<_> =
            rules.iter().filter_map(|rule| self.rule(collective, rule, object, &ranks)).collect();
        let mut entries = self.of_rules(collective, &rules, &conditions);
        let seen = Ranges::new(rules.iter().map(|rule| rule.messages.clone()));
        if entries.is_empty() || !seen.complement().is_empty() {
            conditions.add_range("ranks", ranks, &place(object));
            entries.push(conditions.below(&place(object), Provenance::Implied));
        }
        entries
    }

    fn of_rules(
        &mut self,
        collective: Collective,
        rules: &[TunedRule],
        conditions: &Conditions,
    ) -> Vec<Entry> {
        let compares = |rule: &&TunedRule| rule.messages != (0..=usize::MAX);
        if let (TunedMeasure::Element, Some(rule)) =
            (TunedMeasure::of(collective), rules.iter().find(compares))
        {
            self.notes.push(no_measure(collective, &rule.messages_place));
            return Vec::new();
        }
        let entries = rules.iter().flat_map(|rule| rule.entries(conditions, &mut self.notes));
        // A list with more rules is refused later, so a very long rest is not stored.
        entries.take(MOST_RULES + 1).collect()
    }

    fn distribution(&mut self, object: &Object, conditions: &mut Conditions) {
        let Some(property) = object.get("comm_rank_distribution") else { return };
        let name = property.value.as_string_lit().map_or("", |name| &name.value);
        match DISTRIBUTIONS.into_iter().find(|(known, _)| *known == name) {
            Some((_, None)) => {}
            Some((_, Some(key))) => conditions.add(key, 1, &place(&property.value)),
            None => {
                let message = unknown("distribution", name, DISTRIBUTIONS.map(|(known, _)| known));
                self.faults.push(Fault { place: place(&property.value), message });
            }
        }
    }

    fn rule(
        &mut self,
        collective: Collective,
        value: &Value,
        communicator: &Object,
        ranks: &RangeInclusive<usize>,
    ) -> Option<TunedRule> {
        let object = as_object(value, self.faults)?;
        check_keys(object, &RULE_KEYS, self.faults);
        let messages = self.range(object, ["msg_size_min", "msg_size_max"]);
        let [fan, segment, requests] = ["faninout", "seg_size", "reqs"].map(|key| self.number(object, key));
        let Some(named) = object.get("alg") else {
            self.faults.push(Fault { place: place(object), message: "there is no `alg`".into() });
            return None;
        };
        let algorithm = self.algorithm(collective, &named.value)?;
        let ranks_place = communicator.get("comm_size_min").or_else(|| communicator.get("comm_size_max"));
        let messages_place = object.get("msg_size_min").or_else(|| object.get("msg_size_max"));
        Some(TunedRule {
            place: place(object),
            collective,
            ranks: ranks.clone(),
            ranks_place: ranks_place.map_or_else(|| place(communicator), place),
            messages,
            messages_place: messages_place.map_or_else(|| place(object), place),
            algorithm,
            named: place(&named.value),
            fan,
            segment,
            requests,
        })
    }

    /// Returns the named algorithm. `None` if Open MPI does not know it either; Open MPI then skips the rule.
    fn algorithm(&mut self, collective: Collective, value: &Value) -> Option<&'static TunedAlgorithm> {
        let known = algorithms(collective);
        let name = match value {
            Value::StringLit(name) => &name.value[..],
            Value::NumberLit(number) => number.value,
            _ => {
                let message = "expected a number or a name".into();
                self.faults.push(Fault { place: place(value), message });
                return None;
            }
        };
        let found = known.iter().find(|one| one.is_called(name));
        if found.is_none() {
            let names = known.iter().flat_map(|one| one.names.iter().copied());
            let what = format!("{} algorithm", collective.name());
            let message = format!("{}; Open MPI passes this rule over", unknown(&what, name, names));
            self.notes.push(Fault { place: place(value), message });
        }
        found
    }

    /// Returns the range from the value of the first key to that of the second. A missing key sets no bound.
    fn range(&mut self, object: &Object, [first, last]: [&str; 2]) -> RangeInclusive<usize> {
        let (least, most) = (self.number(object, first), self.number(object, last));
        let range =
            least.map_or(0, |number| number.value)..=most.as_ref().map_or(usize::MAX, |number| number.value);
        if range.is_empty() {
            let message = format!("`{first}` is larger than `{last}`");
            self.faults.push(Fault { place: most.map_or_else(|| place(object), |most| most.place), message });
            return 0..=usize::MAX;
        }
        range
    }

    /// Reads a number or `inf`; `None` if it is missing or wrong.
    fn number(&mut self, object: &Object, key: &str) -> Option<Number> {
        let property = object.get(key)?;
        let place = place(&property.value);
        let is_infinite = |text: &str| ["inf", "Inf", "INF"].iter().any(|word| text.starts_with(word));
        let value = match &property.value {
            Value::StringLit(text) if is_infinite(&text.value) => Ok(usize::MAX),
            Value::StringLit(text) => Err(shortened(&text.value)),
            Value::NumberLit(number) => number
                .value
                .parse::<i64>()
                .ok()
                .and_then(|value| usize::try_from(value).ok())
                .ok_or_else(|| shortened(number.value)),
            _ => Err(String::new()),
        };
        match value {
            Ok(value) => Some(Number { value, place }),
            Err(found) => {
                let found = if found.is_empty() { found } else { format!(", not `{found}`") };
                self.faults.push(Fault {
                    place,
                    message: format!("`{key}` is a number from 0 up or \"inf\"{found}"),
                });
                None
            }
        }
    }
}
