//! Derives rules from an atlas.

use super::cover::{Rectangle, SizeClass, rectangles};
use super::{Atlas, Candidate};
use crate::algorithms::Parameter;
use crate::selection::quantity;
use std::fmt::Write;

/// A rule. The first rule of a collective that matches a call decides.
#[derive(Clone, Debug)]
pub struct Derived {
    pub candidate: Candidate,
    /// Whether the rule holds only for operators that commute.
    pub commutative: bool,
    /// The ranks of a full node, if the rule holds only where ranks fill nodes one after the other.
    pub full_node: Option<usize>,
    /// `Some(true)`: only powers of two. `Some(false)`: only other numbers of ranks.
    pub power_of_two: Option<bool>,
    /// The least and the greatest number of ranks, both included. `None`: no bound.
    pub ranks: (Option<usize>, Option<usize>),
    /// The least and the greatest number of bytes, both included. `None`: no bound.
    pub bytes: (Option<usize>, Option<usize>),
    /// How much slower than the fastest the choice is, as a fraction, at the worst of the atlas's points that
    /// this rule decides.
    pub regret: f64,
}

/// Returns few rules whose choices are slower than the fastest by at most `limit`, a fraction, at every point
/// of the atlas. A point also decides for fewer bytes, down to the next point, and for more ranks, up to the
/// next point. The outermost points decide for everything beyond, where nothing is known.
///
/// If any rule requires operators that commute, a second list of rules serves the others. Not every call may use shared
/// memory. So in each list, rules of algorithms over shared memory come first, for full nodes of `full_node` ranks if that is
/// more than one, and the other rules decide for all calls.
pub fn derive(atlas: &Atlas, limit: f64, full_node: usize) -> Vec<Derived> {
    let all = derive_for_all_operators(atlas, limit, full_node);
    if all.iter().all(|rule| rule.candidate.algorithm.keeps_order()) {
        return all;
    }
    let in_order = atlas.only(|candidate| candidate.algorithm.keeps_order());
    let commuting = all.into_iter().map(|rule| Derived { commutative: true, ..rule });
    commuting
        .chain(in_order.iter().flat_map(|atlas| derive_for_all_operators(atlas, limit, full_node)))
        .collect()
}

fn takes_shared_memory(candidate: &Candidate) -> bool {
    candidate.algorithm.takes_shared_memory()
}

fn derive_for_all_operators(atlas: &Atlas, limit: f64, full_node: usize) -> Vec<Derived> {
    let over_messages = atlas.only(|candidate| !takes_shared_memory(candidate));
    let shared = (full_node > 1).then(|| rules(atlas, limit, takes_shared_memory));
    let of_nodes = shared.into_iter().flatten().map(|rule| Derived { full_node: Some(full_node), ..rule });
    of_nodes.chain(over_messages.iter().flat_map(|atlas| rules(atlas, limit, |_| true))).collect()
}

fn rules(atlas: &Atlas, limit: f64, may_hold: fn(&Candidate) -> bool) -> Vec<Derived> {
    let rule = |held: Rectangle| Derived {
        candidate: atlas.candidates[held.candidate],
        commutative: false,
        full_node: None,
        power_of_two: match held.kind {
            SizeClass::Any => None,
            SizeClass::PowersOfTwo => Some(true),
            SizeClass::NoPowersOfTwo => Some(false),
        },
        ranks: (
            (held.ranks.start > 0).then(|| atlas.ranks[held.ranks.start]),
            atlas.most_ranks(held.ranks.end - 1),
        ),
        bytes: (
            (held.bytes.start > 0).then(|| atlas.bytes[held.bytes.start - 1] + 1),
            (held.bytes.end < atlas.bytes.len()).then(|| atlas.bytes[held.bytes.end - 1]),
        ),
        regret: held.regret,
    };
    rectangles(atlas, limit, may_hold).into_iter().map(rule).collect()
}

impl Atlas {
    /// Returns up to how many ranks the number at `position` decides for; `None`, no bound, for the last one.
    pub(super) fn most_ranks(&self, position: usize) -> Option<usize> {
        self.ranks.get(position + 1).map(|next| next - 1)
    }
}

/// Returns the rules as the text of a rules file.
pub fn to_native(rules: &[Derived]) -> String {
    let mut text = String::new();
    for rule in rules {
        write_rule(&mut text, rule).expect("a text takes everything");
    }
    text
}

fn write_rule(text: &mut String, rule: &Derived) -> std::fmt::Result {
    let Derived { candidate, commutative, full_node, power_of_two, ranks, bytes, regret } = rule;
    writeln!(text, "\n# at most {:.1} % slower than the fastest", 100.0 * regret)?;
    writeln!(text, "[[{}]]", candidate.collective.name())?;
    if *commutative {
        writeln!(text, "commutative = true")?;
    }
    if let Some(power_of_two) = power_of_two {
        writeln!(text, "power_of_two = {power_of_two}")?;
    }
    write_range(text, "ranks", *ranks, |ranks| ranks.to_string())?;
    write_range(text, "bytes", *bytes, quantity::in_units)?;
    if let Some(full_node) = full_node {
        writeln!(text, "when = \"ranks_per_node == min(ranks, {full_node})\"")?;
    }
    writeln!(text, "algorithm = \"{}\"", candidate.algorithm.name)?;
    for &parameter in candidate.algorithm.parameters {
        match candidate.parameters.get(parameter) {
            Some(segment) if parameter == Parameter::Segment => {
                writeln!(text, "{} = \"{}\"", parameter.name(), quantity::in_units(segment))?;
            }
            Some(value) => writeln!(text, "{} = {value}", parameter.name())?,
            None => {}
        }
    }
    Ok(())
}

fn write_range(
    text: &mut String,
    key: &str,
    (first, last): (Option<usize>, Option<usize>),
    in_words: impl Fn(usize) -> String,
) -> std::fmt::Result {
    let [first_in_words, last_in_words] = [first, last].map(|bound| bound.map(&in_words).unwrap_or_default());
    match first.or(last) {
        None => Ok(()),
        Some(_) if first == last => writeln!(text, "{key} = \"{first_in_words}\""),
        Some(_) => writeln!(text, "{key} = \"{first_in_words}..{last_in_words}\""),
    }
}
