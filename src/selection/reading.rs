//! Turns written rules into rules that decide, and checks them against the registry of algorithms.

use super::condition::{Condition, Property, Quantity, objection};
use super::domain::{self, Contradiction, Domain};
use super::entry::{ALGORITHM, BELOW, Entry, Item, Provenance, Word};
use super::error::{Fault, SourceText};
use super::expression::Expression;
use super::nearest::unknown;
use super::quantity::{bytes, number, range};
use super::ranges::Ranges;
use super::{Choice, Parameters, Rule};
use crate::algorithms::{Algorithm, Collective, Parameter};
use std::ops::Range;

/// The most rules of a collective. The limit exists because each rule is compared with all rules before it.
pub const MOST_RULES: usize = 1000;

/// Returns the rules of a collective. Rules that cannot be read are left out and reported. Rules that never
/// decide are left out too; the entry's [`Provenance`] decides whether they are faults or noted.
pub fn rules(
    collective: Collective,
    entries: &[Entry],
    source: &SourceText,
    faults: &mut Vec<Fault>,
    notes: &mut Vec<Fault>,
) -> Vec<Rule> {
    if let Some(beyond) = entries.get(MOST_RULES) {
        let message = format!("{} has more than {MOST_RULES} rules", collective.name());
        faults.push(Fault { place: beyond.place.clone(), message });
        return Vec::new();
    }
    let mut rules: Vec<Rule> = Vec::with_capacity(entries.len());
    let mut domains: Vec<Domain> = Vec::new();
    for entry in entries {
        let Some(rule) = Reader { collective, entry, source, faults }.rule() else { continue };
        if entry.provenance == Provenance::Tested {
            rules.push(rule);
            continue;
        }
        let mut never_decides = |place, message| match entry.provenance {
            Provenance::Written => faults.push(Fault { place, message }),
            Provenance::Translated => notes.push(Fault { place, message }),
            Provenance::Implied | Provenance::Tested => {}
        };
        let domain = match Domain::of(collective, &rule.conditions, rule.choice) {
            Ok(domain) => domain,
            Err(Contradiction { key, message }) => {
                never_decides(entry.place_of(key), message);
                continue;
            }
        };
        let mut earlier = rules.iter().zip(&domains);
        if let Some((covering, _)) = earlier.find(|(one, reach)| one.is_box() && reach.covers(&domain)) {
            let message = format!("this rule never decides: the one at {} covers it", covering.origin);
            never_decides(entry.place.clone(), message);
            continue;
        }
        rules.push(rule);
        domains.push(domain);
    }
    rules
}

struct Reader<'reader> {
    collective: Collective,
    entry: &'reader Entry,
    source: &'reader SourceText<'reader>,
    faults: &'reader mut Vec<Fault>,
}

/// The meaning of an item's key.
enum Key {
    Quantity(Quantity),
    Property(Property),
    When,
    Algorithm,
    Parameter(Parameter),
}

