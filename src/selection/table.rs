//! The rules of one collective on one communicator, reduced to those that can match there.

use super::condition::{Condition, Property, Quantity};
use super::domain;
use super::expression::Expression;
use super::measure::Measure;
use super::ranges::Ranges;
use super::{Call, Choice, Rule, Rules};
use crate::algorithms::{Algorithm, Collective};
use std::collections::{BTreeSet, HashSet};

/// A table for calls on one communicator. It decides like the rules that it was made from.
#[derive(Clone, Debug)]
pub struct Table {
    /// The first bytes of each interval, ascending from 0. Within an interval, all numbers meet the same
    /// conditions on bytes.
    starts: Vec<usize>,
    /// For each interval, the rules that may match, in order.
    candidates: Vec<Vec<Candidate>>,
}

/// A rule, with the conditions that must still be checked for each call.
#[derive(Clone, Debug)]
struct Candidate {
    rule: Rule,
    open: Vec<Condition>,
}

impl Rules {
    /// Makes the table of a collective on a communicator of `size` ranks with one or two groups.
    pub fn for_communicator(&self, collective: Collective, size: usize, groups: usize) -> Table {
        // Only the properties that are the same for all calls of the communicator matter here.
        let call = Call { remote: groups - 1, ..Call::new(collective, size, 0) };
        let candidates = self.of(collective).iter().filter_map(|rule| Candidate::on(&call, rule));
        Table::new(candidates.collect())
    }
}

impl Candidate {
    /// Returns `None` if the rule never matches on the communicator of a call.
    fn on(call: &Call, rule: &Rule) -> Option<Candidate> {
        let implied =
            domain::implied(call.collective, rule.choice).into_iter().map(|(condition, _)| condition);
        let needs_stencil = rule.conditions.iter().any(|asked| asked.looks_at_stencil(call.collective));
        let stencil = needs_stencil.then_some(ON_A_STENCIL);
        let asked = rule.conditions.iter().cloned().chain(implied).chain(stencil);
        let (settled, open): (Vec<_>, Vec<_>) = asked.partition(|asked| asked.is_settled_by_communicator());
        let is_measured = call.is_measured()
            || call.remote == 0 && Measure::on_stencils(call.collective) != Measure::Nothing;
        let may_match = settled.iter().all(|condition| condition.is_met(call))
            && (is_measured || !open.iter().any(is_on_bytes));
        may_match.then(|| Candidate { rule: rule.clone(), open })
    }

    fn matches(&self, call: &Call) -> bool {
        self.open.iter().all(|condition| condition.is_met(call))
    }

    /// Whether the rule matches, or could match if more were known of the ranks' nodes.
    fn may_match(&self, call: &Call) -> bool {
        let may_be_met = |condition: &Condition| match condition.holds(call) {
            Some(holds) => holds,
            None => condition.looks_at_nodes(),
        };
        self.open.iter().all(may_be_met)
    }

    /// Returns the candidate without conditions on bytes, for calls of this many bytes. `None` if it never
    /// matches them.
    fn of_bytes(&self, bytes: usize) -> Option<Candidate> {
        let is_met = |condition: &Condition| match condition {
            Condition::Quantity(Quantity::Bytes, wanted) => wanted.contains(bytes),
            Condition::Quantity(..) | Condition::Property(..) | Condition::When(_) => true,
        };
        // Most candidates do not match and need no copy.
        self.open.iter().all(is_met).then(|| {
            let open = self.open.iter().filter(|condition| !is_on_bytes(condition)).cloned().collect();
            Candidate { rule: self.rule.clone(), open }
        })
    }
}

/// The implied condition of rules that ask for something known only on stencils, or whose algorithms serve
/// only stencils.
const ON_A_STENCIL: Condition = Condition::Property(Property::Stencil, true);

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
        let candidates = candidates.collect();
        Table { candidates, starts }
    }

    /// Returns all numbers of bytes, including 0, at which another rule may begin to decide. The calls are
    /// otherwise like `call`.
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

    /// Returns the first rule that matches a call on this communicator. This costs a binary search and
    /// usually one comparison.
    pub fn rule(&self, call: &Call) -> Option<&Rule> {
        self.candidates(call).iter().find(|candidate| candidate.matches(call)).map(|one| &one.rule)
    }

    fn candidates(&self, call: &Call) -> &[Candidate] {
        let interval = self.starts.partition_point(|&start| start <= call.bytes) - 1;
        &self.candidates[interval]
    }

    /// Whether another rule could decide a call if more were known of the ranks' nodes.
    pub fn depends_on_nodes(&self, call: &Call) -> bool {
        let first = self.candidates(call).iter().find(|candidate| candidate.may_match(call));
        first.is_some_and(|candidate| !candidate.matches(call))
    }

    /// Whether some rule needs to know that all ranks have their neighbours at the same offsets of a grid.
    /// All ranks get the same answer, because it does not depend on the call.
    pub fn depends_on_stencil(&self) -> bool {
        self.candidates.iter().flatten().any(|candidate| candidate.open.contains(&ON_A_STENCIL))
    }

    /// Whether some rule chooses an algorithm that is one of `those`. All ranks get the same answer.
    pub fn takes(&self, those: impl Fn(&Algorithm) -> bool) -> bool {
        let mut algorithms =
            self.candidates.iter().flatten().filter_map(|candidate| candidate.rule.choice.algorithm());
        algorithms.any(those)
    }

    /// Returns the choice of the first rule that matches, else [`Choice::Below`]. It equals that of [`Rules::choose`].
    pub fn choose(&self, call: &Call) -> Choice {
        self.rule(call).map_or(Choice::Below, |rule| rule.choice)
    }
}

