//! The domain of a rule: the calls that it can decide. A domain is a box with one side for each quantity and
//! property that the rule's conditions and its algorithm ask for. It ignores expressions, so a rule with an
//! expression decides at most the calls of its domain.

use super::Choice;
use super::condition::{Condition, Property, Quantity};
use super::entry::{ALGORITHM, BELOW};
use super::measure::Measure;
use super::ranges::Ranges;
use crate::algorithms::{Body, Collective, Reason, Requirement};

/// The required values of each quantity and each property; `None` if there is no requirement.
pub struct Domain {
    quantities: [Option<Ranges>; QUANTITIES],
    properties: [Option<bool>; PROPERTIES],
}

const QUANTITIES: usize = Quantity::ALL.len();
/// The properties that rules ask for, and six that only algorithms require.
const PROPERTIES: usize = Property::ASKED.len() + 7;

/// Why a rule never matches.
pub struct Contradiction {
    /// The key that causes the contradiction.
    pub key: &'static str,
    pub message: String,
}

impl Domain {
    /// Returns the calls that meet the conditions and that the choice can serve. Fails if there are none.
    pub fn of(
        collective: Collective,
        conditions: &[Condition],
        choice: Choice,
    ) -> Result<Domain, Contradiction> {
        let mut domain = Domain { quantities: [const { None }; QUANTITIES], properties: [None; PROPERTIES] };
        for condition in conditions {
            let message = || format!("no call meets `{condition}` and what stands before it");
            domain.restrict(condition, condition.key(), message)?;
        }
        for condition in conditions {
            if let Some(quantity) = unknown_between_groups(collective, condition) {
                let message = || format!("between two groups not all ranks know the {}", quantity.name());
                let one_group = Condition::Quantity(Quantity::Groups, Ranges::only(1));
                domain.restrict(&one_group, condition.key(), message)?;
            }
            if condition.looks_at_stencil(collective) {
                domain.narrow(&Condition::Property(Property::Stencil, true));
            }
        }
        let name = choice.algorithm().map_or(BELOW, |algorithm| algorithm.name);
        for (condition, reason) in implied(collective, choice) {
            let message = || format!("`{name}` serves none of these calls: {reason}");
            domain.restrict(&condition, ALGORITHM, message)?;
        }
        Ok(domain)
    }

    /// Narrows the domain by a condition. Fails, and blames the key, if nothing is left.
    fn restrict(
        &mut self,
        condition: &Condition,
        key: &'static str,
        message: impl Fn() -> String,
    ) -> Result<(), Contradiction> {
        self.narrow(condition);
        if self.is_empty() { Err(Contradiction { key, message: message() }) } else { Ok(()) }
    }

    fn narrow(&mut self, condition: &Condition) {
        match condition {
            Condition::Quantity(quantity, wanted) => {
                let side = &mut self.quantities[*quantity as usize];
                let before = side.take().unwrap_or_else(|| quantity.possible());
                *side = Some(before.intersection(wanted));
            }
            Condition::Property(property, wanted) => match &mut self.properties[*property as usize] {
                // No call has both values. An empty side makes the domain empty.
                Some(before) if before != wanted => {
                    self.quantities[Quantity::Ranks as usize] = Some(Ranges::new([]))
                }
                side => *side = Some(*wanted),
            },
            Condition::When(_) => {}
        }
    }

    fn is_empty(&self) -> bool {
        let no_rank = |(most, root): (&Ranges, &Ranges)| root.first() >= most.last();
        let (ranks, root) =
            (&self.quantities[Quantity::Ranks as usize], &self.quantities[Quantity::Root as usize]);
        self.quantities.iter().flatten().any(Ranges::is_empty)
            || !self.sizes().exist()
            || ranks.as_ref().zip(root.as_ref()).is_some_and(no_rank)
            || !self.can_be_placed()
    }

    /// Whether some of these numbers of ranks can be on these numbers of nodes. None of the sides may be empty.
    fn can_be_placed(&self) -> bool {
        let bounds = |quantity: Quantity| {
            let numbers = self.quantities[quantity as usize].clone().unwrap_or_else(|| quantity.possible());
            numbers.first().zip(numbers.last()).unwrap_or((1, 0))
        };
        let [(fewest_ranks, most_ranks), (fewest_nodes, most_nodes), (fewest_there, most_there)] =
            [Quantity::Ranks, Quantity::Nodes, Quantity::RanksPerNode].map(bounds);
        // TCP is asked for between nodes.
        let is_between_nodes = self.properties[Property::Tcp as usize] == Some(true);
        let fewest_nodes = if is_between_nodes { fewest_nodes.max(2) } else { fewest_nodes };
        // Each other node has a rank, too.
        let fewest = fewest_nodes.saturating_add(fewest_there) - 1;
        fewest_nodes <= most_nodes
            && fewest <= most_ranks
            && most_nodes.saturating_mul(most_there) >= fewest_ranks
    }