impl Reader<'_> {
    fn fault<T>(&mut self, place: &Range<usize>, message: impl Into<String>) -> Option<T> {
        self.faults.push(Fault { place: place.clone(), message: message.into() });
        None
    }

    /// Reads the rule. After a fault it reads on, to find all faults.
    fn rule(mut self) -> Option<Rule> {
        let before = self.faults.len();
        let items: Vec<_> =
            self.entry.items.iter().filter_map(|item| Some((self.key(item)?, item))).collect();
        for (position, (key, item)) in items.iter().enumerate() {
            let is_repeated = items[..position].iter().any(|(earlier, _)| earlier.name() == key.name());
            if is_repeated && self.entry.provenance == Provenance::Written {
                self.fault::<()>(&item.key.place, format!("`{}` stands twice in this rule", key.name()));
            }
        }
        let conditions: Vec<_> = items.iter().filter_map(|(key, item)| self.condition(key, item)).collect();
        let choice = self.choice(&items, &conditions);
        let origin = self.source.origin(self.entry.place.start);
        (self.faults.len() == before).then_some(Rule { origin, conditions, choice: choice? })
    }

    fn key(&mut self, item: &Item) -> Option<Key> {
        let Word { text, place } = &item.key;
        if let Some(objection) = objection(text, self.collective) {
            return self.fault(place, format!("`{text}` cannot be used here: {objection}"));
        }
        let known = Key::all().find(|key| key.names().any(|name| name == text));
        known.or_else(|| self.fault(place, unknown("key", text, keys(self.collective))))
    }

    /// Reads a condition; `None` if the item is no condition or a faulty one.
    fn condition(&mut self, key: &Key, item: &Item) -> Option<Condition> {
        match key {
            Key::Quantity(quantity) => Some(Condition::Quantity(*quantity, self.ranges(*quantity, item)?)),
            Key::Property(property) => Some(Condition::Property(*property, self.truth(item)?)),
            Key::When => self.expression(item).map(Condition::When),
            Key::Algorithm | Key::Parameter(_) => None,
        }
    }

    fn ranges(&mut self, quantity: Quantity, item: &Item) -> Option<Ranges> {
        if item.values.is_empty() {
            return self.fault(&item.key.place, format!("`{}` needs a value", item.key.text));
        }
        let words = item.values.iter().flat_map(Word::split);
        let ranges: Vec<_> = words
            .filter_map(|word| {
                let range = range(&word.text, |text| quantity.read(text));
                range.map_err(|message| self.fault::<()>(&word.place, message)).ok()
            })
            .collect();
        Some(Ranges::new(ranges))
    }

    fn truth(&mut self, item: &Item) -> Option<bool> {
        if item.values.is_empty() {
            return Some(true);
        }
        let value = self.only_value(item)?;
        match value.text.parse() {
            Ok(truth) => Some(truth),
            Err(_) => self.fault(&value.place, format!("expected true or false, found `{}`", value.text)),
        }
    }

    fn expression(&mut self, item: &Item) -> Option<Expression> {
        let value = self.only_value(item)?;
        let expression = match Expression::read(&value.text) {
            Ok(expression) => expression,
            Err((part, message)) => return self.fault(&value.part(part), message),
        };
        let objection = expression.names().find_map(|name| objection(name, self.collective));
        match objection {
            Some(objection) => self.fault(&value.place, objection),
            None => Some(expression),
        }
    }

    fn only_value<'item>(&mut self, item: &'item Item) -> Option<&'item Word> {
        match &item.values[..] {
            [value] => Some(value),
            _ => self.fault(&item.key.place, format!("`{}` needs one value", item.key.text)),
        }
    }

    fn choice(&mut self, items: &[(Key, &Item)], conditions: &[Condition]) -> Option<Choice> {
        let named = items.iter().find(|(key, _)| matches!(key, Key::Algorithm));
        let Some((_, named)) = named else {
            return self.fault(&self.entry.place.clone(), "this rule names no algorithm");
        };
        let name = self.only_value(named)?;
        let algorithm = if name.text == BELOW { None } else { Some(self.algorithm(name)?) };
        let mut parameters = Parameters::default();
        for (key, item) in items {
            if let Key::Parameter(parameter) = key {
                let value = self.parameter(*parameter, item, algorithm, conditions);
                parameters.set(*parameter, value.unwrap_or_default());
            }
        }
        Some(algorithm.map_or(Choice::Below, |algorithm| Choice::Use { algorithm, parameters }))
    }

    fn algorithm(&mut self, name: &Word) -> Option<&'static Algorithm> {
        let algorithm = self.collective.algorithm(&name.text);
        algorithm.or_else(|| {
            let what = format!("{} algorithm", self.collective.name());
            self.fault(&name.place, unknown(&what, &name.text, algorithm_names(self.collective)))
        })
    }

    /// Reads a parameter. An inner `None` means the default, an outer one a fault.
    fn parameter(
        &mut self,
        parameter: Parameter,
        item: &Item,
        algorithm: Option<&Algorithm>,
        conditions: &[Condition],
    ) -> Option<Option<usize>> {
        let taken = algorithm.map_or(&[][..], |algorithm| algorithm.parameters);
        if !taken.contains(&parameter) {
            let name = algorithm.map_or(BELOW, |algorithm| algorithm.name);
            let taken: Vec<_> = taken.iter().map(|parameter| parameter.name()).collect();
            let only =
                if taken.is_empty() { String::new() } else { format!(", only {}", taken.join(" and ")) };
            return self.fault(&item.key.place, format!("`{name}` takes no {}{only}", parameter.name()));
        }
        let value = self.only_value(item)?;
        let most_ranks = domain::most_ranks(conditions);
        // Other libraries reduce a radix that is too large, so translated rules may have one.
        let bound = if self.entry.provenance == Provenance::Written { most_ranks } else { usize::MAX };
        match setting(parameter, &value.text, bound) {
            Ok(Some(radix)) if parameter == Parameter::Radix => Some(Some(radix.min(most_ranks.max(2)))),
            Ok(setting) => Some(setting),
            Err(message) => self.fault(&value.place, message),
        }
    }
}

