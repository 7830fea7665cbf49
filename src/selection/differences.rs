//! Finds the calls for which two sets of rules decide differently.

use super::condition::{Condition, Property, Quantity};
use super::decisions::{DecidedBytes, RuledChoice};
use super::{Call, Neighbourhood, Rule, Rules};
use crate::algorithms::{Algorithm, Collective, Cut, Requirement};
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Calls that two sets of rules decide differently.
#[derive(Clone, Debug)]
pub struct Difference {
    /// An example: the call with the fewest ranks and, among these, the fewest bytes.
    pub call: Call,
    pub ranks: RangeInclusive<usize>,
    /// All numbers, if the calls have no measure of bytes.
    pub bytes: RangeInclusive<usize>,
    /// The first set's decision. The rule's place is the one for the fewest ranks.
    pub one: RuledChoice,
    /// The second set's decision.
    pub other: RuledChoice,
}

impl Rules {
    /// Returns where `others` decides differently, on intra- and inter-communicators of these numbers of
    /// ranks. The comparison tries commutative and other operators. For all other properties that a rule of
    /// either set asks for, it tries every value that the rules distinguish. Ranks are spread evenly over
    /// nodes: over one, over two, over as many as there are ranks, and over the numbers in conditions. What an algorithm
    /// requires is there in some calls and lacks in others.
    pub fn differences(&self, others: &Rules, ranks: RangeInclusive<usize>) -> Vec<Difference> {
        let mut all = Vec::new();
        for collective in Collective::ALL {
            let asked = Asked::by(&[self, others], collective);
            let mut found: Vec<Difference> = Vec::new();
            for size in ranks.clone() {
                let [ones, others] = [self, others]
                    .map(|rules| [1, 2].map(|groups| rules.for_communicator(collective, size, groups)));
                for call in asked.kinds(size) {
                    let group = call.groups() - 1;
                    let pieces = differing(&ones[group].decisions(&call), &others[group].decisions(&call));
                    pieces.into_iter().for_each(|piece| add(&mut found, &call, piece));
                }
            }
            all.append(&mut found);
        }
        all
    }
}

type Differing = (RangeInclusive<usize>, RuledChoice, RuledChoice);

