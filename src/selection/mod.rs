//! Which algorithm serves a call: an ordered list of rules per collective, of which the first that matches decides.
//!
//! A file ([`Rules::parse`]) and a line ([`Rules::parse_line`]) are read into the same entries, which become rules by one
//! set of checks. `docs/rules.md` describes both for users.

#![forbid(unsafe_code)]

mod condition;
mod decisions;
mod domain;
mod entry;
mod explain;
mod expression;
mod file;
mod foreign;
mod line;
mod load;
mod measure;
mod ranges;
mod reading;
#[cfg(test)]
mod samples;
mod table;
mod writing;

pub use crate::text::{
    LONGEST_TEXT, Note, Origin, TextError as RuleError, TextErrors as RuleErrors, file_content, nearest,
    quantity,
};
pub use decisions::{Decision, Difference, Piece};
pub use explain::{Explanation, Verdict};
pub use measure::Measure;
pub use reading::{algorithm_names, keys};
pub use table::Table;
pub use writing::Conversion;

use crate::algorithms::{Algorithm, Collective, Parameter, Reason};
use crate::text::content::{check_length, refusal, text};
use crate::text::error::{self, Fault, Source};
use condition::Condition;
use entry::Written;
pub use foreign::Format;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::LazyLock;

/// By this name origins tell of the rules that are compiled in.
pub const BUILT_IN_NAME: &str = "the built-in rules";

/// What is known of a call when its algorithm is chosen; the same on all ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The collective.
    pub collective: Collective,
    /// Number of ranks, of both groups together if there are two.
    pub size: usize,
    /// Number of ranks in the other group of an inter-communicator, which is the same for each rank of a group; else 0.
    pub remote: usize,
    /// Bytes, by the collective's [`Measure`]; 0 where there is none.
    pub bytes: usize,
    /// The root, where there is one; of two groups each numbers it otherwise, so it is not known there.
    pub root: Option<usize>,
    /// Whether the operator commutes; true where there is none.
    pub commutative: bool,
    /// Whether the operator is one of MPI's own, if that is known.
    pub predefined: Option<bool>,
    /// Whether `MPI_IN_PLACE` stands for the send buffer, on all ranks.
    pub in_place: bool,
    /// Whether its result must be reproducible.
    pub reproducible: bool,
    /// Number of nodes on which there are ranks, if that is known.
    pub nodes: Option<usize>,
    /// The most ranks on one node, if that is known.
    pub ranks_per_node: Option<usize>,
}

impl Call {
    /// A call in one group with a commutative operator, not in place, of which nothing else is known.
    pub fn new(collective: Collective, size: usize, bytes: usize) -> Call {
        Call {
            collective,
            size,
            remote: 0,
            bytes,
            root: None,
            commutative: true,
            predefined: None,
            in_place: false,
            reproducible: false,
            nodes: None,
            ranks_per_node: None,
        }
    }

    /// Number of groups, 1 or 2.
    pub fn groups(&self) -> usize {
        if self.remote > 0 { 2 } else { 1 }
    }

    /// Whether all ranks know the bytes.
    pub fn is_measured(&self) -> bool {
        Measure::of(self.collective) != Measure::Nothing
            && (self.remote == 0 || Measure::between_groups(self.collective) != Measure::Nothing)
    }

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
        /// Its parameters.
        parameters: Parameters,
    },
}

impl PartialEq for Choice {
    fn eq(&self, other: &Choice) -> bool {
        match (self, other) {
            (Choice::Below, Choice::Below) => true,
            (Choice::Use { algorithm, parameters }, Choice::Use { algorithm: other, parameters: others }) => {
                ptr::eq(*algorithm, *other) && parameters == others
            }
            _ => false,
        }
    }
}

/// The parameters that a rule sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Parameters([Option<usize>; Parameter::ALL.len()]);

impl Parameters {
    /// One of them, if it is not left at its default; a segment is in bytes.
    pub fn get(&self, parameter: Parameter) -> Option<usize> {
        self.0[parameter as usize]
    }

    /// These, and where they are left at their defaults the others.
    pub fn or(mut self, others: Parameters) -> Parameters {
        for parameter in Parameter::ALL {
            self.set(parameter, self.get(parameter).or(others.get(parameter)));
        }
        self
    }