impl Key {
    fn all() -> impl Iterator<Item = Key> {
        let quantities = Quantity::ALL.into_iter().map(Key::Quantity);
        let properties = Property::ASKED.into_iter().map(Key::Property);
        let parameters = Parameter::ALL.into_iter().map(Key::Parameter);
        quantities.chain(properties).chain([Key::When, Key::Algorithm]).chain(parameters)
    }

    fn name(&self) -> &'static str {
        match self {
            Key::Quantity(quantity) => quantity.name(),
            Key::Property(property) => property.name(),
            Key::When => Condition::WHEN,
            Key::Algorithm => ALGORITHM,
            Key::Parameter(parameter) => parameter.name(),
        }
    }

    fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let aliases = if let Key::Parameter(parameter) = self { parameter.aliases() } else { &[] };
        [self.name()].into_iter().chain(aliases.iter().copied())
    }
}

/// Whether a key of rules is a condition's key; `None` if the key is unknown.
pub fn is_condition(name: &str) -> Option<bool> {
    let key = Key::all().find(|key| key.names().any(|known| known == name))?;
    Some(matches!(key, Key::Quantity(_) | Key::Property(_) | Key::When))
}

/// Returns all keys that a rule of a collective may have.
pub fn keys(collective: Collective) -> impl Iterator<Item = &'static str> {
    let is_of_use = move |key: &Key| match key {
        Key::Parameter(parameter) => collective.parameters().any(|taken| taken == *parameter),
        _ => objection(key.name(), collective).is_none(),
    };
    Key::all().filter(is_of_use).flat_map(|key| key.names())
}

/// Returns all names that a rule of a collective may choose.
pub fn algorithm_names(collective: Collective) -> impl Iterator<Item = &'static str> {
    let names = |algorithm: &'static Algorithm| algorithm.aliases.iter().chain([&algorithm.name]);
    collective.algorithms().flat_map(names).copied().chain([BELOW])
}

fn setting(parameter: Parameter, text: &str, most_ranks: usize) -> Result<Option<usize>, String> {
    if text == parameter.default_word() {
        return Ok(None);
    }
    let number = match parameter {
        Parameter::Radix | Parameter::Window => number(text)?,
        Parameter::Segment => bytes(text)?,
    };
    let name = parameter.name();
    match parameter {
        _ if number < parameter.minimum() as usize => {
            Err(format!("the {name} is at least {}, not {number}", parameter.minimum()))
        }
        Parameter::Radix if number > most_ranks.max(2) => {
            Err(format!("the {name} is at most the number of ranks, here {most_ranks}, not {number}"))
        }
        _ => Ok(Some(number)),
    }
}

#[cfg(test)]
mod tests {
    use crate::selection::{LONGEST_TEXT, Rules};

    fn errors(text: &str) -> String {
        Rules::parse("file", text).unwrap_err().to_string()
    }

    /// The errors in a rule with this algorithm and this third line.
    fn errors_in_rule(algorithm: &str, line: &str) -> String {
        errors(&format!("[[alltoall]]\nalgorithm = \"{algorithm}\"\n{line}\n"))
    }

    #[test]
    fn every_fault_is_reported_with_its_place() {
        let text = "[[alltoal]]\nalgorithm = \"pairwise\"\n\
                    [[alltoall]]\nrank = 3\nranks = [2, \"8..x\"]\nalgorithm = \"brook\"\n\
                    [[bcast]]\nwhen = \"bytes > lg2(ranks)\"\nalgorithm = \"binomial\"\nradix = 2\n\
                    [[bcast]]\nranks = 2\n[barrier]\nalgorithm = \"tree\"\n";
        let errors = Rules::parse("file", text).unwrap_err();
        let said: Vec<_> = errors.0.iter().map(|error| (error.to_string(), &error.text[..])).collect();
        let said: Vec<_> = said.iter().map(|(message, text)| (&message[..], *text)).collect();
        assert_eq!(
            said,
            [
                ("file:1:3: unknown collective `alltoal`; the nearest known one is `alltoall`", "alltoal"),
                ("file:4:1: unknown key `rank`; the nearest known one is `ranks`", "rank"),
                ("file:5:14: `x` is not a number", "8..x"),
                ("file:6:14: unknown alltoall algorithm `brook`; the nearest known one is `bruck`", "brook"),
                ("file:8:17: unknown name `lg2`; the nearest known one is `log2`", "lg2"),
                ("file:10:1: `binomial` takes no radix, only segment", "radix"),
                ("file:11:1: this rule names no algorithm", "[[bcast]]"),
                ("file:13:2: write `[[barrier]]` above each rule", "barrier"),
            ]
        );
    }