/// Returns the numbers of bytes at which the result of a comparison changes.
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

/// Returns by bisection the first number above `same` that `is_same` rejects. `is_same` must reject `other`.
fn first_other(mut same: usize, mut other: usize, is_same: impl Fn(usize) -> bool) -> usize {
    while other - same > 1 {
        let middle = same + (other - same) / 2;
        if is_same(middle) { same = middle } else { other = middle }
    }
    other
}

/// Returns the candidates up to the first one that always matches.
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
    use crate::selection::{Neighbourhood, samples};

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

    /// Whether the choice for a call of 8 ranks and 4 KiB depends on nodes: first if nothing is known of
    /// them, then if there are known to be several.
    fn dependence(line: &str) -> [bool; 2] {
        // Some lines have rules that never decide. That is a fault within one line, so each rule is read separately.
        let rules =
            line.split(';').map(|rule| Rules::parse_line("line", Collective::Allreduce, rule).unwrap());
        let rules = rules.fold(Rules::default(), |before, rule| before.followed_by(&rule));
        let table = rules.for_communicator(Collective::Allreduce, 8, 1);
        let call = Call::new(Collective::Allreduce, 8, 4096);
        [false, true].map(|is_on_several_nodes| table.depends_on_nodes(&Call { is_on_several_nodes, ..call }))
    }

    #[test]
    fn a_table_tells_whether_a_choice_depends_on_nodes() {
        for (line, expected) in [
            ("bytes=8.. -> ring", [false, false]),
            ("nodes=1 -> ring; -> linear", [true, false]),
            ("nodes=2.. -> ring; -> linear", [true, false]),
            ("nodes=1,9.. -> ring; -> linear", [true, false]),
            ("ranks_per_node=8.. -> ring; -> linear", [true, false]),
            ("nodes=4.. -> ring; -> linear", [true, true]),
            ("ranks_per_node=2 -> ring", [true, true]),
            ("when='nodes > 1' -> ring", [true, true]),
            ("ranks=..4 nodes=4.. -> ring; -> linear", [false, false]),
            ("bytes=8K.. nodes=4.. -> ring; -> linear", [false, false]),
            ("predefined=false nodes=4.. -> ring; -> linear", [false, false]),
            ("nodes=2.. -> ring; nodes=4.. -> rabenseifner; -> linear", [true, false]),
            ("-> recursive_doubling; nodes=2 -> linear", [false, false]),
        ] {
            assert_eq!(dependence(line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_asked_of_neighbours_is_known_on_stencils_alone() {
        let collective = Collective::NeighborAlltoall;
        let table = |line: &str| {
            Rules::parse_line("line", collective, line).unwrap().for_communicator(collective, 27, 1)
        };
        let rules = table("neighbours=8.. bytes=..1K -> combining; bytes=..64 -> linear; -> below");
        for (neighbours, bytes, expected) in [
            (Some(26), 1024, "combining"),
            (Some(26), 1025, "below"),
            (Some(7), 64, "linear"),
            (Some(7), 65, "below"),
            (None, 0, "below"),
        ] {
            let neighbourhood = neighbours.map(|neighbours| Neighbourhood { neighbours, dimensions: 3 });
            let call = Call { neighbourhood, ..Call::new(collective, 27, bytes) };
            assert_eq!(samples::name(&rules.choose(&call)), expected, "{neighbours:?}, {bytes} bytes");
        }
        for (line, expected) in [
            ("-> combining; -> linear", true),
            ("dimensions=3 -> linear; -> below", true),
            ("bytes=..64 -> linear; -> below", true),
            ("ranks=..26 -> combining; -> linear", false),
            ("-> linear", false),
        ] {
            assert_eq!(table(line).depends_on_stencil(), expected, "{line}");
        }
    }

    #[test]
    fn a_choice_that_does_not_depend_on_nodes_is_the_same_for_all() {
        let mut random = Random(13);
        let mut independent = 0;
        for round in 0..400 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let rules = samples::rules(collective, 4, &mut random);
            for _ in 0..20 {
                let call =
                    Call { nodes: None, ranks_per_node: None, ..samples::call(collective, &mut random) };
                let table = rules.for_communicator(collective, call.size, call.groups());
                if table.depends_on_nodes(&call) {
                    continue;
                }
                let fewest = if call.is_on_several_nodes { 2 } else { 1 };
                for nodes in fewest..=call.size {
                    let ranks_per_node = Some(call.size.div_ceil(nodes));
                    let known =
                        Call { is_on_several_nodes: nodes > 1, nodes: Some(nodes), ranks_per_node, ..call };
                    assert_eq!(table.choose(&known), table.choose(&call), "{known:?}");
                }
                independent += usize::from(call.is_on_several_nodes);
            }
        }
        assert!(independent > 500, "{independent}");
    }

    #[test]
    fn rules_are_cut_to_one_per_interval() {
        let text = include_str!("../../selection-rules/mpich-2005.toml");
        let rules = Rules::parse("mpich-2005.toml", text).unwrap();
        let table = rules.for_communicator(Collective::Bcast, 16, 1);
        assert_eq!(table.starts, [0, 12 << 10, 512 << 10]);
        assert!(table.candidates.iter().all(|candidates| candidates.len() == 1));
        // Only the rule for inter-communicators is left, and it cannot ask for bytes.
        let table = Rules::built_in().for_communicator(Collective::Bcast, 16, 2);
        assert_eq!((table.starts.len(), table.candidates[0].len()), (1, 1));
    }
}
