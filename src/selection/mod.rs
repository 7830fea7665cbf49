//! Which algorithm serves a call: an ordered list of rules per collective, of which the first that matches decides.

#![forbid(unsafe_code)]

mod error;
mod file;
pub(crate) mod nearest;
mod quantity;

pub use error::RuleError;

use crate::algorithms::{Algorithm, Collective, Reason};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::LazyLock;

/// What is known of a call when its algorithm is chosen; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// Number of ranks, of both groups together if there are two.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, which is the same for each rank of a group; else 0.
    pub remote: usize,
    /// Bytes of the whole vector; with `MPI_Alltoall` of the block for one peer.
    pub bytes: usize,
    /// Whether the operator commutes; true where there is none.
    pub commutative: bool,
    /// Whether `MPI_IN_PLACE` stands for the send buffer.
    pub in_place: bool,
    /// Whether its result must be reproducible.
    pub reproducible: bool,
}

impl Call {
    /// Whether an algorithm can serve it.
    pub fn is_served_by(&self, algorithm: &Algorithm) -> Result<(), Reason> {
        algorithm.serves(self.size, self.remote, self.commutative)?;
        match self.reproducible && !algorithm.is_reproducible() {
            true => Err(Reason::Irreproducible),
            false => Ok(()),
        }
    }
}

/// Who serves a call, and how.
#[derive(Clone, Copy, Debug)]
pub enum Choice {
    /// Whoever would have served it if this library were not there.
    Below,
    /// A registered algorithm.
    Use {
        /// The algorithm.
        algorithm: &'static Algorithm,
        /// Its radix, if it is not the default.
        radix: Option<usize>,
        /// Bytes of a segment, if the vector is to be pipelined.
        segment: Option<usize>,
    },
}

/// The rules of all collectives.
#[derive(Clone, Debug)]
pub struct Rules(BTreeMap<Collective, Vec<Rule>>);

impl Rules {
    /// The rules that hold unless the user gives others.
    pub fn built_in() -> &'static Rules {
        static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| {
            Rules::parse(include_str!("../../selection-rules/default.toml")).expect("tested with the library")
        });
        &BUILT_IN
    }

    /// Reads a rule file.
    pub fn parse(text: &str) -> Result<Rules, RuleError> {
        file::read(text)
    }

    /// The choice of the first rule that matches, else [`Choice::Below`].
    pub fn choose(&self, call: &Call) -> Choice {
        let mut rules = self.0.get(&call.collective).into_iter().flatten();
        rules.find(|rule| rule.matches(call)).map_or(Choice::Below, |rule| rule.choice)
    }
}

#[derive(Clone, Debug)]
struct Rule {
    ranks: RangeInclusive<usize>,
    bytes: RangeInclusive<usize>,
    power_of_two: Option<bool>,
    commutative: Option<bool>,
    choice: Choice,
}

impl Rule {
    fn matches(&self, call: &Call) -> bool {
        self.ranks.contains(&call.size)
            && self.bytes.contains(&call.bytes)
            && self.power_of_two.is_none_or(|wanted| wanted == call.size.is_power_of_two())
            && self.commutative.is_none_or(|wanted| wanted == call.commutative)
            && self.choice.serves(call)
    }
}

