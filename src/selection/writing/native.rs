//! Writes rules as a file in rustcoll's own format.

use super::super::condition::{Condition, Property, Quantity};
use super::super::entry::{ALGORITHM, BELOW};
use super::super::online::Settled;
use super::super::ranges::Ranges;
use super::super::{Call, Choice, Rule, Rules};
use crate::algorithms::{Collective, Parameter, legal_radix};
use crate::text::Origin;
use std::collections::BTreeMap;
use std::fmt::Write;

pub fn write(rules: &Rules) -> String {
    let mut text = String::new();
    for note in rules.notes() {
        line(&mut text, format_args!("# {}", on_one_line(&note.to_string())));
    }
    if let Some(priority) = rules.priority() {
        line(&mut text, format_args!("priority = {priority}"));
    }
    for collective in Collective::ALL {
        for rule in rules.of(collective) {
            line(&mut text, format_args!("\n# {}", on_one_line(&rule.origin.to_string())));
            line(&mut text, format_args!("[[{}]]", collective.name()));
            write_rule(&mut text, rule);
        }
    }
    text.trim_start().to_owned()
}

impl Settled {
    /// How each rule begins in a file of rules that were learnt.
    pub const COMMENT: &str = "# learnt online";

    /// Whether rules cannot tell two kinds of calls apart.
    pub fn have_one_rule(one: &Call, other: &Call) -> bool {
        one.collective == other.collective && conditions_of(one) == conditions_of(other)
    }

    /// Writes the result of online tuning for a kind of calls as a rule, which holds for all calls of the kind. Of the
    /// calls of other kinds, it holds for those on other placements of as many ranks.
    pub fn rule(&self, kind: &Call) -> String {
        let Settled { choice, ratio, tried, .. } = *self;
        let conditions = conditions_of(kind);
        let choice = with_legal_radix(choice, kind.size);
        let mut text = String::new();
        line(
            &mut text,
            format_args!(
                "\n{}: {ratio:.2} of the time of what was chosen before; {tried} calls were tried",
                Settled::COMMENT
            ),
        );
        line(&mut text, format_args!("[[{}]]", kind.collective.name()));
        let origin = Origin { file: "".into(), line: 0, column: 0 };
        write_rule(&mut text, &Rule { origin, choice, conditions });
        text
    }
}

/// Returns what rules can say of a kind of calls.
fn conditions_of(kind: &Call) -> Vec<Condition> {
    let within = |quantity, first, last| Condition::Quantity(quantity, Ranges::new([first..=last]));
    let mut conditions = vec![within(Quantity::Ranks, kind.size, kind.size)];
    if kind.collective != Collective::Barrier {
        conditions.push(within(Quantity::Bytes, kind.bytes, 2 * kind.bytes - 1));
    }
    if kind.collective.reduces() {
        conditions.push(Condition::Property(Property::Commutative, kind.commutative));
        conditions.extend(kind.predefined.map(|wanted| Condition::Property(Property::Predefined, wanted)));
    }
    if kind.collective.is_in_place_at_all_ranks() {
        conditions.push(Condition::Property(Property::InPlace, kind.in_place));
    }
    conditions
}

/// Built-in rules may name a radix that is greater than the number of ranks; files may not.
fn with_legal_radix(choice: Choice, ranks: usize) -> Choice {
    match choice {
        Choice::Use { algorithm, parameters } => {
            let radix = parameters.get(Parameter::Radix).map(|radix| legal_radix(radix, ranks));
            let mut parameters = parameters;
            parameters.set(Parameter::Radix, radix);
            Choice::Use { algorithm, parameters }
        }
        Choice::Below => choice,
    }
}

fn line(text: &mut String, content: std::fmt::Arguments) {
    writeln!(text, "{content}").expect("a text takes everything");
}

fn on_one_line(text: &str) -> String {
    text.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

fn write_rule(text: &mut String, rule: &Rule) {
    for (key, value) in conditions(&rule.conditions) {
        line(text, format_args!("{key} = {value}"));
    }
    let name = rule.choice.algorithm().map_or(BELOW, |algorithm| algorithm.name);
    line(text, format_args!("{ALGORITHM} = \"{name}\""));
    for parameter in Parameter::ALL {
        if let Some(value) = rule.choice.parameters().get(parameter) {
            line(text, format_args!("{} = {value}", parameter.name()));
        }
    }
}

/// Returns keys and values. Several conditions on one quantity or property become one.
fn conditions(conditions: &[Condition]) -> Vec<(&'static str, String)> {
    let mut quantities = BTreeMap::new();
    let mut properties = BTreeMap::new();
    let mut expressions = Vec::new();
    for condition in conditions {
        match condition {
            Condition::Quantity(quantity, wanted) => {
                let all = quantities.entry(*quantity as usize).or_insert_with(|| wanted.clone());
                *all = all.intersection(wanted);
            }
            Condition::Property(property, wanted) => {
                properties.insert(*property as usize, (property.name(), wanted.to_string()));
            }
            Condition::When(expression) => expressions.push(on_one_line(&expression.to_string())),
        }
    }
    let of_quantity = |(quantity, wanted): (usize, Ranges)| {
        let wanted = wanted.to_string();
        let is_number = wanted.bytes().all(|byte| byte.is_ascii_digit()) && wanted.parse::<i64>().is_ok();
        (Quantity::ALL[quantity].name(), if is_number { wanted } else { format!("\"{wanted}\"") })
    };
    let mut all: Vec<_> = quantities.into_iter().map(of_quantity).collect();
    all.extend(properties.into_values());
    expressions.dedup();
    match &expressions[..] {
        [] => {}
        [only] => all.push((Condition::WHEN, format!("\"{only}\""))),
        several => all.push((Condition::WHEN, format!("\"({})\"", several.join(") and (")))),
    }
    all
}
