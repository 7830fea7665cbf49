//! The selection files of MPICH, in JSON: a tree whose keys are questions about a call. At each node, only
//! the first key whose answer is yes counts. The leaves are algorithms.
//!
//! ```json
//! { "collective=alltoall": { "comm_size<8": { "algorithm=MPIR_Alltoall_intra_scattered": {} },
//!                            "comm_size=any": { "algorithm=MPIR_Alltoall_intra_k_brucks": { "k=4": {} } } } }
//! ```

mod algorithms;
mod question;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub use algorithms::ALGORITHMS;

use super::super::error::shortened;
use super::super::quantity::number;
use super::super::reading::MOST_RULES;
use super::json::{as_object, key_place, object, place, properties};
use super::{Entry, Fault, Lists, Provenance, Written, with_options};
use crate::algorithms::Collective;
use jsonc_parser::ast::{Object, ObjectProp};
use question::{Answer, Node};
use std::collections::HashSet;
use std::ops::Range;

/// The deepest nesting of questions.
const DEEPEST: usize = 10;

/// Reads a file. Parts that cannot be read are left out and reported.
pub fn read(text: &str, faults: &mut Vec<Fault>) -> Written {
    let mut reader = Reader { faults, notes: Vec::new(), lists: Lists::default() };
    if let Some(tree) = object(text, reader.faults) {
        reader.node(&tree, &Node::default());
    }
    Written { lists: reader.lists.0, notes: reader.notes, ..Written::default() }
}

struct Reader<'reader> {
    faults: &'reader mut Vec<Fault>,
    notes: Vec<Fault>,
    lists: Lists,
}

impl Reader<'_> {
    fn fault(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.faults.push(Fault { place, message: message.into() });
    }

    fn note(&mut self, place: Range<usize>, message: impl Into<String>) {
        self.notes.push(Fault { place, message: message.into() });
    }

    /// Reads a node of the tree. Calls that match no key are left to the component below rustcoll.
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
            let is_certain = is_opposite_of_one(key, &asked);
            asked.insert(key);
            let at = key_place(property);
            let answer = if is_certain { Ok(Answer::All) } else { question::answer(key, node, &at) };
            let below = match answer {
                Ok(Answer::Some(below)) => below,
                Ok(Answer::All) => {
                    is_exhausted = true;
                    node.clone()
                }
                Ok(Answer::Unknown(reason)) => {
                    self.note(at, format!("`{}` never holds here: {reason}", shortened(key)));
                    continue;
                }
                Ok(Answer::Left(message)) => {
                    self.note(at, message);
                    continue;
                }
                Err(message) => {
                    self.fault(at, message);
                    continue;
                }
            };
            if let Some(tree) = as_object(&property.value, self.faults) {
                self.node(tree, &Node { depth: node.depth + 1, ..below });
            }
        }
        if !is_exhausted {
            self.leave(&place(tree), node, Provenance::Implied);
        }
    }

    /// Leaves the calls of a node to the component below rustcoll.
    fn leave(&mut self, place: &Range<usize>, node: &Node, provenance: Provenance) {
        if let Some(collective) = node.collective {
            let entry = node.conditions.below(place, provenance);
            self.add(collective, vec![entry]);
        }
    }

    fn add(&mut self, collective: Collective, entries: Vec<Entry>) {
        let list = self.lists.of(collective);
        // A list with more rules is refused later, so a very long rest is not stored.
        if list.len() <= MOST_RULES {
            list.extend(entries);
        }
    }

    fn leaf(&mut self, key: &str, property: &ObjectProp, node: &Node) {
        let at = key_place(property);
        let Some(collective) = node.collective else {
            return self.fault(at, "no collective is named above");
        };
        let ours = match algorithms::rules(collective, key) {
            Ok(ours) => ours,
            Err(message) => return self.fault(at, message),
        };
        let (_, name) = key.split_once('=').unwrap_or_default();
        let name = shortened(name);
        let Some(ours) = ours else {
            self.note(
                at.clone(),
                format!("there is no `{name}` here: the component below serves these calls"),
            );
            return self.leave(&at, node, Provenance::Translated);
        };
        let Some((radix, segment)) = self.options(property, ours) else {
            self.note(
                at.clone(),
                format!("there is no `{name}` of this kind here: the component below serves these calls"),
            );
            return self.leave(&at, node, Provenance::Translated);
        };
        let ours = with_options(ours, radix, segment, 0);
        self.add(collective, node.conditions.lead_to(&ours, &at, &at));
    }

    /// Returns the radix and the segment, 0 if there is none. `None` if rustcoll has no equivalent for the options.
    fn options(&mut self, property: &ObjectProp, ours: &str) -> Option<(usize, usize)> {
        let tree = as_object(&property.value, self.faults)?;
        let (mut radix, mut segment, mut is_served) = (0, 0, true);
        for (key, property) in properties(tree, self.faults).collect::<Vec<_>>() {
            let at = key_place(property);
            let key: String = key.split_whitespace().collect();
            match key.split_once('=') {
                Some(("k", value)) if ours.ends_with(" radix") || value == "2" => {
                    radix = self.number(value, at)
                }
                Some(("k", _)) => is_served = false,
                Some(("tree_type", kind)) => is_served &= kind.starts_with("knomial"),
                Some(("chunk_size", value)) if ours.ends_with(" segment") => segment = self.number(value, at),
                _ => self.note(at, format!("`{}` has no counterpart here and is left out", shortened(&key))),
            }
        }
        is_served.then_some((radix, segment))
    }

    /// Reads a number. Reports a fault and returns 0 if the text is not a number.
    fn number(&mut self, text: &str, at: Range<usize>) -> usize {
        number(text).unwrap_or_else(|message| {
            self.fault(at, message);
            0
        })
    }
}

/// Whether the opposite of a yes-or-no question was asked before. If so, all calls that come to this question
/// answer yes.
fn is_opposite_of_one(key: &str, asked: &HashSet<&str>) -> bool {
    let was_asked = |answer: &str| asked.contains(&format!("{}={answer}", question::subject(key))[..]);
    key.ends_with("=no") && was_asked("yes") || key.ends_with("=yes") && was_asked("no")
}
