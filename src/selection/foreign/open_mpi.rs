//! The rule file of the tuned component from Open MPI 6 on, in JSON.
//!
//! For a communicator the first element of its collective's list counts that fits, and no other; in it the first rule that
//! fits. What nothing fits Open MPI decides.

use super::super::error::shortened;
use super::super::nearest::unknown;
use super::super::ranges::Ranges;
use super::super::reading::MOST_RULES;
use super::json::{as_object, check_keys, elements, key_place, object, place, properties};
use super::tuned_algorithms::{TunedAlgorithm, TunedMeasure, algorithms};
use super::tuned_rule::{Number, TunedRule, no_measure};
use super::{Conditions, Entry, Fault, Lists, Standing, Written, collective_named};
use crate::algorithms::Collective;
use jsonc_parser::ast::{Object, Value};
use std::ops::RangeInclusive;

const FILE_KEYS: [&str; 4] = ["$schema", "rule_file_version", "module", "collectives"];
const COMMUNICATOR_KEYS: [&str; 4] = ["comm_size_min", "comm_size_max", "comm_rank_distribution", "rules"];
const RULE_KEYS: [&str; 6] = ["msg_size_min", "msg_size_max", "alg", "faninout", "seg_size", "reqs"];

/// By name, how ranks may be distributed, and the condition that says so.
const DISTRIBUTIONS: [(&str, Option<&str>); 3] =
    [("any", None), ("one-per-node", Some("ranks_per_node")), ("single-node", Some("nodes"))];

