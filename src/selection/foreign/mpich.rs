//! The selection files of MPICH, in JSON: a tree whose keys are questions. Of the keys side by side the first that a call
//! answers with yes counts, and no other; the leaves are algorithms.
//!
//! ```json
//! { "collective=alltoall": { "comm_size<8": { "algorithm=MPIR_Alltoall_intra_scattered": {} },
//!                            "comm_size=any": { "algorithm=MPIR_Alltoall_intra_k_brucks": { "k=4": {} } } } }
//! ```

use super::super::error::shortened;
use super::super::nearest::unknown;
use super::super::quantity::number;
use super::super::reading::MOST_RULES;
use super::json::{as_object, key_place, object, place, properties};
use super::{Conditions, Fault, Lists, Standing, Written, collective_named};
use crate::algorithms::Collective;
use jsonc_parser::ast::{Object, ObjectProp};
use std::collections::HashSet;
use std::ops::Range;

/// Questions are nested so deep at most.
const DEEPEST: usize = 10;

/// By name, without the collective, algorithms of MPICH, and rules in a line that do the same; empty, if there are none.
/// `radix` and `segment` without a value are given the algorithm's `k` and `chunk_size`.
pub const ALGORITHMS: [(Collective, &[(&str, &str)]); 22] = [
    (
        Collective::Allgather,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_k_brucks", "-> bruck radix"),
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_ring", "-> ring"),
            ("intra_circ_graph", "-> circulant"),
            ("intra_recexch_doubling", ""),
            ("intra_recexch_halving", ""),
            ("inter_local_gather_remote_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Allgatherv,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_ring", "-> ring"),
            ("inter_remote_gather_local_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Allreduce,
        &[
            ("intra_recursive_doubling", "-> recursive_doubling"),
            ("intra_recursive_multiplying", "-> recursive_multiplying radix"),
            ("intra_reduce_scatter_allgather", "-> rabenseifner"),
            ("intra_ring", "-> ring"),
            ("intra_smp", ""),
            ("intra_tree", ""),
            ("intra_recexch", ""),
            ("intra_k_reduce_scatter_allgather", ""),
            ("intra_ccl", ""),
            ("inter_reduce_exchange_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Alltoall,
        &[
            ("intra_brucks", "-> bruck radix=2"),
            ("intra_k_brucks", "-> bruck radix"),
            ("intra_pairwise", "-> pairwise"),
            ("intra_pairwise_sendrecv_replace", "-> pairwise"),
            ("intra_scattered", "-> spread_out"),
            ("inter_pairwise_exchange", ""),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Alltoallv, UNEVEN_ALLTOALL),
    (Collective::Alltoallw, UNEVEN_ALLTOALL),
    (
        Collective::Barrier,
        &[
            ("intra_k_dissemination", "-> dissemination"),
            ("intra_recexch", ""),
            ("intra_smp", ""),
            ("inter_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (
        Collective::Bcast,
        &[
            ("intra_binomial", "-> binomial"),
            ("intra_scatter_recursive_doubling_allgather", "-> scatter_recursive_doubling_allgather"),
            ("intra_scatter_ring_allgather", "-> scatter_ring_allgather"),
            ("intra_circ_graph", "-> circulant_pipelined segment"),
            ("intra_smp", "-> node_aware"),
            ("intra_tree", "-> knomial radix"),
            ("intra_pipelined_tree", ""),
            ("inter_remote_send_local_bcast", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Exscan, &[("intra_recursive_doubling", "-> recursive_doubling"), ("allcomm_nb", "")]),
    (
        Collective::Gather,
        &[
            ("intra_binomial", "-> binomial"),
            ("inter_linear", ""),
            ("inter_local_gather_remote_send", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Gatherv, &[("allcomm_linear", "-> linear; -> inter_linear"), ("allcomm_nb", "")]),
    (Collective::NeighborAllgather, NEIGHBOURS),
    (Collective::NeighborAllgatherv, NEIGHBOURS),
    (Collective::NeighborAlltoall, NEIGHBOURS),
    (Collective::NeighborAlltoallv, NEIGHBOURS),
    (Collective::NeighborAlltoallw, NEIGHBOURS),
    (
        Collective::Reduce,
        &[
            ("intra_binomial", "-> binomial; -> binomial_in_order"),
            ("intra_reduce_scatter_gather", "-> rabenseifner"),
            ("intra_circ_graph", "-> circulant_pipelined segment"),
            ("intra_smp", ""),
            ("inter_local_reduce_remote_send", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::ReduceScatter, REDUCE_SCATTER),
    (Collective::ReduceScatterBlock, REDUCE_SCATTER),
    (
        Collective::Scan,
        &[("intra_recursive_doubling", "-> recursive_doubling"), ("intra_smp", ""), ("allcomm_nb", "")],
    ),
    (
        Collective::Scatter,
        &[
            ("intra_binomial", "-> binomial"),
            ("inter_linear", ""),
            ("inter_remote_send_local_scatter", "-> inter_leaders"),
            ("allcomm_nb", ""),
        ],
    ),
    (Collective::Scatterv, &[("allcomm_linear", "-> linear; -> inter_linear"), ("allcomm_nb", "")]),
];

const UNEVEN_ALLTOALL: &[(&str, &str)] = &[
    ("intra_scattered", "-> spread_out"),
    ("intra_pairwise_sendrecv_replace", "-> pairwise"),
    ("inter_pairwise_exchange", ""),
    ("allcomm_nb", ""),
];

const REDUCE_SCATTER: &[(&str, &str)] = &[
    ("intra_noncommutative", ""),
    ("intra_pairwise", "-> pairwise"),
    ("intra_recursive_doubling", "-> recursive_doubling"),
    ("intra_recursive_halving", "-> recursive_halving"),
    ("inter_remote_reduce_local_scatter", "-> inter_leaders"),
    ("allcomm_nb", ""),
];

const NEIGHBOURS: &[(&str, &str)] = &[("allcomm_nb", "-> linear")];

/// What questions are about.
const SUBJECTS: [&str; 15] = [
    "collective",
    "comm_type",
    "comm_size",
    "comm_hierarchy",
    "comm_avg_ppn",
    "avg_msg_size",
    "total_msg_size",
    "count",
    "is_commutative",
    "is_op_built_in",
    "is_sendbuf_inplace",
    "is_block_regular",
    "is_node_consecutive",
    "is_multi_threaded",
    "any",
];

/// Reads a file; what cannot be read is left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut reader = Reader { faults, notes: Vec::new(), lists: Lists::default() };
    if let Some(tree) = object(text, reader.faults) {
        reader.node(&tree, &Node::default());
    }
    Written { priority: None, lists: reader.lists.0, notes: reader.notes }
}

struct Reader<'reader> {
    faults: &'reader mut Vec<Fault>,
    notes: Vec<Fault>,
    lists: Lists,
}

/// What is known of the calls that come to a place of the tree.
#[derive(Clone, Default)]
struct Node {
    collective: Option<Collective>,
    conditions: Conditions,
    depth: usize,
}

/// What becomes of a question.
enum Answer {
    /// These calls say yes.
    Some(Node),
    /// All calls do.
    All,
    /// Our rules cannot ask; no call does.
    Unknown(&'static str),
    /// It is none, which has been reported, or it is about something that there is not here.
    Left,
}

impl Reader<'_> {
    fn fault(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault { place, message: message.into() });
    }

    fn note(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.notes.push(Fault { place, message: message.into() });
    }

    /// Reads what stands side by side. What no key takes is left to the component below.
    fn node(&mut self, tree: &Object, node: &Node) {
        if node.depth > DEEPEST {
            return self.fault(place(tree), format!("this is nested deeper than {DEEPEST} questions"));
        }
        let keys: Vec<(String, &ObjectProp)> = properties(tree, self.faults)
            .map(|(key, property)| (key.split_whitespace().collect(), property))
            .collect();
        let leaf =
            keys.iter().find(|(key, _)| key.starts_with("algorithm=") || key.starts_with("composition="));
        if let Some((key, property)) = leaf {
            if keys.len() > 1 {
                self.fault(place(tree), "an algorithm stands alone, for MPICH asks no question beside it");
            }
            return self.leaf(key, property, node);
        }
        let mut asked: HashSet<&str> = HashSet::new();
        let mut is_exhausted = false;
        for (key, property) in &keys {
            let subject = key.split(['=', '<']).next().unwrap_or_default();
            // What says yes to the second of two opposites has said no to the first.
            let is_opposite = key.ends_with("=no") && asked.contains(&format!("{subject}=yes")[..])
                || key.ends_with("=yes") && asked.contains(&format!("{subject}=no")[..]);
            let at = key_place(property);
            let answer = if is_opposite { Answer::All } else { self.answer(key, subject, &at, node) };
            asked.insert(key);
            let below = match answer {
                Answer::Some(below) => below,
                Answer::All => {
                    is_exhausted = true;
                    node.clone()
                }
                Answer::Unknown(reason) => {
                    self.note(at, format!("`{}` never holds here: {reason}", shortened(key)));
                    continue;
                }
                Answer::Left => continue,
            };
            if let Some(tree) = as_object(&property.value, self.faults) {
                self.node(tree, &Node { depth: node.depth + 1, ..below });
            }
        }
        if !is_exhausted {
            self.leave(&place(tree), node, Standing::Implied);
        }
    }

    /// Leaves calls to the component below.
    fn leave(&mut self, place: &Range<usize>, node: &Node, standing: Standing) {
        if let Some(collective) = node.collective {
            let entry = node.conditions.below(place, standing);
            self.add(collective, vec![entry]);
        }
    }

    fn add(&mut self, collective: Collective, entries: Vec<super::Entry>) {
        let list = self.lists.of(collective);
        // What is beyond is refused, and may be long.
        if list.len() <= MOST_RULES {
            list.extend(entries);
        }
    }

    fn answer(&mut self, key: &str, subject: &str, at: &Range<usize>, node: &Node) -> Answer {
        let question = &key[subject.len()..];
        let (is_strict, value) = match question {
            _ if let Some(value) = question.strip_prefix("<=") => (false, value),
            _ if let Some(value) = question.strip_prefix('<') => (true, value),
            _ => (false, question.strip_prefix('=').unwrap_or_default()),
        };
        let is_bound = question.starts_with('<');
        if (value == "any" && !is_bound && SUBJECTS.contains(&subject)) || key == "any" {
            return Answer::All;
        }
        let mut below = node.clone();
        let conditions = &mut below.conditions;
        match (subject, value) {
            ("collective", _) if !is_bound => return self.collective(value, at, below),
            ("comm_type", "intra") => conditions.add("groups", 1, at),
            ("comm_type", "inter") => conditions.add("groups", 2, at),
            ("comm_size", _) if node.is_between_groups() => {
                return Answer::Unknown("MPICH counts the ranks of the own group, rules here those of both");
            }
            ("comm_size", "pow2") => conditions.add("power_of_two", true, at),
            ("comm_size", "node_comm_size") => conditions.add("nodes", 1, at),
            ("comm_hierarchy", "parent") => {
                conditions.add("nodes", "2..", at);
                conditions.add("ranks_per_node", "2..", at);
            }
            ("comm_hierarchy", "node" | "node_roots" | "flat") => {
                conditions.add("when", "nodes == 1 or ranks_per_node == 1", at);
            }
            ("is_commutative", "yes" | "no") => conditions.add("commutative", value == "yes", at),
            ("is_op_built_in", "yes" | "no") => conditions.add("predefined", value == "yes", at),
            ("is_sendbuf_inplace", "yes" | "no") => conditions.add("in_place", value == "yes", at),
            ("is_block_regular", "yes" | "no") => return Answer::Unknown("rules do not ask for counts"),
            ("count", _) => return Answer::Unknown("rules do not ask for counts"),
            ("is_node_consecutive", "yes" | "no") => {
                return Answer::Unknown("rules do not ask for the order of ranks");
            }
            ("is_multi_threaded", "yes" | "no") => return Answer::Unknown("rules do not ask for threads"),
            ("comm_avg_ppn", _) if is_bound => {
                let Some(most) = self.bound(value, false, at) else { return Answer::Left };
                let sign = if is_strict { "<" } else { "<=" };
                conditions.add("when", format_args!("ranks {sign} {most} * nodes"), at);
            }
            ("comm_size" | "avg_msg_size" | "total_msg_size", _) if is_bound => {
                let Some(last) = self.bound(value, is_strict, at) else { return Answer::Left };
                return bounded(below, subject, last, at);
            }
            _ if SUBJECTS.contains(&subject) => {
                self.fault(at.clone(), format!("MPICH knows no such answer: `{}`", shortened(key)));
                return Answer::Left;
            }
            _ => {
                self.fault(at.clone(), unknown("question", subject, SUBJECTS));
                return Answer::Left;
            }
        }
        Answer::Some(below)
    }

    fn collective(&mut self, name: &str, at: &Range<usize>, node: Node) -> Answer {
        let of_blocking = name.strip_prefix('i').and_then(collective_named);
        if let Some(collective) = collective_named(name) {
            return Answer::Some(Node { collective: Some(collective), ..node });
        }
        match of_blocking {
            Some(collective) => {
                let message = format!(
                    "the rules of {} hold here for all its forms: these are left out",
                    collective.name()
                );
                self.note(at.clone(), message);
            }
            None => {
                self.fault(at.clone(), unknown("collective", name, Collective::ALL.map(Collective::name)))
            }
        }
        Answer::Left
    }

    /// The last number that a bound lets through.
    fn bound(&mut self, value: &str, is_strict: bool, at: &Range<usize>) -> Option<usize> {
        match number(value) {
            Ok(0) if is_strict => {
                self.fault(at.clone(), "nothing is less than 0");
                None
            }
            Ok(value) => Some(value - usize::from(is_strict)),
            Err(message) => {
                self.fault(at.clone(), message);
                None
            }
        }
    }

    fn leaf(&mut self, key: &str, property: &ObjectProp, node: &Node) {
        let at = key_place(property);
        let Some(collective) = node.collective else {
            return self.fault(at, "no collective is named above");
        };
        let (kind, name) = key.split_once('=').unwrap_or_default();
        if kind == "composition" {
            self.note(at.clone(), format!("there is no `{}` here: these calls go below", shortened(name)));
            return self.leave(&at, node, Standing::Translated);
        }
        let prefix = prefix(collective);
        let known =
            ALGORITHMS.iter().find(|(known, _)| *known == collective).map_or(&[][..], |(_, known)| known);
        let Some((_, ours)) = known.iter().find(|(known, _)| name.strip_prefix(&prefix[..]) == Some(known))
        else {
            if name.starts_with("MPIDI_") {
                self.note(
                    at.clone(),
                    format!("there is no `{}` here: these calls go below", shortened(name)),
                );
                return self.leave(&at, node, Standing::Translated);
            }
            let names: Vec<_> = known.iter().map(|(known, _)| format!("{prefix}{known}")).collect();
            let what = format!("{} algorithm of MPICH", collective.name());
            return self.fault(at, unknown(&what, name, names.iter().map(String::as_str)));
        };
        let options = self.options(property, ours);
        if ours.is_empty() || options.is_none() {
            self.note(at.clone(), format!("there is no `{name}` of this kind here: these calls go below"));
            return self.leave(&at, node, Standing::Translated);
        }
        let (radix, segment) = options.unwrap_or_default();
        let ours = ours
            .replace(" radix=2", "\0")
            .replace(" radix", &format!(" radix={}", radix.unwrap_or(2)))
            .replace('\0', " radix=2");
        let segment = segment.map_or(String::new(), |segment| format!(" segment={segment}"));
        let ours = ours.replace(" segment", &segment);
        let entries = node.conditions.lead_to(&ours, &at, &at);
        self.add(collective, entries);
    }

    /// The radix and the segment; None if they are such that nothing here does the same.
    fn options(&mut self, property: &ObjectProp, ours: &str) -> Option<(Option<usize>, Option<usize>)> {
        let tree = as_object(&property.value, self.faults)?;
        let (mut radix, mut segment, mut is_served) = (None, None, true);
        for (key, property) in properties(tree, self.faults).collect::<Vec<_>>() {
            let at = key_place(property);
            let key: String = key.split_whitespace().collect();
            match key.split_once('=') {
                Some(("k", value)) if ours.ends_with(" radix") || value == "2" => {
                    radix = self.bound(value, false, &at).map(|radix| radix.max(2));
                }
                Some(("k", _)) => is_served = false,
                Some(("tree_type", kind)) => is_served &= kind.starts_with("knomial"),
                Some(("chunk_size", value)) if ours.ends_with(" segment") => {
                    segment = self.bound(value, false, &at).filter(|&segment| segment > 0);
                }
                _ => self.note(at, format!("`{}` has no counterpart here and is left out", shortened(&key))),
            }
        }
        is_served.then_some((radix, segment))
    }
}

impl Node {
    fn is_between_groups(&self) -> bool {
        self.conditions.0.iter().any(|item| item.key.text == "groups" && item.values[0].text == "2")
    }
}

/// What an upper bound asks for.
fn bounded(mut node: Node, subject: &str, last: usize, at: &Range<usize>) -> Answer {
    let Some(collective) = node.collective else {
        return match subject {
            "comm_size" => {
                node.conditions.add_range("ranks", 0..=last, at);
                Answer::Some(node)
            }
            _ => Answer::Unknown("no collective is named above"),
        };
    };
    let is_of = |known: &[Collective]| known.contains(&collective);
    let is_vector =
        is_of(&[Collective::Allreduce, Collective::Bcast, Collective::Reduce, Collective::Alltoall]);
    match subject {
        "comm_size" => node.conditions.add_range("ranks", 0..=last, at),
        "avg_msg_size" if is_vector => node.conditions.add_range("bytes", 0..=last, at),
        "total_msg_size" if is_of(&[Collective::Allgatherv, Collective::ReduceScatter]) => {
            node.conditions.add_range("bytes", 0..=last, at);
        }
        "total_msg_size" if is_vector || is_of(&[Collective::Allgather, Collective::ReduceScatterBlock]) => {
            node.conditions.add_total(0..=last, None, at);
        }
        _ => return Answer::Unknown("ranks do not know this of each other"),
    }
    Answer::Some(node)
}

/// What the names of a collective's algorithms begin with.
fn prefix(collective: Collective) -> String {
    let name = collective.name();
    format!("MPIR_{}{}_", name[..1].to_ascii_uppercase(), &name[1..])
}

#[cfg(test)]
mod tests {
    use super::ALGORITHMS;
    use crate::algorithms::Collective::*;
    use crate::selection::{Call, Rules};

    fn read(text: &str) -> Rules {
        Rules::parse("file", text).unwrap_or_else(|errors| panic!("{errors}"))
    }

    fn chosen(rules: &Rules, call: Call) -> &'static str {
        rules.choose(&call).algorithm().map_or("below", |algorithm| algorithm.name)
    }

    fn notes(rules: &Rules) -> Vec<String> {
        rules.notes().iter().map(|note| note.to_string()).collect()
    }

    #[test]
    fn the_table_names_rules_that_can_be_read() {
        for (collective, algorithms) in ALGORITHMS {
            for (name, ours) in algorithms {
                let filled = ours.replace(" segment", "");
                let filled = filled.strip_suffix(" radix").unwrap_or(&filled);
                if !ours.is_empty() {
                    Rules::parse_line(name, collective, filled).unwrap_or_else(|errors| panic!("{errors}"));
                }
            }
        }
    }

    #[test]
    fn questions_are_asked_in_turn() {
        let rules = read(
            r#"{ "collective=bcast": { "comm_type=intra": {
                   "comm_size<8": { "algorithm=MPIR_Bcast_intra_binomial": {} },
                   "comm_size = pow2": {
                     "avg_msg_size<=12288": { "algorithm=MPIR_Bcast_intra_tree": { "tree_type=knomial_1": {}, "k=4": {} } },
                     "avg_msg_size=any": { "algorithm=MPIR_Bcast_intra_scatter_ring_allgather": {} } },
                   "is_sendbuf_inplace=any": { "algorithm=MPIR_Bcast_intra_circ_graph": { "chunk_size=4096": {} } } },
                 "comm_type=inter": { "algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {} } },
               "collective=allgather": { "total_msg_size<81920": { "algorithm=MPIR_Allgather_intra_k_brucks": {"k=3": {}} },
                 "any": { "algorithm=MPIR_Allgather_intra_ring": {} } } }"#,
        );
        assert_eq!(notes(&rules), [""; 0]);
        for ((size, bytes), expected) in [
            ((7, 1), "binomial"),
            ((8, 12288), "knomial"),
            ((8, 12289), "scatter_ring_allgather"),
            ((9, 1), "circulant_pipelined"),
        ] {
            assert_eq!(chosen(&rules, Call::new(Bcast, size, bytes)), expected, "p = {size}, {bytes} bytes");
        }
        assert_eq!(chosen(&rules, Call { remote: 3, ..Call::new(Bcast, 9, 1) }), "inter_leaders");
        assert_eq!(chosen(&rules, Call::new(Allgather, 10, 8191)), "bruck");
        assert_eq!(chosen(&rules, Call::new(Allgather, 10, 8192)), "ring");
        let native = rules.to_native();
        assert!(
            native.contains("radix = 4\n")
                && native.contains("segment = 4096\n")
                && native.contains("radix = 3\n")
        );
    }

    #[test]
    fn a_question_without_an_answer_leaves_its_calls_below() {
        let rules = read(
            r#"{ "collective=allreduce": {
                   "comm_size<=8": { "avg_msg_size<100": { "algorithm=MPIR_Allreduce_intra_ring": {} } },
                   "comm_size=any": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} } } }"#,
        );
        assert_eq!(chosen(&rules, Call::new(Allreduce, 8, 99)), "ring");
        assert_eq!(chosen(&rules, Call::new(Allreduce, 8, 100)), "below");
        assert_eq!(chosen(&rules, Call::new(Allreduce, 9, 100)), "recursive_doubling");
    }

    #[test]
    fn opposites_exhaust_each_other() {
        let rules = read(
            r#"{ "collective=allreduce": {
                   "is_commutative=yes": { "algorithm=MPIR_Allreduce_intra_ring": {} },
                   "is_commutative=no": { "algorithm=MPIR_Allreduce_intra_recursive_doubling": {} } },
                 "collective=scan": {
                   "is_node_consecutive=yes": { "algorithm=MPIR_Scan_intra_smp": {} },
                   "is_node_consecutive=no": { "algorithm=MPIR_Scan_intra_recursive_doubling": {} } } }"#,
        );
        assert_eq!((rules.of(Allreduce).len(), rules.of(Scan).len()), (2, 1));
        assert_eq!(
            chosen(&rules, Call { commutative: false, ..Call::new(Allreduce, 9, 1) }),
            "recursive_doubling"
        );
        assert_eq!(chosen(&rules, Call::new(Scan, 9, 1)), "recursive_doubling");
        assert_eq!(
            notes(&rules),
            [
                "file:5:21: `is_node_consecutive=yes` never holds here: rules do not ask for the order of ranks"
            ]
        );
    }

    #[test]
    fn nodes_are_asked_for() {
        let rules = read(
            r#"{ "collective=barrier": {
                   "comm_size=node_comm_size": { "algorithm=MPIR_Barrier_intra_k_dissemination": { "k=2": {} } },
                   "comm_hierarchy=parent": { "comm_avg_ppn<4": { "algorithm=MPIR_Barrier_intra_k_dissemination": {} } } } }"#,
        );
        let on = |size, nodes, ranks_per_node| {
            let call = Call {
                nodes: Some(nodes),
                ranks_per_node: Some(ranks_per_node),
                ..Call::new(Barrier, size, 0)
            };
            chosen(&rules, call)
        };
        assert_eq!(on(8, 1, 8), "dissemination");
        assert_eq!(on(7, 2, 4), "dissemination");
        assert_eq!(on(8, 2, 4), "below");
        assert_eq!(on(8, 8, 1), "below");
    }

    #[test]
    fn what_there_is_not_is_noted_and_goes_below() {
        let rules = read(
            r#"{ "collective=allreduce": { "count<pow2": { "algorithm=MPIR_Allreduce_intra_ring": {} },
                                          "count=any": { "algorithm=MPIR_Allreduce_intra_smp": {} } },
                 "collective=iallreduce": { "algorithm=MPIR_Iallreduce_intra_sched_naive": {} },
                 "collective=bcast": { "composition=MPIDI_Bcast_intra_composition_alpha": {} },
                 "collective=barrier": { "algorithm=MPIR_Barrier_intra_k_dissemination": { "k=3": {} } },
                 "collective=gather": { "total_msg_size<9": { "algorithm=MPIR_Gather_intra_binomial": {} },
                                        "total_msg_size=any": { "algorithm=MPIR_Gather_intra_binomial": { "tree=1": {} } } } }"#,
        );
        assert_eq!(
            notes(&rules),
            [
                "file:1:30: `count<pow2` never holds here: rules do not ask for counts",
                "file:2:59: there is no `MPIR_Allreduce_intra_smp` of this kind here: these calls go below",
                "file:3:19: the rules of allreduce hold here for all its forms: these are left out",
                "file:4:41: there is no `MPIDI_Bcast_intra_composition_alpha` here: these calls go below",
                "file:5:43: there is no `MPIR_Barrier_intra_k_dissemination` of this kind here: these calls go below",
                "file:6:42: `total_msg_size<9` never holds here: ranks do not know this of each other",
                "file:7:108: `tree=1` has no counterpart here and is left out",
            ]
        );
        for (collective, expected) in
            [(Allreduce, "below"), (Bcast, "below"), (Barrier, "below"), (Gather, "binomial")]
        {
            assert_eq!(chosen(&rules, Call::new(collective, 9, 1)), expected);
        }
    }

    #[test]
    fn faults_have_places() {
        for (text, expected) in [
            (
                r#"{ "colective=bcast": {} }"#,
                "1:4: unknown question `colective`; the nearest known one is `collective`",
            ),
            (
                r#"{ "collective=bcost": {} }"#,
                "1:4: unknown collective `bcost`; the nearest known one is `bcast`",
            ),
            (r#"{ "collective=bcast": 3 }"#, "1:23: expected `{`"),
            (
                r#"{ "collective=bcast": { "algorithm=MPIR_Bcast_intra_binomal": {} } }"#,
                "1:26: unknown bcast algorithm of MPICH `MPIR_Bcast_intra_binomal`; the nearest known one is \
                 `MPIR_Bcast_intra_binomial`",
            ),
            (r#"{ "algorithm=MPIR_Bcast_intra_binomial": {} }"#, "1:4: no collective is named above"),
            (r#"{ "collective=bcast": { "comm_size<x": {} } }"#, "1:26: `x` is not a number"),
            (r#"{ "collective=bcast": { "comm_size<0": {} } }"#, "1:26: nothing is less than 0"),
            (
                r#"{ "collective=bcast": { "comm_size=3": {} } }"#,
                "1:26: MPICH knows no such answer: `comm_size=3`",
            ),
            (
                r#"{ "collective=bcast": { "is_commutative=yes": { "algorithm=MPIR_Bcast_intra_binomial": {} } } }"#,
                "1:26: `commutative` cannot be used here: bcast has no operator",
            ),
            (
                r#"{ "collective=bcast": { "comm_size<3": {}, "algorithm=MPIR_Bcast_intra_binomial": {} } }"#,
                "1:23: an algorithm stands alone, for MPICH asks no question beside it",
            ),
            (r#"[]"#, "1:1: expected a value"),
        ] {
            let Err(errors) = Rules::parse("file", text) else { panic!("{text}") };
            if text != "[]" {
                assert_eq!(
                    errors.to_string().lines().next(),
                    Some(&format!("file:{expected}")[..]),
                    "{text}"
                );
            }
        }
        let deep = format!(
            "{{\"collective=bcast\":{}{}}}",
            "{\"any\":".repeat(100),
            "{}".to_owned() + &"}".repeat(100)
        );
        let errors = Rules::parse("file", &deep).unwrap_err().to_string();
        assert!(errors.contains("this is nested deeper than 10 questions"), "{errors}");
    }
}
