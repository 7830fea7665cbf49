//! The rule file: for each collective an array of tables, the rules.
//!
//! ```toml
//! [[alltoall]]
//! ranks = "2..64"              # a number or a range, both ends included
//! bytes = "..2KiB"             # likewise; B, KiB, MiB, GiB
//! power_of_two = true          # of the number of ranks
//! commutative = true
//! algorithm = "bruck"          # or "below"
//! radix = "sqrt"               # or a number from 2 up
//!
//! [[bcast]]
//! algorithm = "binomial"
//! segment = "64KiB"
//! ```
//!
//! All but the algorithm may be left out. Radix and segment may stand only where the algorithm takes them.

use super::nearest::nearest;
use super::quantity::{bytes, number, range};
use super::{Choice, Rule, RuleError, Rules};
use crate::algorithms::{Algorithm, Collective, Parameter};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use toml::Spanned;

const BELOW: &str = "below";

/// Reads a rule file.
pub fn read(text: &str) -> Result<Rules, RuleError> {
    rules(text).map_err(|fault| {
        let line = text.bytes().take(fault.offset).filter(|&byte| byte == b'\n').count() + 1;
        RuleError { line, message: fault.message }
    })
}

fn rules(text: &str) -> Result<Rules, Fault> {
    let file: BTreeMap<Spanned<String>, Vec<Entry>> = toml::from_str(text).map_err(|error| Fault {
        offset: error.span().map_or(text.len(), |span| span.start),
        message: error.message().to_string(),
    })?;
    let mut rules = BTreeMap::new();
    for (name, entries) in file {
        let collective = collective(&name)?;
        let entries = entries.iter().map(|entry| entry.rule(collective));
        rules.insert(collective, entries.collect::<Result<_, _>>()?);
    }
    Ok(Rules(rules))
}

/// What is wrong at which byte of the file.
struct Fault {
    offset: usize,
    message: String,
}

impl Fault {
    fn at<T>(place: &Spanned<T>, message: String) -> Fault {
        Fault { offset: place.span().start, message }
    }
}

/// A rule as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    ranks: Option<Spanned<Scalar>>,
    bytes: Option<Spanned<Scalar>>,
    power_of_two: Option<bool>,
    commutative: Option<bool>,
    algorithm: Spanned<String>,
    radix: Option<Spanned<Scalar>>,
    segment: Option<Spanned<Scalar>>,
}

/// What may be written with or without quotes.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number or a string")]
enum Scalar {
    Number(i64),
    Text(String),
}

impl Scalar {
    /// Has `read` make sense of a value.
    fn read<T>(value: &Spanned<Scalar>, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Fault> {
        let result = match value.get_ref() {
            Scalar::Number(number) => read(&number.to_string()),
            Scalar::Text(text) => read(text),
        };
        result.map_err(|message| Fault::at(value, message))
    }
}

impl Entry {
    fn rule(&self, collective: Collective) -> Result<Rule, Fault> {
        Ok(Rule {
            ranks: bounds(&self.ranks, number)?,
            bytes: bounds(&self.bytes, bytes)?,
            power_of_two: self.power_of_two,
            commutative: self.commutative,
            choice: self.choice(collective)?,
        })
    }

    fn choice(&self, collective: Collective) -> Result<Choice, Fault> {
        let algorithm = self.algorithm(collective)?;
        let taken = algorithm.map_or(&[][..], |algorithm| algorithm.parameters);
        let radix = self.parameter(&self.radix, Parameter::Radix, taken)?;
        let segment = self.parameter(&self.segment, Parameter::Segment, taken)?;
        Ok(match algorithm {
            Some(algorithm) => Choice::Use { algorithm, radix, segment },
            None => Choice::Below,
        })
    }

    /// None if the call is left to whoever is below.
    fn algorithm(&self, collective: Collective) -> Result<Option<&'static Algorithm>, Fault> {
        let name = self.algorithm.get_ref();
        if name == BELOW {
            return Ok(None);
        }
        let known = || {
            let names = |algorithm: &'static Algorithm| algorithm.aliases.iter().chain([&algorithm.name]);
            collective.algorithms().flat_map(names).copied().chain([BELOW])
        };
        collective.algorithm(name).map(Some).ok_or_else(|| {
            Fault::at(&self.algorithm, unknown(&format!("{} algorithm", collective.name()), name, known()))
        })
    }

    /// None if the parameter is left out or left at its default.
    fn parameter(
        &self,
        value: &Option<Spanned<Scalar>>,
        parameter: Parameter,
        taken: &[Parameter],
    ) -> Result<Option<usize>, Fault> {
        let Some(value) = value else {
            return Ok(None);
        };
        if !taken.contains(&parameter) {
            let message = format!("`{}` takes no {}", self.algorithm.get_ref(), parameter.name());
            return Err(Fault::at(value, message));
        }
        Scalar::read(value, |text| setting(parameter, text))
    }
}

fn setting(parameter: Parameter, text: &str) -> Result<Option<usize>, String> {
    if text == parameter.default_word() {
        return Ok(None);
    }
    let number = match parameter {
        Parameter::Radix | Parameter::Window => number(text)?,
        Parameter::Segment => bytes(text)?,
    };
    if number < parameter.minimum() as usize {
        return Err(format!("the {} is at least {}", parameter.name(), parameter.minimum()));
    }
    Ok(Some(number))
}