/// Returns the ranges of bytes in which the choices differ.
fn differing(ones: &[DecidedBytes], others: &[DecidedBytes]) -> Vec<Differing> {
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

/// Adds a difference for a call, or extends the equal difference for one rank less. Leaves the difference out
/// if it is known already for another kind of call on as many ranks.
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

/// Whether two calls are of the same kind; [`Asked::kinds`] makes the kinds.
fn is_alike(one: &Call, other: &Call) -> bool {
    let kind = |call: &Call| Call {
        size: 0,
        bytes: 0,
        remote: call.remote.min(1),
        nodes: None,
        ranks_per_node: None,
        ..*call
    };
    let is_spread_alike = one.nodes == other.nodes || one.ranks_per_node == other.ranks_per_node;
    kind(one) == kind(other) && is_spread_alike
}

/// The values, besides ranks and bytes, by which rules may distinguish calls of a collective.
struct Asked {
    collective: Collective,
    predefined: &'static [bool],
    reproducible: &'static [bool],
    in_place: &'static [bool],
    tcp: &'static [bool],
    /// Lengths of the longest block: one block that has all bytes.
    longest: &'static [usize],
    /// In this and the next two fields: one number for each possible result of the conditions; empty if there are none.
    roots: BTreeSet<usize>,
    nodes: BTreeSet<usize>,
    ranks_per_node: BTreeSet<usize>,
    /// The neighbourhoods that conditions distinguish; empty if no rule depends on stencils.
    neighbourhoods: Vec<Neighbourhood>,
    /// Each takes something from a call that an algorithm requires.
    lacks: Vec<Lack>,
}

/// Takes something from a call.
type Lack = fn(Call) -> Call;

/// What a call may lack, by the requirement of algorithms that need it.
const LACKS: [(Requirement, Lack); 4] = [
    (Requirement::SharedMemory, |call| Call { shares_memory: false, copies_singly: false, ..call }),
    (Requirement::SingleCopy, |call| Call { copies_singly: false, ..call }),
    (Requirement::OtherCollectives, |call| Call { calls_others: false, ..call }),
    (Requirement::NeighboursOfNode, |call| Call { knows_neighbours_of_node: false, ..call }),
];

impl Asked {
    fn by(rules: &[&Rules; 2], collective: Collective) -> Asked {
        let conditions = || {
            let rules = rules.iter().flat_map(|rules| rules.of(collective));
            rules.flat_map(|rule| &rule.conditions)
        };
        let asks_for = |property: Property| {
            conditions()
                .any(|condition| matches!(condition, Condition::Property(asked, _) if *asked == property))
        };
        let numbers = |quantity: Quantity, usual: &[usize]| {
            let mut numbers = BTreeSet::new();
            for condition in conditions().filter(|condition| condition.looks_at(quantity)) {
                numbers.extend(usual);
                if let Condition::Quantity(_, wanted) = condition {
                    numbers.extend(wanted.changes());
                }
            }
            numbers
        };
        // Where a call comes to the rules that both sets end with, they decide alike, whatever it lacks.
        let lists = rules.map(|rules| rules.of(collective));
        let ends = lists[0].iter().rev().zip(lists[1].iter().rev());
        let is_same =
            |(one, other): &(&Rule, &Rule)| one.conditions == other.conditions && one.choice == other.choice;
        let common = ends.take_while(is_same).count();
        let own = || {
            let rules = lists.iter().flat_map(|list| &list[..list.len() - common]);
            rules.map(|rule| rule.choice.algorithm())
        };
        let requires =
            |wanted: Requirement| own().flatten().any(|algorithm| algorithm.requires.contains(&wanted));
        let asks_for_stencil = conditions().any(|condition| condition.looks_at_stencil(collective))
            || lists
                .iter()
                .copied()
                .flatten()
                .any(|rule| rule.choice.algorithm().is_some_and(Algorithm::takes_stencil));
        let is_irreproducible =
            |algorithm: Option<&Algorithm>| algorithm.is_none_or(|algorithm| !algorithm.is_reproducible());
        let is_restricted = collective.reduces() && own().any(is_irreproducible);
        let mut nodes = numbers(Quantity::Nodes, &[1, 2]);
        nodes.extend(requires(Requirement::OneNode).then_some(1));
        let or_usual = |quantity: Quantity, usual: usize| {
            let mut numbers = numbers(quantity, &[]);
            numbers.insert(usual);
            numbers
        };
        let dimensions = or_usual(Quantity::Dimensions, 2);
        let neighbourhoods = or_usual(Quantity::Neighbours, 8).into_iter().flat_map(|neighbours| {
            dimensions.iter().map(move |&dimensions| Neighbourhood { neighbours, dimensions })
        });
        Asked {
            collective,
            neighbourhoods: neighbourhoods.filter(|_| asks_for_stencil).collect(),
            predefined: match asks_for(Property::Predefined) || requires(Requirement::Predefined) {
                true => &[false],
                false => &[],
            },
            reproducible: if is_restricted { &[true] } else { &[] },
            in_place: if asks_for(Property::InPlace) { &[true] } else { &[] },
            tcp: if asks_for(Property::Tcp) { &[true] } else { &[] },
            longest: if conditions().any(Condition::looks_at_longest) { &[usize::MAX] } else { &[] },
            roots: numbers(Quantity::Root, &[0]),
            nodes,
            ranks_per_node: numbers(Quantity::RanksPerNode, &[1]),
            lacks: LACKS
                .into_iter()
                .filter(|(required, _)| requires(*required))
                .map(|(_, lack)| lack)
                .collect(),
        }
    }

    /// Returns the kinds of calls on communicators of this size, the plainest first.
    fn kinds(&self, size: usize) -> Vec<Call> {
        let collective = self.collective;
        let other_operators: &[bool] = if collective.reduces() { &[false] } else { &[] };
        let has_two_groups = collective.cut() != Cut::Edges && size > 1;
        let roots: Vec<usize> = self.roots.range(..size).copied().collect();
        let mut calls = vec![Call::new(collective, size, 0)];
        vary(&mut calls, other_operators, |call, commutative| Call { commutative, ..call });
        vary(&mut calls, self.predefined, |call, predefined| Call { predefined: Some(predefined), ..call });
        vary(&mut calls, self.reproducible, |call, reproducible| Call {
            reproducible,
            calls_others: false,
            ..call
        });
        vary(&mut calls, self.in_place, |call, in_place| Call { in_place, ..call });
        let between_groups = calls.iter().map(|call| Call { remote: size / 2, ..*call });
        let mut between_groups: Vec<_> = between_groups.filter(|_| has_two_groups).collect();
        let by_tcp = |call, goes_by_tcp| Call { goes_by_tcp, ..call };
        vary(&mut between_groups, self.tcp, by_tcp);
        // On inter-communicators, roots and nodes are not known.
        vary(&mut calls, &roots, |call, root| Call { root: Some(root), ..call });
        vary(&mut calls, &self.layouts(size), |call, (nodes, ranks_per_node)| Call {
            nodes: Some(nodes),
            ranks_per_node: Some(ranks_per_node),
            ..call
        });
        vary(&mut calls, self.tcp, by_tcp);
        calls.retain(|call| !call.goes_by_tcp || call.nodes != Some(1));
        vary(&mut calls, self.longest, |call, longest| Call { longest: Some(longest), ..call });
        vary(&mut calls, &self.neighbourhoods, |call, neighbourhood| Call {
            neighbourhood: Some(neighbourhood),
            ..call
        });
        self.lacks.iter().for_each(|lack| vary(&mut calls, &[*lack], |call, lack| lack(call)));
        calls.extend(between_groups);
        calls
    }

    /// Returns the layouts to try: the number of nodes, and the most ranks on one node.
    fn layouts(&self, size: usize) -> Vec<(usize, usize)> {
        if self.nodes.is_empty() && self.ranks_per_node.is_empty() {
            return Vec::new();
        }
        let possible = |numbers: &BTreeSet<usize>| numbers.range(1..=size).copied().collect::<Vec<_>>();
        let over = [1, 2.min(size), size].into_iter().chain(possible(&self.nodes));
        let over = over.map(|nodes| (nodes, size.div_ceil(nodes)));
        let sharing = possible(&self.ranks_per_node).into_iter().map(|ranks| (size.div_ceil(ranks), ranks));
        over.chain(sharing).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Adds, for each value, a copy of all calls with this value.
fn vary<Value: Copy>(calls: &mut Vec<Call>, values: &[Value], with: impl Fn(Call, Value) -> Call) {
    let plain = calls.clone();
    for &value in values {
        calls.extend(plain.iter().map(|call| with(*call, value)));
    }
}

#[cfg(test)]
mod tests {
    use crate::algorithms::Collective::*;
    use crate::selection::samples::{line, name};

    #[test]
    fn differences_are_where_choices_differ() {
        let one = line(Allreduce, "bytes=..2K -> recursive_doubling; ranks=5.. -> ring; -> rabenseifner");
        let other = line(Allreduce, "bytes=..2K -> recursive_doubling; ranks=5..8 -> ring; -> rabenseifner");
        let found = one.differences(&other, 1..=12);
        let [only] = &found[..] else { panic!("{found:?}") };
        assert_eq!((only.ranks.clone(), only.bytes.clone()), (9..=12, 2049..=usize::MAX));
        assert_eq!((name(&only.one.choice), name(&only.other.choice)), ("ring", "rabenseifner"));
        assert_eq!(only.one.origin.as_ref().unwrap().to_string(), "line:1:35");
        assert!(one.differences(&one, 1..=12).is_empty());
        // An operator that does not commute rules out both rings.
        let other = line(Allreduce, "commutative=false -> linear; bytes=..2K -> recursive_doubling; -> ring");
        let found = one.differences(&other, 4..=4);
        let seen = found.iter().map(|one| (one.call.commutative, one.call.reproducible, *one.bytes.start()));
        let expected = [(true, false, 2049), (false, false, 0), (false, false, 2049), (true, true, 2049)];
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_rules_ask_for_is_tried_with_every_answer() {
        for (collective, condition) in [
            (Allreduce, "predefined"),
            (Allreduce, "predefined=false"),
            (Allreduce, "in_place"),
            (Bcast, "root=0"),
            (Bcast, "root=1.."),
            (Bcast, "root=3"),
            (Bcast, "tcp"),
            (Bcast, "tcp=false"),
            (Bcast, "nodes=2.."),
            (Bcast, "nodes=3"),
            (Bcast, "ranks_per_node=1"),
            (Bcast, "ranks_per_node=3..4"),
            (Bcast, "when='nodes > ranks_per_node'"),
        ] {
            let one = line(
                collective,
                &format!("{condition} -> below; groups=1 -> linear; groups=2 -> inter_leaders"),
            );
            let other = line(collective, "groups=1 -> linear; groups=2 -> inter_leaders");
            assert!(!one.differences(&other, 7..=7).is_empty(), "{condition}");
            assert!(one.differences(&one, 7..=7).is_empty(), "{condition}");
        }
    }

    #[test]
    fn what_algorithms_require_lacks_at_times() {
        for (collective, one, other) in [
            // On one node.
            (Allreduce, "-> shared_flat", "-> below"),
            // Without shared memory, single copies, calls of other collectives, and with an operator of the user's.
            (Allreduce, "-> shared_leaders; -> ring", "-> shared_leaders; -> circulant"),
            (Alltoall, "-> single_copy; -> pairwise", "-> single_copy; -> bruck"),
            (
                Allreduce,
                "-> allreduce_as_reduce_bcast; -> rabenseifner",
                "-> allreduce_as_reduce_bcast; -> recursive_doubling",
            ),
            (Scan, "-> shared; -> linear", "-> shared; -> below"),
            // With reproducible results.
            (Allreduce, "-> below; -> recursive_doubling", "-> below; -> rabenseifner"),
        ] {
            let [one, other] = [one, other].map(|rules| line(collective, rules));
            assert!(!one.differences(&other, 4..=4).is_empty(), "{one:?}, {other:?}");
            assert!(one.differences(&one, 4..=4).is_empty(), "{one:?}");
        }
    }
}
