//! The rules of one collective on one communicator, cut down to what can still match there.

use super::condition::{Condition, Quantity};
use super::domain;
use super::expression::Expression;
use super::ranges::Ranges;
use super::{Call, Choice, Rule, Rules};
use crate::algorithms::Collective;
use std::collections::{BTreeSet, HashSet};

/// Decides as the rules do that it was made of, for calls on one communicator.
#[derive(Clone, Debug)]
pub struct Table {
    /// The first bytes of each interval, ascending from 0; no rule's condition on bytes tells those within one apart.
    starts: Vec<usize>,
    /// For each interval the rules that may match, in their order.
    candidates: Vec<Vec<Candidate>>,
    /// Whether any of them asks for the ranks' nodes.
    asks_for_nodes: bool,
}

/// A rule, and what of it is still to be asked of each call.
#[derive(Clone, Debug)]
struct Candidate {
    rule: Rule,
    open: Vec<Condition>,
}

impl Rules {
    /// The rules of a collective on a communicator of so many ranks, of one or two groups.
    pub fn for_communicator(&self, collective: Collective, size: usize, groups: usize) -> Table {
        // As far as it is the same for all calls.
        let call = Call { remote: groups - 1, ..Call::new(collective, size, 0) };
        let candidates = self.of(collective).iter().filter_map(|rule| Candidate::on(&call, rule));
        Table::new(candidates.collect())
    }
}

impl Candidate {
    /// None if the rule never matches on the communicator of a call.
    fn on(call: &Call, rule: &Rule) -> Option<Candidate> {
        let implied =
            domain::implied(call.collective, rule.choice).into_iter().map(|(condition, _)| condition);
        let asked = rule.conditions.iter().cloned().chain(implied);
        let (settled, open): (Vec<_>, Vec<_>) = asked.partition(|asked| asked.is_settled_by_communicator());
        let may_match = settled.iter().all(|condition| condition.is_met(call))
            && (call.is_measured() || !open.iter().any(is_on_bytes));
        may_match.then(|| Candidate { rule: rule.clone(), open })
    }

    fn asks_for_nodes(&self) -> bool {
        let on_nodes = |condition: &Condition| {
            condition.looks_at(Quantity::Nodes) || condition.looks_at(Quantity::RanksPerNode)
        };
        self.open.iter().any(on_nodes)
    }

    /// The same for calls of so many bytes; None if it never matches them.
    fn of_bytes(&self, bytes: usize) -> Option<Candidate> {
        let is_met = |condition: &Condition| match condition {
            Condition::Quantity(Quantity::Bytes, wanted) => wanted.contains(bytes),
            Condition::Quantity(..) | Condition::Property(..) | Condition::When(_) => true,
        };
        // Most are not met, and need not be copied.
        self.open.iter().all(is_met).then(|| {
            let open = self.open.iter().filter(|condition| !is_on_bytes(condition)).cloned().collect();
            Candidate { rule: self.rule.clone(), open }
        })
    }
}

fn is_on_bytes(condition: &Condition) -> bool {
    matches!(condition, Condition::Quantity(Quantity::Bytes, _))
}

impl Table {
    fn new(rules: Vec<Candidate>) -> Table {
        let bounds =
            rules.iter().flat_map(|candidate| &candidate.open).filter_map(|condition| match condition {
                Condition::Quantity(Quantity::Bytes, wanted) => Some(wanted),
                _ => None,
            });
        let mut starts: Vec<usize> = bounds.flat_map(Ranges::changes).collect();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        let candidates =
            starts.iter().map(|&bytes| first_ones(rules.iter().filter_map(|rule| rule.of_bytes(bytes))));
        let candidates: Vec<Vec<Candidate>> = candidates.collect();
        let asks_for_nodes = candidates.iter().flatten().any(Candidate::asks_for_nodes);
        Table { candidates, starts, asks_for_nodes }
    }

    /// Every number of bytes, 0 among them, from which on another rule may decide calls that are like this one otherwise.
    pub(super) fn changes(&self, call: &Call) -> BTreeSet<usize> {
        let mut changes = BTreeSet::from_iter(self.starts.iter().copied());
        let mut seen = HashSet::new();
        for candidate in self.candidates.iter().flatten().filter(|one| seen.insert(&one.rule.origin)) {
            for condition in &candidate.open {
                if let Condition::When(expression) = condition {
                    changes.extend(changes_of(expression, call));
                }
            }
        }
        changes
    }