    fn sizes(&self) -> Sizes {
        Sizes {
            ranks: self.quantity(Quantity::Ranks).unwrap_or(Ranges::from(1)),
            power_of_two: self.properties[Property::PowerOfTwo as usize],
            even: self.properties[Property::Even as usize],
        }
    }

    fn quantity(&self, quantity: Quantity) -> Option<Ranges> {
        let side = self.quantities[quantity as usize].clone();
        side.or_else(|| quantity.is_always_known().then(|| quantity.possible()))
    }

    /// Whether this domain includes all calls of the other domain.
    pub fn covers(&self, other: &Domain) -> bool {
        let contains =
            |quantity: Quantity| match (&self.quantities[quantity as usize], other.quantity(quantity)) {
                _ if quantity == Quantity::Ranks => true,
                (None, _) => true,
                (Some(mine), Some(theirs)) => theirs.is_within(mine),
                // The quantity may be unknown.
                (Some(_), None) => false,
            };
        let mut sides = self.properties.iter().zip(&other.properties).enumerate();
        let agrees = |(property, (mine, theirs)): (usize, (&Option<bool>, &Option<bool>))| {
            let is_of_size = [Property::PowerOfTwo as usize, Property::Even as usize].contains(&property);
            is_of_size || mine.is_none() || mine == theirs
        };
        other.sizes().are_within(&self.sizes())
            && Quantity::ALL.into_iter().all(contains)
            && sides.all(agrees)
    }
}

/// Numbers of ranks with required properties.
struct Sizes {
    ranks: Ranges,
    power_of_two: Option<bool>,
    even: Option<bool>,
}

impl Sizes {
    fn exist(&self) -> bool {
        exist(&self.ranks, self.power_of_two, self.even)
    }

    /// Whether all these sizes are among the others: none is outside their ranges or lacks a property that
    /// they require.
    fn are_within(&self, others: &Sizes) -> bool {
        let lack = |mine: Option<bool>, theirs: Option<bool>| {
            theirs.filter(|wanted| mine != Some(*wanted)).map(|wanted| Some(!wanted))
        };
        let beyond = self.ranks.intersection(&others.ranks.complement());
        let is_beyond = exist(&beyond, self.power_of_two, self.even);
        let is_unlike = lack(self.power_of_two, others.power_of_two)
            .is_some_and(|power_of_two| exist(&self.ranks, power_of_two, self.even));
        let is_odd =
            lack(self.even, others.even).is_some_and(|even| exist(&self.ranks, self.power_of_two, even));
        !(is_beyond || is_unlike || is_odd)
    }
}

/// Whether one of these numbers has the properties. Eight consecutive numbers include one, unless it must be
/// a power of two.
fn exist(ranks: &Ranges, power_of_two: Option<bool>, even: Option<bool>) -> bool {
    let has = |number: usize| {
        ranks.contains(number)
            && power_of_two.is_none_or(|wanted| wanted == number.is_power_of_two())
            && even.is_none_or(|wanted| wanted == number.is_multiple_of(2))
    };
    let near = ranks.iter().flat_map(|range| *range.start()..=range.start().saturating_add(7));
    near.chain((0..usize::BITS).map(|exponent| 1 << exponent)).any(has)
}

/// Returns the conditions on a call that a choice serves, each with the reason for a refusal. They agree with
/// [`Choice::serves`].
pub fn implied(collective: Collective, choice: Choice) -> Vec<(Condition, Reason)> {
    let irreproducible = (Condition::Property(Property::Reproducible, false), Reason::Irreproducible);
    let Choice::Use { algorithm, .. } = choice else {
        return collective.reduces().then_some(irreproducible).into_iter().collect();
    };
    let groups = if algorithm.is_for_two_groups() { Requirement::TwoGroups } else { Requirement::OneGroup };
    let required = [groups].into_iter().chain(algorithm.requires.iter().copied());
    let conditions = required.filter_map(|requirement| {
        let condition = match requirement {
            Requirement::Commutative => Condition::Property(Property::Commutative, true),
            Requirement::EvenSize => Condition::Property(Property::Even, true),
            Requirement::TwoGroups => Condition::Quantity(Quantity::Groups, Ranges::only(2)),
            Requirement::OneGroup => Condition::Quantity(Quantity::Groups, Ranges::only(1)),
            Requirement::OneNode => Condition::Quantity(Quantity::Nodes, Ranges::only(1)),
            Requirement::SharedMemory => Condition::Property(Property::SharedMemory, true),
            Requirement::SingleCopy => Condition::Property(Property::SingleCopy, true),
            Requirement::OtherCollectives => Condition::Property(Property::OtherCollectives, true),
            Requirement::Predefined => Condition::Property(Property::Predefined, true),
            Requirement::Stencil => Condition::Property(Property::Stencil, true),
            Requirement::NeighboursOfNode => Condition::Property(Property::NeighboursOfNode, true),
            Requirement::Nodes | Requirement::BlockLengths | Requirement::LongestBlock => return None,
        };
        Some((condition, Reason::Unmet(requirement)))
    });
    let listed = match algorithm.body {
        Body::Listed(listed) => {
            let sizes = Ranges::new(listed.programs.keys().map(|&size| size..=size));
            Some((Condition::Quantity(Quantity::Ranks, sizes), Reason::UnlistedSize))
        }
        _ => None,
    };
    conditions.chain(listed).chain((!algorithm.is_reproducible()).then_some(irreproducible)).collect()
}