/// Reads a file; what cannot be read is left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut lists = Lists::default();
    let mut reader = Reader { faults, notes: Vec::new() };
    if let Some(file) = object(text, reader.faults) {
        reader.file(&file, &mut lists);
    }
    Written { priority: None, lists: lists.0, notes: reader.notes }
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
            let Some(collective) = collective_named(name) else {
                let message = unknown("collective", name, Collective::ALL.map(Collective::name));
                self.faults.push(Fault { place: key_place(property), message });
                continue;
            };
            if algorithms(collective).is_empty() {
                let message =
                    format!("Open MPI's tuned component leaves {name} to others: these rules mean nothing");
                self.notes.push(Fault { place: key_place(property), message });
                continue;
            }
            for communicator in elements(&property.value, self.faults) {
                if lists.of(collective).len() > MOST_RULES {
                    break;
                }
                let entries = self.communicator(collective, communicator);
                lists.of(collective).extend(entries);
            }
        }
    }

    fn communicator(&mut self, collective: Collective, value: &Value) -> Vec<Entry> {
        let Some(object) = as_object(value, self.faults) else { return Vec::new() };
        check_keys(object, &COMMUNICATOR_KEYS, self.faults);
        let ranks = self.range(object, ["comm_size_min", "comm_size_max"]);
        let mut conditions = Conditions::default();
        self.distribution(object, &mut conditions);
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
            entries.push(conditions.below(&place(object), Standing::Implied));
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
        // What is beyond is refused, and may be long.
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

    /// None if Open MPI does not know it either: then it passes the rule over.
    fn algorithm(&mut self, collective: Collective, value: &Value) -> Option<&'static TunedAlgorithm> {
        let known = algorithms(collective);
        let name = match value {
            Value::StringLit(name) => name.value.to_string(),
            Value::NumberLit(number) => number.value.to_owned(),
            _ => {
                let message = "expected a number or a name".into();
                self.faults.push(Fault { place: place(value), message });
                return None;
            }
        };
        let is_it = |one: &&TunedAlgorithm| match value {
            Value::NumberLit(_) => one.number.to_string() == name,
            _ => one.names.contains(&&name[..]),
        };
        let found = known.iter().find(is_it);
        if found.is_none() {
            let names = known.iter().flat_map(|one| one.names.iter().copied());
            let what = format!("{} algorithm", collective.name());
            let message = format!("{}; Open MPI passes this rule over", unknown(&what, &name, names));
            self.notes.push(Fault { place: place(value), message });
        }
        found
    }

    /// From the first of two keys to the second, everything if they are left out.
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

    /// A number, or `inf`; None if it is left out or wrong.
    fn number(&mut self, object: &Object, key: &str) -> Option<Number> {
        let property = object.get(key)?;
        let place = place(&property.value);
        let is_infinite = |text: &str| ["inf", "Inf", "INF"].iter().any(|word| text.starts_with(word));
        let value = match &property.value {
            Value::StringLit(text) if is_infinite(&text.value) => Ok(usize::MAX),
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
                self.faults.push(Fault { place, message: format!("`{key}` is a number from 0 up{found}") });
                None
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::Collective::*;
    use crate::selection::{Call, Rules};

    fn of_rules(collective: &str, communicators: &str) -> String {
        format!(
            "{{ \"rule_file_version\": 3, \"module\": \"tuned\",\n\"collectives\": {{ \"{collective}\": [\n{communicators}\n] }} }}"
        )
    }

    fn read(text: &str) -> Rules {
        Rules::parse("file", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn chosen(rules: &Rules, call: Call) -> &'static str {
        rules.choose(&call).algorithm().map_or("below", |algorithm| algorithm.name)
    }

    /// But for the numbers, the example of Open MPI's documentation, with its trailing comma.
    #[test]
    fn the_first_communicator_and_the_first_message_that_fit_decide() {
        let rules = read(&of_rules(
            "allreduce",
            r#"{ "comm_size_min": 64, "comm_size_max": 128, "rules": [
                 { "msg_size_min": 512, "msg_size_max": 511999, "alg": 2, }, // 2 is nonoverlapping
                 { "msg_size_min": 512000, "msg_size_max": "inf", "alg": "recursive_doubling", "reqs": 8 } ] },
               { "comm_size_max": 127, "rules": [ { "alg": "ring" } ] },
               { "comm_rank_distribution": "one-per-node", "rules": [ { "alg": "segmented_ring", "seg_size": 100 } ] }"#,
        ));
        assert!(rules.notes().is_empty(), "{:?}", rules.notes());
        for ((size, bytes), expected) in [
            ((64, 512), "reduce_bcast"),
            ((128, 512_000), "recursive_doubling"),
            // The first communicator fits, so that the second does not count.
            ((64, 511), "below"),
            ((63, 511), "ring"),
            ((129, 0), "below"),
        ] {
            assert_eq!(
                chosen(&rules, Call::new(Allreduce, size, bytes)),
                expected,
                "p = {size}, {bytes} bytes"
            );
        }
        let spread = Call { ranks_per_node: Some(1), ..Call::new(Allreduce, 200, 9) };
        assert_eq!(chosen(&rules, spread), "ring_segmented");
        assert_eq!(rules.of(Allreduce)[0].origin.to_string(), "file:4:18");
    }

    #[test]
    fn the_radix_of_open_mpi_6_is_the_fan_out() {
        let rules =
            read(&of_rules("allgather", r#"{ "rules": [ { "alg": "bruck-k-fanout", "faninout": 5 } ] }"#));
        assert!(rules.to_native().contains("algorithm = \"bruck\"\nradix = 5\n"), "{}", rules.to_native());
    }

    #[test]
    fn what_open_mpi_passes_over_is_noted() {
        let rules =
            read(&of_rules("bcast", r#"{ "rules": [ { "alg": "binomal" }, { "alg": 6 }, { "alg": 5 } ] }"#));
        let notes: Vec<_> = rules.notes().iter().map(|note| note.to_string()).collect();
        assert_eq!(
            notes,
            [
                "file:3:23: unknown bcast algorithm `binomal`; the nearest known one is `binomial`; Open MPI passes this rule over",
                "file:3:50: this rule never decides: the one at file:3:36 covers it",
            ]
        );
        assert_eq!(chosen(&rules, Call::new(Bcast, 4, 4)), "binomial");
        let rules = read(&of_rules("gatherv", r#"{ "rules": [ { "alg": 1 } ] }"#));
        assert_eq!(rules.notes().len(), 1);
    }

    #[test]
    fn faults_have_places() {
        for (communicators, expected) in [
            (r#"{ "rules": [ { "alg": 1 "#, "4:1: Unexpected token in object"),
            (r#"{ "rules": [ { "alk": 1 } ] }"#, "3:14: there is no `alg`"),
            (r#"{ "rules": [ { } ] }"#, "3:14: there is no `alg`"),
            (r#"{ "rules": [ { "alg": [] } ] }"#, "3:23: expected a number or a name"),
            (r#"{ "rules": {} }"#, "3:12: expected `[`"),
            (r#"7"#, "3:1: expected `{`"),
            (r#"{ "comm_size_min": 3 }"#, "3:1: there is no `rules`"),
            (
                r#"{ "comm_size_min": -3, "rules": [] }"#,
                "3:20: `comm_size_min` is a number from 0 up, not `-3`",
            ),
            (r#"{ "comm_size_min": "x", "rules": [] }"#, "3:20: `comm_size_min` is a number from 0 up"),
            (
                r#"{ "comm_size_min": 3, "comm_size_max": 2, "rules": [] }"#,
                "3:40: `comm_size_min` is larger than `comm_size_max`",
            ),
            (
                r#"{ "comm_rank_distribution": "one-per-nod", "rules": [] }"#,
                "3:29: unknown distribution `one-per-nod`; the nearest known one is `one-per-node`",
            ),
            (r#"{ "rules": [ { "alg": 1, "alg": 2 } ] }"#, "3:27: `alg` stands twice"),
        ] {
            let errors = Rules::parse("file", &of_rules("bcast", communicators)).unwrap_err().to_string();
            assert_eq!(errors.lines().next(), Some(&format!("file:{expected}")[..]), "{communicators}");
        }
        let misspelt = of_rules("bcast", r#"{ "rules": [ { "alg": 1, "regs": 2 } ] }"#);
        let errors = Rules::parse("file", &misspelt).unwrap_err().to_string();
        assert_eq!(errors, "file:3:27: unknown key `regs`; the nearest known one is `reqs`");
        let errors = Rules::parse("file", &of_rules("bcost", "")).unwrap_err().to_string();
        assert_eq!(errors, "file:2:19: unknown collective `bcost`; the nearest known one is `bcast`");
        let errors =
            Rules::parse("file", r#"{ "collectives": { "bcast": 3 }, "modul": 1 }"#).unwrap_err().to_string();
        assert_eq!(
            errors,
            "file:1:29: expected `[`\nfile:1:35: unknown key `modul`; the nearest known one is `module`"
        );
    }
}