    /// The first rule that matches a call on this communicator. Costs a binary search and usually one comparison.
    pub fn rule(&self, call: &Call) -> Option<&Rule> {
        let interval = self.starts.partition_point(|&start| start <= call.bytes) - 1;
        let matches = |candidate: &&Candidate| candidate.open.iter().all(|condition| condition.is_met(call));
        self.candidates[interval].iter().find(matches).map(|candidate| &candidate.rule)
    }

    /// Whether any of its rules asks for the ranks' nodes.
    pub fn asks_for_nodes(&self) -> bool {
        self.asks_for_nodes
    }

    /// Its choice, else [`Choice::Below`]: the same as that of [`Rules::choose`].
    pub fn choose(&self, call: &Call) -> Choice {
        self.rule(call).map_or(Choice::Below, |rule| rule.choice)
    }
}

/// The numbers of bytes from which on comparisons come out differently.
fn changes_of(expression: &Expression, call: &Call) -> Vec<usize> {
    let at = |bytes| expression.comparisons(&Call { bytes, ..*call });
    let powers: Vec<usize> =
        [0].into_iter().chain((0..usize::BITS).map(|power| 1 << power)).chain([usize::MAX]).collect();
    let answers: Vec<_> = powers.iter().map(|&bytes| at(bytes)).collect();
    let mut changes = Vec::new();
    for (bounds, pair) in powers.windows(2).zip(answers.windows(2)) {
        let differing = (0..pair[0].len()).filter(|&one| pair[0][one] != pair[1][one]);
        changes.extend(
            differing.map(|one| first_other(bounds[0], bounds[1], |bytes| at(bytes)[one] == pair[0][one])),
        );
    }
    changes
}

/// The first number that is not as those from `same` on are; `other` is none of them.
fn first_other(mut same: usize, mut other: usize, is_same: impl Fn(usize) -> bool) -> usize {
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if is_same(middle) { same = middle } else { other = middle }
    }
    other
}

/// Those up to the first that always matches.
fn first_ones(candidates: impl Iterator<Item = Candidate>) -> Vec<Candidate> {
    let mut ones = Vec::new();
    for candidate in candidates {
        let is_certain = candidate.open.is_empty();
        ones.push(candidate);
        if is_certain {
            break;
        }
    }
    ones
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::selection::samples;

    #[test]
    fn a_table_decides_as_its_rules_do() {
        let mut random = Random(11);
        let (mut decided, mut all) = (0, 0);
        for round in 0..200 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let rules = samples::rules(collective, 8, &mut random);
            for _ in 0..50 {
                let call = samples::call(collective, &mut random);
                let table = rules.for_communicator(collective, call.size, call.groups());
                let deciding = rules.of(collective).iter().find(|rule| rule.matches(&call));
                let origins = [table.rule(&call), deciding].map(|rule| rule.map(|rule| &rule.origin));
                assert_eq!(origins[0], origins[1], "{call:?}");
                assert_eq!(table.choose(&call), rules.choose(&call), "{call:?}");
                decided += usize::from(deciding.is_some());
                all += 1;
            }
        }
        assert!(decided > all / 3 && decided < all, "{decided} of {all} decided by a rule");
    }

    #[test]
    fn a_table_tells_whether_rules_that_can_match_ask_for_nodes() {
        for (line, expected) in [
            ("ranks=..4 nodes=2.. -> ring; -> linear", [true, false]),
            ("when='ranks_per_node > 2' -> ring", [true, true]),
            ("ranks=8 ranks_per_node=2 -> ring", [false, true]),
            ("-> recursive_doubling; nodes=2 -> linear", [false, false]),
            ("bytes=8.. -> ring", [false, false]),
        ] {
            // The fourth line has a rule that never decides, which only a file of its own must not have.
            let rules =
                line.split(';').map(|rule| Rules::parse_line("line", Collective::Allreduce, rule).unwrap());
            let rules = rules.fold(Rules::default(), |before, rule| before.followed_by(&rule));
            let asks =
                [4, 8].map(|size| rules.for_communicator(Collective::Allreduce, size, 1).asks_for_nodes());
            assert_eq!(asks, expected, "{line}");
        }
    }

    #[test]
    fn the_built_in_rules_are_cut_to_one_per_interval() {
        let table = Rules::built_in().for_communicator(Collective::Bcast, 16, 1);
        assert_eq!(table.starts, [0, (12 << 10) + 1, (512 << 10) + 1]);
        assert!(table.candidates.iter().all(|candidates| candidates.len() == 1));
        // Only what asks for two groups is left, and bytes cannot be asked for.
        let table = Rules::built_in().for_communicator(Collective::Bcast, 16, 2);
        assert_eq!((table.starts.len(), table.candidates[0].len()), (1, 1));
    }
}