    #[test]
    fn unknown_algorithms() {
        for (name, nearest) in [("linea", "linear"), ("belo", "below")] {
            assert_eq!(
                errors_in_rule(name, ""),
                format!(
                    "file:2:14: unknown alltoall algorithm `{name}`; the nearest known one is `{nearest}`"
                )
            );
        }
    }

    #[test]
    fn parameters_are_those_of_the_algorithm_and_in_bounds() {
        for (algorithm, line, expected) in [
            ("pairwise", "radix = 2", "3:1: `pairwise` takes no radix"),
            ("bruck", "segment = \"1KiB\"", "3:1: `bruck` takes no segment, only radix"),
            ("below", "radix = \"sqrt\"", "3:1: `below` takes no radix"),
            ("bruck", "radix = 1", "3:9: the radix is at least 2, not 1"),
            ("bruck", "radix = -4", "3:9: `-4` is not a number"),
            ("bruck", "radix = \"cbrt\"", "3:10: `cbrt` is not a number"),
            (
                "bruck",
                "ranks = \"..32\"\nradix = 33",
                "4:9: the radix is at most the number of ranks, here 32, not 33",
            ),
            ("linear_window", "window = 0", "3:10: the window is at least 1, not 0"),
        ] {
            assert_eq!(errors_in_rule(algorithm, line), format!("file:{expected}"));
        }
    }

    #[test]
    fn conditions_that_ranks_would_judge_differently_are_refused() {
        for (collective, line, expected) in [
            ("alltoallv", "bytes = 3", "there are no bytes of alltoallv that all ranks know"),
            ("alltoallv", "when = \"bytes > 3\"", "there are no bytes of alltoallv that all ranks know"),
            ("bcast", "in_place = true", "in bcast not all ranks need to pass MPI_IN_PLACE"),
            ("scan", "in_place = true", "in scan not all ranks need to pass MPI_IN_PLACE"),
            ("bcast", "contiguous = true", "ranks may use datatypes of different layouts"),
            ("bcast", "commutative = true", "bcast has no operator"),
            ("allreduce", "root = 0", "allreduce has no root"),
        ] {
            let errors = errors(&format!("[[{collective}]]\nalgorithm = \"below\"\n{line}\n"));
            assert!(errors.starts_with("file:3:") && errors.contains(expected), "{errors}");
        }
    }

    #[test]
    fn values_of_the_wrong_kind() {
        for (line, expected) in [
            ("ranks = true", "3:9: `true` is not a number"),
            ("ranks = 1.5", "3:9: expected a number, a text, true or false"),
            ("ranks = []", "3:9: the list is empty"),
            ("ranks = \"3..2\"", "3:10: the range `3..2` is empty"),
            ("ranks = [2, \"3, 9 ..8\"]", "3:17: the range `9 ..8` is empty"),
            ("ranks = \"\\u0033x\"", "3:9: `3x` is not a number"),
            ("bytes = \"..2k\"", "3:10: unknown unit `k`; the units are B, KiB, MiB and GiB, or K, M and G"),
            ("power_of_two = 1", "3:16: expected true or false, found `1`"),
            ("when = [\"1 < 2\", \"2 < 3\"]", "3:1: `when` needs one value"),
            ("algorithm = \"bruck\"", "3:1: duplicate key"),
        ] {
            assert_eq!(errors_in_rule("bruck", line), format!("file:{expected}"));
        }
    }

    #[test]
    fn what_is_no_rule_file() {
        assert_eq!(errors(""), "file: there are no rules");
        // A file with only comments is allowed, because they may say why there are no rules.
        assert!(Rules::parse("file", "# nothing\n").is_ok());
        assert!(errors("[[bcast]]\nalgorithm = binomial").starts_with("file:2:13: "));
        let read = |content: &[u8]| Rules::read("file", content).unwrap_err().to_string();
        assert_eq!(read(b"\x7fELF\0\0"), "file: this is not text");
        assert_eq!(read(b"\xff\xfe"), "file: this is not text");
        assert_eq!(read(&vec![b'#'; LONGEST_TEXT + 1]), "file: this is longer than 1048576 bytes");
        let rule = "[[bcast]]\nalgorithm = \"linear\"\n";
        let many = errors(&rule.repeat(super::MOST_RULES + 1));
        assert_eq!(many, "file:2001:1: bcast has more than 1000 rules");
    }
}
