//! Explains why a rule decides a call, and why the rules before it do not.

use super::{Call, Rule, Rules};
use crate::algorithms::Reason;
use std::fmt;

/// A rule's verdict on a call.
pub struct Explanation<'rules> {
    pub rule: &'rules Rule,
    pub verdict: Verdict,
}

/// Whether a rule matches a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The rule matches; the first such rule decides.
    Matches,
    /// The call does not meet this condition, the first such condition of the rule.
    Unmet {
        /// As in a line of rules.
        condition: String,
        /// The call's value; `None` if it is not known.
        value: Option<String>,
    },
    /// The call meets the conditions, but the rule's choice cannot serve it.
    CannotServe(Reason),
}

impl fmt::Display for Verdict {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Verdict::Matches => write!(formatter, "matches"),
            Verdict::Unmet { condition, value: Some(value) } => {
                write!(formatter, "{condition} is not met: {value}")
            }
            Verdict::Unmet { condition, value: None } => {
                write!(formatter, "{condition} is not met: not known")
            }
            Verdict::CannotServe(reason) => write!(formatter, "cannot serve it: {reason}"),
        }
    }
}

/// Writes origin, choice and verdict in one line.
impl fmt::Display for Explanation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let name = self.rule.choice.algorithm().map_or("below", |algorithm| algorithm.name);
        write!(formatter, "{}: {name}: {}", self.rule.origin, self.verdict)
    }
}

impl Rules {
    /// Returns the verdicts of all rules of the call's collective, in order. The first that matches decides.
    pub fn explain(&self, call: &Call) -> Vec<Explanation<'_>> {
        let rules = self.of(call.collective).iter();
        rules.map(|rule| Explanation { rule, verdict: rule.verdict(call) }).collect()
    }
}

impl Rule {
    /// Returns whether the rule matches a call and, if not, why.
    pub fn verdict(&self, call: &Call) -> Verdict {
        if let Some(unmet) = self.conditions.iter().find(|condition| !condition.is_met(call)) {
            return Verdict::Unmet { condition: unmet.to_string(), value: unmet.value(call) };
        }
        self.choice.serves(call).map_or_else(Verdict::CannotServe, |()| Verdict::Matches)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective;
    use crate::random::Random;
    use crate::selection::samples;

    const LINE: &str = "ranks=33.. -> ring; nodes=2.. -> ring; commutative=false bytes=..2K -> recursive_doubling; \
                        when=\"bytes > 4K * ranks\" -> rabenseifner; -> circulant; commutative=false -> linear";

    fn explained(call: &Call) -> Vec<String> {
        let rules = Rules::parse_line("line", Collective::Allreduce, LINE).unwrap();
        rules.explain(call).iter().map(|explanation| explanation.to_string()).collect()
    }

    #[test]
    fn each_rule_says_what_the_call_does_not_meet() {
        let call = Call { commutative: false, ..Call::new(Collective::Allreduce, 16, 4096) };
        assert_eq!(
            explained(&call),
            [
                "line:1:1: ring: ranks=33.. is not met: 16",
                "line:1:21: ring: nodes=2.. is not met: not known",
                "line:1:40: recursive_doubling: bytes=..2048 is not met: 4096",
                "line:1:92: rabenseifner: when=\"bytes > 4K * ranks\" is not met: ranks = 16, bytes = 4096",
                "line:1:135: circulant: cannot serve it: the operator does not commute",
                "line:1:149: linear: matches",
            ]
        );
    }

    #[test]
    fn explanations_and_choices_agree() {
        let mut random = Random(7);
        for round in 0..10_000 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let rules = match round % 3 {
                0 => Rules::built_in().clone(),
                _ => samples::rules(collective, 3, &mut random),
            };
            let call = samples::call(collective, &mut random);
            let explanations = rules.explain(&call);
            let matching = explanations.iter().find(|explanation| explanation.verdict == Verdict::Matches);
            let explained = matching.and_then(|explanation| explanation.rule.choice.algorithm());
            let chosen = rules.choose(&call).algorithm();
            assert_eq!(chosen.map(|one| one.name), explained.map(|one| one.name), "{call:?}");
        }
    }
}
