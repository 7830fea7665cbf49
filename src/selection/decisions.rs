//! What rules decide on a communicator, from the fewest bytes to the most, and where two sets of rules decide differently.
//!
//! Ranges of bytes have bounds that are known. Where the comparisons of an expression change is sought: each is asked at
//! every power of two, and between two answers that differ the change is found by bisection. What changes twice between
//! two powers of two, as no sum, product or logarithm does, may be missed.

use super::condition::Condition;
use super::condition::{Property, Quantity};
use super::{Call, Choice, Origin, Rule, Rules};
use crate::algorithms::{Collective, Cut};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// What is chosen, and by which rule.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Who serves the call, and how.
    pub choice: Choice,
    /// The place of the rule; none matches if there is none.
    pub origin: Option<Origin>,
}

/// A range of bytes in which one rule decides.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// By the collective's [`super::Measure`]; everything, if the calls have none.
    pub bytes: RangeInclusive<usize>,
    /// What holds there.
    pub decision: Decision,
}

/// Calls that two sets of rules decide differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// One of them: the one with the fewest ranks, and of these with the fewest bytes.
    pub call: Call,
    /// Their numbers of ranks.
    pub ranks: RangeInclusive<usize>,
    /// Their bytes; everything, if the calls have none.
    pub bytes: RangeInclusive<usize>,
    /// What the one decides; the rule's place is that for the fewest ranks.
    pub one: Decision,
    /// What the other decides.
    pub other: Decision,
}

impl From<Option<&Rule>> for Decision {
    fn from(rule: Option<&Rule>) -> Decision {
        Decision {
            choice: rule.map_or(Choice::Below, |rule| rule.choice),
            origin: rule.map(|rule| rule.origin.clone()),
        }
    }
}

impl Rules {
    /// What they decide for a call, whatever its bytes are, from the fewest to the most.
    pub fn decisions(&self, call: &Call) -> Vec<Piece> {
        let table = self.for_communicator(call.collective, call.size, call.groups());
        let starts = if call.is_measured() { table.changes(call) } else { BTreeSet::from([0]) };
        let mut pieces: Vec<Piece> = Vec::new();
        for start in starts {
            let decision = Decision::from(table.rule(&Call { bytes: start, ..*call }));
            match pieces.last_mut() {
                Some(last) if last.decision == decision => {}
                last => {
                    last.into_iter().for_each(|last| last.bytes = *last.bytes.start()..=start - 1);
                    pieces.push(Piece { bytes: start..=usize::MAX, decision });
                }
            }
        }
        pieces
    }

    /// Where others decide differently on communicators of these numbers of ranks, of one group and of two. Operators
    /// commute and do not; what else either set of rules asks for is tried both ways, on one node, on two and on as many
    /// as there are ranks.
    pub fn differences(&self, others: &Rules, ranks: RangeInclusive<usize>) -> Vec<Difference> {
        let mut all = Vec::new();
        for collective in Collective::ALL {
            let mut found: Vec<Difference> = Vec::new();
            for size in ranks.clone() {
                for call in kinds(collective, size, &[self, others]) {
                    let pieces = differing(&self.decisions(&call), &others.decisions(&call));
                    pieces.into_iter().for_each(|piece| add(&mut found, &call, piece));
                }
            }
            all.append(&mut found);
        }
        all
    }

    fn asks_for(&self, collective: Collective, asks: impl Fn(&Condition) -> bool) -> bool {
        self.of(collective).iter().flat_map(|rule| &rule.conditions).any(asks)
    }
}

type Differing = (RangeInclusive<usize>, Decision, Decision);

/// The ranges of bytes in which choices differ.
fn differing(ones: &[Piece], others: &[Piece]) -> Vec<Differing> {
    let mut found = Vec::new();
    let (mut ones, mut others) = (ones.iter().peekable(), others.iter().peekable());
    while let (Some(one), Some(other)) = (ones.peek(), others.peek()) {
        let (end, other_end) = (*one.bytes.end(), *other.bytes.end());
        if one.decision.choice != other.decision.choice {
            let bytes = *one.bytes.start().max(other.bytes.start())..=end.min(other_end);
            found.push((bytes, one.decision.clone(), other.decision.clone()));
        }
        ones.next_if(|_| end <= other_end);
        others.next_if(|_| other_end <= end);
    }
    found
}

/// Adds what differs for a call, or widens what differs likewise for one rank less; leaves out what differs for a call of
/// as many ranks that is known already.
fn add(found: &mut Vec<Difference>, call: &Call, (bytes, one, other): Differing) {
    let is_same = |known: &Difference| known.bytes == bytes && known.one == one && known.other == other;
    let is_known =
        |known: &Difference| known.ranks.contains(&call.size) && known.call.groups() == call.groups();
    if found.iter().rev().any(|known| is_same(known) && is_known(known)) {
        return;
    }
    let is_next = |known: &&mut Difference| {
        is_same(known) && known.ranks.end() + 1 == call.size && is_alike(&known.call, call)
    };
    match found.iter_mut().rev().find(is_next) {
        Some(known) => known.ranks = *known.ranks.start()..=call.size,
        None => {
            let call = Call { bytes: *bytes.start(), ..*call };
            found.push(Difference { call, ranks: call.size..=call.size, bytes, one, other });
        }
    }
}