/// Returns the quantity that a condition depends on and that is known only on intra-communicators, if there is one.
fn unknown_between_groups(collective: Collective, condition: &Condition) -> Option<Quantity> {
    use Quantity::{Bytes, Dimensions, Neighbours, Nodes, RanksPerNode, Root};
    let is_measured = Measure::between_groups(collective) != Measure::Nothing;
    [Bytes, Root, Nodes, RanksPerNode, Neighbours, Dimensions]
        .into_iter()
        .filter(|quantity| !(is_measured && *quantity == Bytes))
        .find(|quantity| condition.looks_at(*quantity))
}

/// Returns the largest number of ranks that the conditions allow.
pub fn most_ranks(conditions: &[Condition]) -> usize {
    let most = conditions.iter().filter_map(|condition| match condition {
        Condition::Quantity(Quantity::Ranks, wanted) => wanted.last(),
        _ => None,
    });
    most.min().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::selection::{Call, Rules, samples};

    fn faults(collective: Collective, line: &str) -> Vec<String> {
        match Rules::parse_line("line", collective, line) {
            Ok(_) => Vec::new(),
            Err(errors) => errors.0.iter().map(|error| error.to_string()).collect(),
        }
    }

    #[test]
    fn what_an_algorithm_requires_must_not_contradict_its_rule() {
        for (collective, line, column, expected) in [
            (
                Collective::Allgather,
                "ranks=7 -> neighbor_exchange",
                12,
                "`neighbor_exchange` serves none of these calls: the number of ranks is odd",
            ),
            (
                Collective::Allreduce,
                "commutative=false -> ring",
                22,
                "`ring` serves none of these calls: the operator does not commute",
            ),
            (
                Collective::Allreduce,
                "groups=2 -> ring",
                13,
                "`ring` serves none of these calls: the communicator has two groups",
            ),
            (
                Collective::Bcast,
                "bytes=8 -> inter_leaders",
                12,
                "`inter_leaders` serves none of these calls: the communicator has but one group",
            ),
            (
                Collective::Bcast,
                "groups=2 when='bytes > 4' -> below",
                10,
                "between two groups not all ranks know the bytes",
            ),
            (
                Collective::Bcast,
                "groups=2 root=1 -> below",
                10,
                "between two groups not all ranks know the root",
            ),
            (
                Collective::Bcast,
                "ranks=5..7 power_of_two -> linear",
                12,
                "no call meets `power_of_two=true` and what stands before it",
            ),
            (
                Collective::Bcast,
                "ranks=..4 root=4.. -> linear",
                11,
                "no call meets `root=4..` and what stands before it",
            ),
            (
                Collective::Bcast,
                "groups=2 nodes=2.. -> below",
                10,
                "between two groups not all ranks know the nodes",
            ),
            (
                Collective::Bcast,
                "groups=2 when='ranks_per_node > 1' -> below",
                10,
                "between two groups not all ranks know the ranks_per_node",
            ),
            (
                Collective::NeighborAlltoall,
                "groups=2 neighbours=4 -> below",
                10,
                "between two groups not all ranks know the neighbours",
            ),
            (Collective::Bcast, "nodes=0 -> below", 1, "no call meets `nodes=0` and what stands before it"),
            (
                Collective::Bcast,
                "ranks=..4 nodes=5.. -> below",
                11,
                "no call meets `nodes=5..` and what stands before it",
            ),
            (
                Collective::Bcast,
                "ranks=8 ranks_per_node=9.. -> below",
                9,
                "no call meets `ranks_per_node=9..` and what stands before it",
            ),
            (
                Collective::Bcast,
                "nodes=2 ranks_per_node=4 ranks=9.. -> below",
                26,
                "no call meets `ranks=9..` and what stands before it",
            ),
            (
                Collective::Bcast,
                "nodes=5.. ranks_per_node=3.. ranks=..6 -> below",
                30,
                "no call meets `ranks=..6` and what stands before it",
            ),
            (
                Collective::Bcast,
                "nodes=1 tcp -> below",
                9,
                "no call meets `tcp=true` and what stands before it",
            ),
            (Collective::Bcast, "ranks=0 -> linear", 1, "no call meets `ranks=0` and what stands before it"),
            (
                Collective::Bcast,
                "groups=3 -> linear",
                1,
                "no call meets `groups=3` and what stands before it",
            ),
        ] {
            assert_eq!(faults(collective, line), [format!("line:1:{column}: {expected}")], "{line}");
        }
    }

    #[test]
    fn rules_for_few_ranks_on_nodes_decide() {
        for line in [
            "ranks=8 nodes=2 ranks_per_node=4 -> below",
            "ranks=8 nodes=2 ranks_per_node=7 -> below",
            "ranks=8 nodes=8 ranks_per_node=1 -> below",
            "ranks=2 tcp nodes=2 -> below",
            "nodes=1 tcp=false -> below",
            "groups=2 -> below",
        ] {
            assert_eq!(faults(Collective::Bcast, line), [""; 0], "{line}");
        }
    }

    #[test]
    fn rules_that_are_covered_never_decide() {
        for (line, is_covered) in [
            ("-> below; -> rabenseifner", false),
            ("-> rabenseifner; -> ring", true),
            ("-> ring; -> rabenseifner", false),
            ("-> ring; commutative -> circulant", true),
            ("-> ring; commutative -> rabenseifner", false),
            ("power_of_two -> rabenseifner; ranks=4,16 -> ring", true),
            ("power_of_two=false -> rabenseifner; ranks=4,16 -> ring", false),
            ("ranks=1..7 -> rabenseifner; ranks=8..9 -> ring", false),
            ("ranks=1..7,8..9 -> rabenseifner; ranks=7..8 -> ring", true),
            ("when=\"ranks > 0\" -> rabenseifner; -> linear", false),
            ("-> rabenseifner; when=\"ranks > 4\" -> ring", true),
            ("nodes=1.. -> rabenseifner; -> ring", false),
            ("nodes=1.. -> rabenseifner; nodes=2 -> ring", true),
            ("groups=1 -> below; -> inter_leaders", false),
            ("bytes=0.. -> rabenseifner; -> ring", true),
        ] {
            let faults = faults(Collective::Allreduce, line);
            assert_eq!(!faults.is_empty(), is_covered, "{line}: {faults:?}");
            let says_so =
                |fault: &String| fault.ends_with("this rule never decides: the one at line:1:1 covers it");
            assert!(faults.iter().all(says_so), "{faults:?}");
        }
    }

    /// Compares domains with the random calls that their rules match.
    #[test]
    fn domains_hold_the_calls_that_rules_match() {
        let mut random = Random(5);
        let (mut covered, mut separate) = (0, 0);
        for round in 0..3000 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let [one, other] = [0; 2].map(|_| samples::rules(collective, 1, &mut random));
            let [Some(one), Some(other)] = [&one, &other].map(|rules| rules.of(collective).first()) else {
                continue;
            };
            let domain = |rule: &super::super::Rule| {
                let domain = Domain::of(collective, &rule.conditions, rule.choice);
                domain.unwrap_or_else(|contradiction| panic!("{}", contradiction.message))
            };
            let covers = one.is_box() && domain(one).covers(&domain(other));
            let calls: Vec<Call> = (0..2000).map(|_| samples::call(collective, &mut random)).collect();
            let mut theirs = calls.iter().filter(|call| other.matches(call));
            let exception = theirs.find(|call| !one.matches(call));
            if covers {
                assert!(exception.is_none(), "{one:?} covers {other:?}, but {exception:?}");
            }
            // The samples have calls on both sides of every bound, so covering many of them means covering the domain.
            let are_seen = calls.iter().filter(|call| other.matches(call)).count() >= 30;
            if one.is_box() && other.is_box() && are_seen {
                assert_eq!(covers, exception.is_none(), "{one:?}, {other:?}");
            }
            covered += usize::from(covers);
            separate += usize::from(exception.is_some());
        }
        assert!(covered > 20 && separate > 100, "{covered} covered, {separate} separate");
    }

    #[test]
    fn requirements_are_those_that_calls_are_served_by() {
        let mut random = Random(9);
        for round in 0..2000 {
            let collective = samples::COLLECTIVES[round % samples::COLLECTIVES.len()];
            let call = samples::call(collective, &mut random);
            let uses = |algorithm| Choice::Use { algorithm, parameters: Default::default() };
            for choice in collective.algorithms().map(uses).chain([Choice::Below]) {
                let is_implied =
                    implied(collective, choice).iter().all(|(condition, _)| condition.is_met(&call));
                assert_eq!(choice.serves(&call).is_ok(), is_implied, "{choice:?}, {call:?}");
            }
        }
    }
}
