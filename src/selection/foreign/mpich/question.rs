//! The questions of MPICH's trees, translated into conditions of rustcoll.

use super::super::super::error::shortened;
use super::super::super::nearest::unknown;
use super::super::super::quantity::number;
use super::super::Conditions;
use crate::algorithms::Collective;
use std::ops::Range;

/// The subjects of questions, with the answers that can follow each.
const SUBJECTS: [(&str, &str); 15] = [
    ("collective", "`=` and a name"),
    ("comm_type", "`=intra` or `=inter`"),
    ("comm_size", "`<` or `<=` and a number, `=pow2`, `=node_comm_size` or `=any`"),
    ("comm_hierarchy", "`=parent`, `=node_roots`, `=node`, `=flat` or `=any`"),
    ("comm_avg_ppn", "`<` or `<=` and a number, or `=any`"),
    ("avg_msg_size", "`<` or `<=` and a number, or `=any`"),
    ("total_msg_size", "`<` or `<=` and a number, or `=any`"),
    ("count", "`<=` and a number, `<pow2` or `=any`"),
    ("is_commutative", YES_OR_NO),
    ("is_op_built_in", YES_OR_NO),
    ("is_sendbuf_inplace", YES_OR_NO),
    ("is_block_regular", YES_OR_NO),
    ("is_node_consecutive", YES_OR_NO),
    ("is_multi_threaded", YES_OR_NO),
    ("any", "nothing"),
];

const YES_OR_NO: &str = "`=yes`, `=no` or `=any`";

/// The properties of the calls that come to a node of the tree.
#[derive(Clone, Default)]
pub struct Node {
    pub collective: Option<Collective>,
    pub conditions: Conditions,
    pub depth: usize,
}

/// The translation of a question.
pub enum Answer {
    /// The calls that answer yes.
    Some(Node),
    /// All calls answer yes.
    All,
    /// rustcoll has no equivalent condition, for this reason; the branch never matches.
    Unknown(&'static str),
    /// The branch is left out, because rustcoll does not have its subject. The text is the note for the user.
    Left(String),
}

/// A key of the tree without its spaces.
#[derive(Clone, Copy)]
struct Question<'key> {
    subject: &'key str,
    sign: &'key str,
    value: &'key str,
}

impl<'key> Question<'key> {
    fn of(key: &'key str) -> Self {
        let (subject, rest) = key.split_at(subject(key).len());
        let sign = ["<=", "<", "="].into_iter().find(|sign| rest.starts_with(sign)).unwrap_or_default();
        Question { subject, sign, value: &rest[sign.len()..] }
    }

    fn is_bound(&self) -> bool {
        self.sign.starts_with('<')
    }

    /// Returns the largest number within an upper bound.
    fn last(&self) -> Result<usize, String> {
        let bound = number(self.value)?;
        let last = if self.sign == "<" { bound.checked_sub(1) } else { Some(bound) };
        last.ok_or_else(|| "nothing is less than 0".into())
    }
}

/// Returns the subject of a key.
pub fn subject(key: &str) -> &str {
    key.split(['=', '<']).next().unwrap_or_default()
}

/// Translates a key, without spaces, for the calls that come to a node. Fails if MPICH does not know the question.
pub fn answer(key: &str, node: &Node, place: &Range<usize>) -> Result<Answer, String> {
    let question = Question::of(key);
    let Question { subject, sign, value } = question;
    let Some((_, answers)) = SUBJECTS.iter().find(|(known, _)| *known == subject) else {
        return Err(unknown("question", subject, SUBJECTS.map(|(known, _)| known)));
    };
    let mut below = node.clone();
    let conditions = &mut below.conditions;
    match (subject, sign, value) {
        ("any", "", "") | (_, "=", "any") => return Ok(Answer::All),
        ("collective", "=", _) => return collective(value, below),
        ("comm_type", "=", "intra") => conditions.add("groups", 1, place),
        ("comm_type", "=", "inter") => conditions.add("groups", 2, place),
        ("comm_size", ..) if node.is_between_groups() => {
            return Ok(Answer::Unknown("MPICH counts the ranks of the own group, rules here those of both"));
        }
        ("comm_size", "=", "pow2") => conditions.add("power_of_two", true, place),
        ("comm_size", "=", "node_comm_size") => conditions.add("nodes", 1, place),
        // Every communicator that the program makes is a parent, unless its ranks have a node each.
        ("comm_hierarchy", "=", "parent") => conditions.add("ranks_per_node", "2..", place),
        ("comm_hierarchy", "=", "flat") => conditions.add("ranks_per_node", 1, place),
        ("comm_hierarchy", "=", "node" | "node_roots") => {
            return Ok(Answer::Unknown("MPICH makes such communicators for itself"));
        }
        ("is_commutative", "=", "yes" | "no") => conditions.add("commutative", value == "yes", place),
        ("is_op_built_in", "=", "yes" | "no") => conditions.add("predefined", value == "yes", place),
        ("is_sendbuf_inplace", "=", "yes" | "no") => conditions.add("in_place", value == "yes", place),
        ("is_block_regular", "=", "yes" | "no") | ("count", "<", "pow2") => {
            return Ok(Answer::Unknown("rules do not ask for counts"));
        }
        ("count", ..) if question.is_bound() => {
            return question.last().map(|_| Answer::Unknown("rules do not ask for counts"));
        }
        ("is_node_consecutive", "=", "yes" | "no") => {
            return Ok(Answer::Unknown("rules do not ask for the order of ranks"));
        }
        ("is_multi_threaded", "=", "yes" | "no") => {
            return Ok(Answer::Unknown("rules do not ask for threads"));
        }
        ("comm_avg_ppn", ..) if question.is_bound() => {
            let most = number(value)?;
            conditions.add("when", format_args!("ranks {sign} {most} * nodes"), place);
        }
        ("comm_size" | "avg_msg_size" | "total_msg_size", ..) if question.is_bound() => {
            return Ok(bounded(below, subject, question.last()?, place));
        }
        _ => {
            let key = shortened(key);
            return Err(format!("MPICH has no question `{key}`; behind `{subject}` comes {answers}"));
        }
    }
    Ok(Answer::Some(below))
}

fn collective(name: &str, node: Node) -> Result<Answer, String> {
    if let Some(collective) = Collective::named(name) {
        return Ok(Answer::Some(Node { collective: Some(collective), ..node }));
    }
    match name.strip_prefix('i').and_then(Collective::named) {
        Some(collective) => Ok(Answer::Left(format!(
            "left out: in rustcoll the rules of {} hold for its blocking and its non-blocking form",
            collective.name()
        ))),
        None => Err(unknown("collective", name, Collective::ALL.map(Collective::name))),
    }
}

impl Node {
    fn is_between_groups(&self) -> bool {
        self.conditions.0.iter().any(|item| item.key.text == "groups" && item.values[0].text == "2")
    }
}

/// Translates an upper bound.
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