    /// Sets one of them, or leaves it at its default.
    pub fn set(&mut self, parameter: Parameter, value: Option<usize>) {
        self.0[parameter as usize] = value;
    }
}

/// The rules of all collectives.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    lists: BTreeMap<Collective, Vec<Rule>>,
    priority: Option<i32>,
    notes: Vec<Note>,
}

impl Rules {
    /// The rules that hold unless the user gives others.
    pub fn built_in() -> &'static Rules {
        static BUILT_IN: LazyLock<Rules> = LazyLock::new(|| {
            let text = include_str!("../../selection-rules/default.toml");
            Rules::parse(BUILT_IN_NAME, text).expect("tested with the library")
        });
        &BUILT_IN
    }

    /// Reads the content of a rule file; its name is for messages. Fails if it is no text, and as [`Rules::parse`] does.
    pub fn read(name: &str, content: &[u8]) -> Result<Rules, RuleErrors> {
        Rules::parse(name, text(name, content)?)
    }

    /// Reads the text of a rule file. Fails if it is longer than [`LONGEST_TEXT`] or holds no rules, and with every fault
    /// that a rule has.
    pub fn parse(name: &str, text: &str) -> Result<Rules, RuleErrors> {
        Rules::of_entries(name, text, |text, faults| Format::of(text).read(text, faults))
    }

    /// Reads the rules of one collective from a line; its name is for messages. Fails as [`Rules::parse`] does.
    pub fn parse_line(name: &str, collective: Collective, line: &str) -> Result<Rules, RuleErrors> {
        Rules::of_entries(name, line, |line, faults| Written {
            lists: vec![(collective, line::read(line, faults))],
            ..Written::default()
        })
    }

    fn of_entries(
        name: &str,
        text: &str,
        read: impl Fn(&str, &mut Vec<Fault>) -> Written,
    ) -> Result<Rules, RuleErrors> {
        check_length(name, text)?;
        let source = Source::new(name, text);
        let mut faults = Vec::new();
        let Written { priority, lists, mut notes } = read(text, &mut faults);
        let is_empty =
            priority.is_none() && notes.is_empty() && lists.iter().all(|(_, entries)| entries.is_empty());
        if faults.is_empty() && is_empty {
            return Err(refusal(name, "there are no rules".into()));
        }
        let rules = lists.iter().map(|(collective, entries)| {
            (*collective, reading::rules(*collective, entries, &source, &mut faults, &mut notes))
        });
        let lists = rules.collect();
        let rules = Rules { lists, priority, notes: source.notes(notes) };
        if faults.is_empty() { Ok(rules) } else { Err(source.errors(faults)) }
    }

    /// These rules, and for calls that none of them matches the others. What else the others say holds where these do not.
    pub fn followed_by(mut self, others: &Rules) -> Rules {
        for (&collective, list) in &others.lists {
            self.lists.entry(collective).or_default().extend_from_slice(list);
        }
        self.priority = self.priority.or(others.priority);
        self.notes.extend_from_slice(&others.notes);
        self
    }

    /// The priority that a file asks for the component, from 0 to 100.
    pub fn priority(&self) -> Option<i32> {
        self.priority
    }

    /// What could not be taken over from a file of another library as it stands there, in the order of the text.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The rules of a collective, the first first.
    pub fn of(&self, collective: Collective) -> &[Rule] {
        self.lists.get(&collective).map_or(&[], Vec::as_slice)
    }

    /// The choice of the first rule that matches, else [`Choice::Below`].
    pub fn choose(&self, call: &Call) -> Choice {
        let deciding = self.of(call.collective).iter().find(|rule| rule.matches(call));
        deciding.map_or(Choice::Below, |rule| rule.choice)
    }
}

/// A rule of a collective.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Where it stands.
    pub origin: Origin,
    /// What it chooses.
    pub choice: Choice,
    conditions: Vec<Condition>,
}

impl Rule {
    fn matches(&self, call: &Call) -> bool {
        self.conditions.iter().all(|condition| condition.is_met(call)) && self.choice.serves(call).is_ok()
    }