/// Whether two calls are of one kind, as [`kinds`] makes them.
fn is_alike(one: &Call, other: &Call) -> bool {
    let kind = |call: &Call| {
        let Call { collective, remote, commutative, predefined, in_place, root, nodes, .. } = *call;
        (
            collective,
            remote > 0,
            commutative,
            predefined,
            in_place,
            root == Some(0),
            nodes.map(|nodes| nodes.min(3)),
        )
    };
    kind(one) == kind(other)
}

/// The calls of a collective that rules may tell apart, but for their bytes; the plainest first.
fn kinds(collective: Collective, size: usize, rules: &[&Rules]) -> Vec<Call> {
    let asks =
        |wanted: &dyn Fn(&Condition) -> bool| rules.iter().any(|rules| rules.asks_for(collective, wanted));
    let asks_for = |property: Property| {
        asks(&|condition| matches!(condition, Condition::Property(asked, _) if *asked == property))
    };
    let asks_about = |quantity: Quantity| asks(&|condition| condition.looks_at(quantity));
    let has_two_groups = collective.cut() != Cut::Edges && size > 1;
    let mut calls = vec![Call::new(collective, size, 0)];
    let mut vary = |is_asked: bool, variant: &dyn Fn(Call) -> Call| {
        if is_asked {
            calls.extend(calls.clone().into_iter().map(variant));
        }
    };
    vary(collective.reduces(), &|call| Call { commutative: false, ..call });
    vary(asks_for(Property::Predefined), &|call| Call { predefined: Some(true), ..call });
    vary(asks_for(Property::InPlace), &|call| Call { in_place: true, ..call });
    vary(asks_about(Quantity::Root), &|call| Call { root: Some(0), ..call });
    vary(has_two_groups, &|call| Call { remote: size / 2, root: None, ..call });
    if asks_about(Quantity::Nodes) || asks_about(Quantity::RanksPerNode) {
        let layouts = [1, 2, size].into_iter().filter(|nodes| *nodes <= size);
        let layouts: Vec<_> = layouts.map(|nodes| (Some(nodes), Some(size.div_ceil(nodes)))).collect();
        let on = |call: Call| {
            layouts.iter().map(move |&(nodes, ranks_per_node)| Call { nodes, ranks_per_node, ..call })
        };
        calls = calls.clone().into_iter().flat_map(on).collect();
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective::*;
    use crate::random::Random;
    use crate::selection::samples;

    fn line(collective: Collective, line: &str) -> Rules {
        Rules::parse_line("line", collective, line).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn name(decision: &Decision) -> &'static str {
        decision.choice.algorithm().map_or("below", |algorithm| algorithm.name)
    }

    #[test]
    fn pieces_begin_where_decisions_change() {
        let rules = line(
            Allreduce,
            "bytes=..100 -> linear; when='bytes * ranks >= 1000 and bytes * ranks < 1100' -> ring; \
             when='bytes == 777' -> circulant; ranks=3.. -> rabenseifner",
        );
        let pieces = rules.decisions(&Call::new(Allreduce, 7, 0));
        let found: Vec<_> =
            pieces.iter().map(|piece| (*piece.bytes.start(), name(&piece.decision))).collect();
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

    #[test]
    fn differences_are_where_choices_differ() {
        let one = line(Allreduce, "bytes=..2K -> recursive_doubling; ranks=5.. -> ring; -> rabenseifner");
        let other = line(Allreduce, "bytes=..2K -> recursive_doubling; ranks=5..8 -> ring; -> rabenseifner");
        let found = one.differences(&other, 1..=12);
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!((only.ranks.clone(), only.bytes.clone()), (9..=12, 2049..=usize::MAX));
        assert_eq!((name(&only.one), name(&only.other)), ("ring", "rabenseifner"));
        assert_eq!(only.one.origin.as_ref().unwrap().to_string(), "line:1:35");
        assert!(one.differences(&one, 1..=12).is_empty());
        // Not commutative, the operator rules out both rings.
        let other = line(Allreduce, "commutative=false -> linear; bytes=..2K -> recursive_doubling; -> ring");
        let found = one.differences(&other, 4..=4);
        let seen: Vec<_> = found.iter().map(|one| (one.call.commutative, *one.bytes.start())).collect();
        assert_eq!(seen, [(true, 2049), (false, 0), (false, 2049)]);
    }

    #[test]
    fn what_rules_ask_for_is_tried_both_ways() {
        for (collective, condition) in [
            (Allreduce, "predefined"),
            (Allreduce, "in_place"),
            (Bcast, "root=0"),
            (Bcast, "nodes=2.."),
            (Bcast, "ranks_per_node=1"),
        ] {
            let one = line(
                collective,
                &format!("{condition} -> below; groups=1 -> linear; groups=2 -> inter_leaders"),
            );
            let other = line(collective, "groups=1 -> linear; groups=2 -> inter_leaders");
            assert!(!one.differences(&other, 2..=4).is_empty(), "{condition}");
        }
    }
}
