//! The decisions of rules on a communicator, from the fewest bytes to the most.
//!
//! Ranges of bytes have known bounds. For an expression, the changes of each comparison are searched: the
//! comparison is evaluated at every power of two, and bisection finds the change between two different results. A
//! comparison that changes twice between two powers of two may be missed; no sum, product or logarithm does this.

use super::{Call, Choice, Origin, Rule, Rules, Table};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// A choice, and the rule that made it.
#[derive(Clone, Debug, PartialEq)]
pub struct RuledChoice {
    pub choice: Choice,
    /// The place of the rule; `None` if no rule matches.
    pub origin: Option<Origin>,
}

/// A range of bytes in which one rule decides.
#[derive(Clone, Debug, PartialEq)]
pub struct DecidedBytes {
    /// By the collective's [`super::Measure`]. If the calls have no measure, one piece has all numbers.
    pub bytes: RangeInclusive<usize>,
    pub decision: RuledChoice,
}

impl From<Option<&Rule>> for RuledChoice {
    fn from(rule: Option<&Rule>) -> RuledChoice {
        RuledChoice {
            choice: rule.map_or(Choice::Below, |rule| rule.choice),
            origin: rule.map(|rule| rule.origin.clone()),
        }
    }
}

impl Rules {
    /// Returns the decisions for calls that differ from `call` only in their bytes, by ascending bytes.
    pub fn decisions(&self, call: &Call) -> Vec<DecidedBytes> {
        self.for_communicator(call.collective, call.size, call.groups()).decisions(call)
    }
}

impl Table {
    /// Like [`Rules::decisions`], on the table's communicator.
    pub(super) fn decisions(&self, call: &Call) -> Vec<DecidedBytes> {
        let starts = if call.is_measured() { self.changes(call) } else { BTreeSet::from([0]) };
        let mut pieces: Vec<DecidedBytes> = Vec::new();
        for start in starts {
            let decision = RuledChoice::from(self.rule(&Call { bytes: start, ..*call }));
            match pieces.last_mut() {
                Some(last) if last.decision == decision => {}
                last => {
                    last.into_iter().for_each(|last| last.bytes = *last.bytes.start()..=start - 1);
                    pieces.push(DecidedBytes { bytes: start..=usize::MAX, decision });
                }
            }
        }
        pieces
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective::*;
    use crate::random::Random;
    use crate::selection::samples::{self, line, name};

    #[test]
    fn pieces_begin_where_decisions_change() {
        let rules = line(
            Allreduce,
            "bytes=..100 -> linear; when='bytes * ranks >= 1000 and bytes * ranks < 1100' -> ring; \
             when='bytes == 777' -> circulant; ranks=3.. -> rabenseifner",
        );
        let pieces = rules.decisions(&Call::new(Allreduce, 7, 0));
        let found: Vec<_> =
            pieces.iter().map(|piece| (*piece.bytes.start(), name(&piece.decision.choice))).collect();
        let expected = [
            (0, "linear"),
            (101, "rabenseifner"),
            (143, "ring"),
            (158, "rabenseifner"),
            (777, "circulant"),
            (778, "rabenseifner"),
        ];
        assert_eq!(found, expected);
        assert!(pieces.windows(2).all(|pair| pair[0].bytes.end() + 1 == *pair[1].bytes.start()));
        assert_eq!(*pieces.last().unwrap().bytes.end(), usize::MAX);
        assert_eq!(line(Barrier, "-> tree").decisions(&Call::new(Barrier, 7, 0)).len(), 1);
    }

    #[test]
    fn pieces_decide_as_their_rules_do() {
        let mut random = Random(21);
        for round in 0..300 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let rules = samples::rules(collective, 8, &mut random);
            let call = samples::call(collective, &mut random);
            let pieces = rules.decisions(&call);
            for _ in 0..200 {
                let most = 1 << (1 + random.below(20));
                let bytes = random.below(most);
                let piece = pieces.iter().find(|piece| piece.bytes.contains(&bytes)).unwrap();
                let choice = rules.choose(&Call { bytes, ..call });
                assert_eq!(piece.decision.choice, choice, "{bytes} bytes, {call:?}");
            }
        }
    }
}