    /// Whether it has no expression among its conditions.
    fn is_box(&self) -> bool {
        !self.conditions.iter().any(|condition| matches!(condition, Condition::When(_)))
    }
}

impl Choice {
    /// The algorithm, if it is not left to whoever is below.
    pub fn algorithm(&self) -> Option<&'static Algorithm> {
        match self {
            Choice::Below => None,
            Choice::Use { algorithm, .. } => Some(algorithm),
        }
    }

    /// Its parameters; none are set for whoever is below.
    pub fn parameters(&self) -> Parameters {
        match self {
            Choice::Below => Parameters::default(),
            Choice::Use { parameters, .. } => *parameters,
        }
    }

    fn serves(&self, call: &Call) -> Result<(), Reason> {
        match self {
            // Nothing is known of results from there.
            Choice::Below if call.reproducible => Err(Reason::Irreproducible),
            Choice::Below => Ok(()),
            Choice::Use { algorithm, .. } => call.is_served_by(algorithm),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithms::Collective::*;
    use crate::algorithms::Cut;
    use crate::random::{Random, mutate};

    const KIB: usize = 1 << 10;

    fn call(collective: Collective, size: usize, bytes: usize) -> Call {
        Call::new(collective, size, bytes)
    }

    fn parse(text: &str) -> Rules {
        Rules::parse("test", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn chosen(rules: &Rules, call: Call) -> &'static str {
        match rules.choose(&call) {
            Choice::Below => "below",
            Choice::Use { algorithm, .. } => algorithm.name,
        }
    }

    #[test]
    fn no_rule_means_below() {
        let rules = Rules::default();
        assert_eq!(chosen(&rules, call(Bcast, 4, 0)), "below");
    }

    #[test]
    fn the_first_matching_rule_decides() {
        let rules = parse(
            "[[bcast]]\nranks = 4\nalgorithm = \"below\"\n\
             [[bcast]]\nranks = \"2..8\"\nbytes = \"1KiB..2KiB\"\nalgorithm = \"scatter_ring_allgather\"\n\
             [[bcast]]\npower_of_two = false\nalgorithm = \"binomial\"\n",
        );
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
    fn others_decide_where_no_rule_matches() {
        let own = parse("priority = 7\n[[bcast]]\nranks = 4\nalgorithm = \"chain\"\n");
        let others =
            parse("priority = 9\n[[bcast]]\nalgorithm = \"binary\"\n[[scan]]\nalgorithm = \"linear\"\n");
        let both = own.followed_by(&others);
        assert_eq!(chosen(&both, call(Bcast, 4, 0)), "chain");
        assert_eq!(chosen(&both, call(Bcast, 5, 0)), "binary");
        assert_eq!(chosen(&both, call(Scan, 5, 0)), "linear");
        assert_eq!(both.priority(), Some(7));
        assert_eq!(Rules::default().followed_by(&others).priority(), Some(9));
    }

    #[test]
    fn an_algorithm_that_cannot_serve_is_passed_over() {
        let rules = parse(
            "[[allreduce]]\nalgorithm = \"ring\"\n\
             [[allreduce]]\ncommutative = false\nalgorithm = \"rabenseifner\"\n",
        );
        let commuting = call(Allreduce, 4, 8);
        assert_eq!(chosen(&rules, commuting), "ring");
        assert_eq!(chosen(&rules, Call { commutative: false, ..commuting }), "rabenseifner");
    }

    #[test]
    fn what_is_not_reproducible_is_passed_over() {
        let rules = parse(
            "[[allreduce]]\nbytes = 8\nalgorithm = \"below\"\n\
             [[allreduce]]\nalgorithm = \"ring\"\n\
             [[allreduce]]\nalgorithm = \"rabenseifner\"\n",
        );
        let call = call(Allreduce, 4, 8);
        assert_eq!(chosen(&rules, call), "below");
        assert_eq!(chosen(&rules, Call { reproducible: true, ..call }), "rabenseifner");
    }

    #[test]
    fn a_file_may_have_a_priority() {
        let rule = "[[bcast]]\nalgorithm = \"linear\"\n";
        assert_eq!(parse(rule).priority(), None);
        assert_eq!(parse(&format!("priority = 70\n{rule}")).priority(), Some(70));
        assert_eq!(parse("priority = 0").priority(), Some(0));
        for (value, expected) in [
            ("101", "expected a number from 0 to 100, found `101`"),
            ("-1", "expected a number from 0 to 100, found `-1`"),
            ("99999999999999999999", "expected a number from 0 to 100, found `99999999999999999999`"),
            ("[70]", "expected a number, a text, true or false"),
        ] {
            let errors = Rules::parse("file", &format!("priority = {value}\n{rule}")).unwrap_err();
            assert_eq!(errors.to_string(), format!("file:1:12: {expected}"));
        }
        let errors = Rules::parse("file", "prioritY = 1").unwrap_err();
        assert_eq!(
            errors.to_string(),
            "file:1:1: unknown collective `prioritY`; the nearest known one is `priority`"
        );
    }

    #[test]
    fn parameters_are_part_of_the_choice() {
        let rules = parse(
            "[[alltoall]]\nalgorithm = \"bruck\"\nradix = 4\n\
             [[bcast]]\nalgorithm = \"binomial\"\nsegment = \"64KiB\"\n",
        );
        let parameters = |call: Call| match rules.choose(&call) {
            Choice::Below => Parameters::default(),
            Choice::Use { parameters, .. } => parameters,
        };
        let bruck = parameters(call(Alltoall, 4, 1));
        assert_eq!((bruck.get(Parameter::Radix), bruck.get(Parameter::Segment)), (Some(4), None));
        let binomial = parameters(call(Bcast, 4, 1));
        assert_eq!(
            (binomial.get(Parameter::Radix), binomial.get(Parameter::Segment)),
            (None, Some(64 * KIB))
        );
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
        let rules = parse("[[bcast]]\nalgorithm = \"binomial\"\n");
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

    #[test]
    fn mutated_texts_are_refused_or_read_but_never_panic() {
        let mut random = Random(0x5eed);
        let file = include_str!("../../selection-rules/t3e-atlas.toml");
        let line = "ranks=4,33.. bytes=16K..1MiB commutative in_place=false when='not log2(bytes)/2 - 2.5 <= max(3, \
                    sqrt(ranks))' -> binary_blocks; ranks=..8 -> recursive_multiplying radix=4";
        let alphabet = b"0123456789KB.,;<>=\"'()[]#-+*/ \n\\";
        let mut seen = [0; 2];
        for round in 0..4000 {
            let is_file = round % 2 == 0;
            let mut text = if is_file { file.as_bytes().to_vec() } else { line.as_bytes().to_vec() };
            for _ in 0..1 + random.below(4) {
                mutate(&mut text, alphabet, &mut random);
            }
            let read = match is_file {
                true => Rules::read("file", &text),
                false => Rules::parse_line("line", Allreduce, &String::from_utf8_lossy(&text)),
            };
            seen[usize::from(read.is_ok())] += 1;
            for RuleError { origin, .. } in read.err().into_iter().flat_map(|errors| errors.0) {
                assert!(origin.line > 0 && origin.column > 0);
            }
        }
        assert!(seen.iter().all(|&times| times > 500), "{seen:?} refused and read");
    }

    /// Each would take minutes or the whole stack, were it read carelessly.
    #[test]
    fn long_texts_are_refused_in_time() {
        let filled = |start: &str, piece: &str| {
            start.to_owned() + &piece.repeat((LONGEST_TEXT - start.len()) / piece.len())
        };
        for text in [
            filled("bcast = ", "["),
            filled("[[bcast]]\nranks = [1", ", 'x'") + "]",
            filled("", "[[bcast]]\nx=1\n"),
            filled("[[bcast]]\n", "x"),
            filled("[[bcast]]\nwhen = '", "("),
        ] {
            assert!(Rules::parse("file", &text).is_err());
        }
        for line in [filled("", "x;"), filled("ranks=", "1,"), filled("", "->"), filled("-> ring x=", "'")] {
            assert!(Rules::parse_line("line", Allreduce, &line).is_err());
        }
    }
}