impl Choice {
    fn serves(&self, call: &Call) -> bool {
        match self {
            // Nothing is known of results from there.
            Choice::Below => !call.reproducible,
            Choice::Use { algorithm, .. } => call.is_served_by(algorithm).is_ok(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective::*;
    use crate::algorithms::Cut;

    const KIB: usize = 1 << 10;

    fn call(collective: Collective, size: usize, bytes: usize) -> Call {
        let (remote, commutative, in_place, reproducible) = (0, true, false, false);
        Call { collective, size, remote, bytes, commutative, in_place, reproducible }
    }

    fn chosen(rules: &Rules, call: Call) -> &'static str {
        match rules.choose(&call) {
            Choice::Below => "below",
            Choice::Use { algorithm, .. } => algorithm.name,
        }
    }

    #[test]
    fn no_rule_means_below() {
        let rules = Rules::parse("").unwrap();
        assert_eq!(chosen(&rules, call(Bcast, 4, 0)), "below");
    }

    #[test]
    fn the_first_matching_rule_decides() {
        let rules = Rules::parse(
            "[[bcast]]\nranks = 4\nalgorithm = \"below\"\n\
             [[bcast]]\nranks = \"2..8\"\nbytes = \"1KiB..2KiB\"\nalgorithm = \"scatter_ring_allgather\"\n\
             [[bcast]]\npower_of_two = false\nalgorithm = \"binomial\"\n",
        )
        .unwrap();
        for ((size, bytes), expected) in [
            ((4, KIB), "below"),
            ((2, KIB), "scatter_ring_allgather"),
            ((8, 2 * KIB), "scatter_ring_allgather"),
            ((8, 2 * KIB + 1), "below"),
            ((7, KIB - 1), "binomial"),
            ((9, KIB), "binomial"),
            ((16, KIB), "below"),
        ] {
            assert_eq!(chosen(&rules, call(Bcast, size, bytes)), expected, "p = {size}, {bytes} bytes");
        }
        assert_eq!(chosen(&rules, call(Alltoall, 2, KIB)), "below");
    }

    #[test]
    fn an_algorithm_that_cannot_serve_is_passed_over() {
        let rules = Rules::parse(
            "[[allreduce]]\nalgorithm = \"ring\"\n\
             [[allreduce]]\ncommutative = false\nalgorithm = \"rabenseifner\"\n",
        )
        .unwrap();
        let commuting = call(Allreduce, 4, 8);
        assert_eq!(chosen(&rules, commuting), "ring");
        assert_eq!(chosen(&rules, Call { commutative: false, ..commuting }), "rabenseifner");
    }

    #[test]
    fn what_is_not_reproducible_is_passed_over() {
        let rules = Rules::parse(
            "[[allreduce]]\nalgorithm = \"below\"\n\
             [[allreduce]]\nalgorithm = \"ring\"\n\
             [[allreduce]]\nalgorithm = \"rabenseifner\"\n",
        )
        .unwrap();
        let call = call(Allreduce, 4, 8);
        assert_eq!(chosen(&rules, call), "below");
        assert_eq!(chosen(&rules, Call { reproducible: true, ..call }), "rabenseifner");
    }

    #[test]
    fn parameters_are_part_of_the_choice() {
        let rules = Rules::parse(
            "[[alltoall]]\nalgorithm = \"bruck\"\nradix = 4\n\
             [[bcast]]\nalgorithm = \"binomial\"\nsegment = \"64KiB\"\n",
        )
        .unwrap();
        assert!(matches!(
            rules.choose(&call(Alltoall, 4, 1)),
            Choice::Use { radix: Some(4), segment: None, .. }
        ));
        let piped = 64 * KIB;
        assert!(matches!(
            rules.choose(&call(Bcast, 4, 1)),
            Choice::Use { radix: None, segment: Some(bytes), .. } if bytes == piped
        ));
    }

    #[test]
    fn the_built_in_rules_name_known_algorithms_and_serve_every_call() {
        // Reading them looks every algorithm up.
        let rules = Rules::built_in();
        for collective in Collective::ALL {
            for size in 1..70 {
                for bytes in [0, 1, 257, 3 * KIB, 20 * KIB, 300 * KIB, 1 << 30, usize::MAX] {
                    for (commutative, reproducible) in
                        [(true, false), (false, false), (true, true), (false, true)]
                    {
                        let call = Call { commutative, reproducible, ..call(collective, size, bytes) };
                        assert_ne!(chosen(rules, call), "below", "{call:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_built_in_rules_serve_every_call_on_two_groups() {
        let is_between = |one: &Collective| ![Exscan, Scan].contains(one) && one.cut() != Cut::Edges;
        for collective in Collective::ALL.into_iter().filter(is_between) {
            for (size, remote) in [(2, 1), (8, 3), (70, 69)] {
                for commutative in [true, false] {
                    let call = Call { remote, commutative, ..call(collective, size, 300 * KIB) };
                    let chosen = chosen(Rules::built_in(), call);
                    assert!(chosen.starts_with("inter_"), "{call:?}: {chosen}");
                }
            }
        }
    }

    #[test]
    fn a_rule_without_conditions_is_not_for_two_groups_if_its_algorithm_is_not() {
        let rules = Rules::parse("[[bcast]]\nalgorithm = \"binomial\"\n").unwrap();
        assert_eq!(chosen(&rules, call(Bcast, 8, 1)), "binomial");
        assert_eq!(chosen(&rules, Call { remote: 3, ..call(Bcast, 8, 1) }), "below");
    }

    #[test]
    fn built_in_decisions_for_allreduce() {
        for ((size, bytes), expected) in [
            ((48, 2 * KIB), "recursive_doubling"),
            ((2, 256 * KIB), "recursive_doubling"),
            ((2, 256 * KIB + 1), "rabenseifner"),
            ((64, 2 * KIB + 1), "rabenseifner"),
            ((48, 16 * KIB - 1), "rabenseifner"),
            ((33, 16 * KIB), "binary_blocks"),
            ((31, 16 * KIB), "rabenseifner"),
            ((31, 256 * KIB), "ring"),
        ] {
            let call = call(Allreduce, size, bytes);
            assert_eq!(chosen(Rules::built_in(), call), expected, "p = {size}, {bytes} bytes");
            let expected = if bytes <= 2 * KIB { "recursive_doubling" } else { "rabenseifner" };
            let ordered = Call { commutative: false, ..call };
            assert_eq!(chosen(Rules::built_in(), ordered), expected, "p = {size}, {bytes} bytes");
        }
    }

    #[test]
    fn built_in_decisions_for_alltoall_and_bcast() {
        for ((collective, size, bytes), expected) in [
            ((Alltoall, 8, 256), "bruck_modified"),
            ((Alltoall, 7, 256), "spread_out"),
            ((Alltoall, 8, 257), "spread_out"),
            ((Alltoall, 8, 32 * KIB), "spread_out"),
            ((Alltoall, 8, 32 * KIB + 1), "pairwise"),
            ((Bcast, 100, 12 * KIB), "binomial"),
            ((Bcast, 7, 512 * KIB), "binomial"),
            ((Bcast, 7, 512 * KIB + 1), "scatter_ring_allgather_opt"),
            ((Bcast, 8, 512 * KIB), "scatter_recursive_doubling_allgather"),
            ((Bcast, 8, 512 * KIB + 1), "scatter_ring_allgather_opt"),
            ((Bcast, 9, 13 * KIB), "scatter_ring_allgather_opt"),
        ] {
            let call = call(collective, size, bytes);
            assert_eq!(chosen(Rules::built_in(), call), expected, "p = {size}, {bytes} bytes");
        }
    }
}