fn bounds(
    value: &Option<Spanned<Scalar>>,
    quantity: fn(&str) -> Result<usize, String>,
) -> Result<RangeInclusive<usize>, Fault> {
    match value {
        Some(value) => Scalar::read(value, |text| range(text, quantity)),
        None => Ok(0..=usize::MAX),
    }
}

fn collective(name: &Spanned<String>) -> Result<Collective, Fault> {
    let names = Collective::ALL.map(Collective::name);
    let known = Collective::ALL.into_iter().find(|collective| collective.name() == name.get_ref());
    known.ok_or_else(|| Fault::at(name, unknown("collective", name.get_ref(), names)))
}

fn unknown(what: &str, name: &str, known: impl IntoIterator<Item = &'static str>) -> String {
    let hint = nearest(name, known).map(|nearest| format!("; the nearest known one is `{nearest}`"));
    format!("unknown {what} `{name}`{}", hint.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        read(text).unwrap_err().to_string()
    }

    /// The error in the third line of a rule for this algorithm.
    fn error_in_rule(algorithm: &str, line: &str) -> String {
        error(&format!("[[alltoall]]\nalgorithm = \"{algorithm}\"\n{line}\n"))
    }

    #[test]
    fn every_key_is_read() {
        let rules = read(
            "[[alltoall]]\nranks = \"2..64\"\nbytes = 17\npower_of_two = true\ncommutative = false\n\
             algorithm = \"brucks\"\nradix = \"sqrt\"\n\
             [[bcast]]\nalgorithm = \"binomial\"\nsegment = \"none\"\n",
        )
        .unwrap();
        let rule = &rules.0[&Collective::Alltoall][0];
        assert_eq!((&rule.ranks, &rule.bytes), (&(2..=64), &(17..=17)));
        assert_eq!((rule.power_of_two, rule.commutative), (Some(true), Some(false)));
        assert!(matches!(
            rule.choice,
            Choice::Use { algorithm: Algorithm { name: "bruck", .. }, radix: None, segment: None }
        ));
        assert_eq!(rules.0[&Collective::Bcast][0].ranks, 0..=usize::MAX);
    }

    #[test]
    fn unknown_keys() {
        let error = error_in_rule("pairwise", "rank = 3");
        assert!(
            error.starts_with("line 3: unknown field `rank`, expected one of `ranks`, `bytes`"),
            "{error}"
        );
    }

    #[test]
    fn unknown_collectives() {
        assert_eq!(
            error("\n[[alltoal]]\nalgorithm = \"pairwise\""),
            "line 2: unknown collective `alltoal`; the nearest known one is `alltoall`"
        );
    }

    #[test]
    fn unknown_algorithms() {
        for (name, nearest) in [("brook", "bruck"), ("linea", "linear"), ("belo", "below")] {
            assert_eq!(
                error_in_rule(name, ""),
                format!("line 2: unknown alltoall algorithm `{name}`; the nearest known one is `{nearest}`")
            );
        }
        assert_eq!(
            error("[[allreduce]]\nalgorithm = \"bruck\""),
            "line 2: unknown allreduce algorithm `bruck`; the nearest known one is `ring`"
        );
    }

    #[test]
    fn parameters_that_are_not_taken() {
        assert_eq!(error_in_rule("pairwise", "radix = 2"), "line 3: `pairwise` takes no radix");
        assert_eq!(error_in_rule("bruck", "segment = \"1KiB\""), "line 3: `bruck` takes no segment");
        assert_eq!(error_in_rule("below", "radix = \"sqrt\""), "line 3: `below` takes no radix");
    }

    #[test]
    fn parameters_out_of_bounds() {
        assert_eq!(error_in_rule("bruck", "radix = 1"), "line 3: the radix is at least 2");
        assert_eq!(error_in_rule("bruck", "radix = -4"), "line 3: `-4` is not a number");
        assert_eq!(error_in_rule("bruck", "radix = \"cbrt\""), "line 3: `cbrt` is not a number");
        assert_eq!(
            error("[[bcast]]\nalgorithm = \"binomial\"\nsegment = 0"),
            "line 3: the segment is at least 1"
        );
    }

    #[test]
    fn ranges_and_units() {
        assert_eq!(error_in_rule("bruck", "ranks = \"3..2\""), "line 3: the range `3..2` is empty");
        assert_eq!(error_in_rule("bruck", "ranks = \"2B\""), "line 3: `2B` is not a number");
        assert_eq!(error_in_rule("bruck", "bytes = \"..\""), "line 3: the range `..` has no bound");
        assert_eq!(
            error_in_rule("bruck", "bytes = \"..2k\""),
            "line 3: unknown unit `k`; the units are B, KiB, MiB and GiB"
        );
    }

    #[test]
    fn wrong_types_and_shapes() {
        assert_eq!(error_in_rule("bruck", "ranks = true"), "line 3: expected a number or a string");
        assert_eq!(
            error_in_rule("bruck", "power_of_two = 1"),
            "line 3: invalid type: integer `1`, expected a boolean"
        );
        assert_eq!(error("\n[[bcast]]\nranks = 2"), "line 2: missing field `algorithm`");
        assert!(error("\n[bcast]\nalgorithm = \"binomial\"").starts_with("line 2: invalid type"));
        assert!(error("[[bcast]]\nalgorithm = binomial").starts_with("line 2: "));
        assert!(error("[[bcast]]\nalgorithm = \"binomial").starts_with("line 2: "));
    }
}
