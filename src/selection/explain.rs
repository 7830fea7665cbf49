//! Why a rule decides a call, and why those before it do not.

use super::{Call, Rule, Rules};
use crate::algorithms::Reason;
use std::fmt;

/// What a rule says to a call.
pub struct Explanation<'rules> {
    /// The rule.
    pub rule: &'rules Rule,
    /// Whether it matches.
    pub verdict: Verdict,
}

/// Whether a rule matches a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does; the first such rule decides.
    Matches,
    /// The first of its conditions that the call does not meet.
    Unmet {
        /// The condition, as in a line.
        condition: String,
        /// What the call has instead; None if that is not known.
        value: Option<String>,
    },
    /// The call meets its conditions, but what it chooses cannot serve it.
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

/// Origin, choice and verdict in a line.
impl fmt::Display for Explanation<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let name = self.rule.choice.algorithm().map_or("below", |algorithm| algorithm.name);
        write!(formatter, "{}: {name}: {}", self.rule.origin, self.verdict)
    }
}

impl Rules {
    /// What each rule of the call's collective says to it, in their order; the first that matches decides.
    pub fn explain(&self, call: &Call) -> Vec<Explanation<'_>> {
        let rules = self.of(call.collective).iter();
        rules.map(|rule| Explanation { rule, verdict: rule.verdict(call) }).collect()
    }
}

impl Rule {
    /// Whether it matches a call, and else why not.
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
