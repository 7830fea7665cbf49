//! `rustcoll rules diff`

use super::in_order;
use crate::command_line::DiffOptions;
use crate::failure::{Failure, Outcome};
use rustcoll::algorithms::Cut;
use rustcoll::selection::{Call, Difference, RuledChoice};
use std::io::Write;
use std::ops::RangeInclusive;

/// Prints where two files decide differently.
pub fn run(options: &DiffOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let one = in_order([options.one.as_path()].into_iter())?;
    let other = in_order(options.other.as_deref().into_iter())?;
    let differences = one.differences(&other, options.ranks.clone());
    for difference in &differences {
        writeln!(output, "{}", in_words(difference))?;
    }
    Ok(if differences.is_empty() { Outcome::Right } else { Outcome::Wrong })
}

fn in_words(Difference { call, ranks, bytes, one, other }: &Difference) -> String {
    let bytes = match *bytes == (0..=usize::MAX) {
        true => String::new(),
        false => format!(" bytes={}", range(bytes)),
    };
    let (collective, ranks) = (call.collective.name(), range(ranks));
    format!("{collective} ranks={ranks}{bytes}{}: {} | {}", kind(call), decision(one), decision(other))
}

/// Returns a range as rules write it.
fn range(range: &RangeInclusive<usize>) -> String {
    match (*range.start(), *range.end()) {
        (first, last) if first == last => first.to_string(),
        (first, usize::MAX) => format!("{first}.."),
        (first, last) => format!("{first}..{last}"),
    }
}

/// Returns the conditions by which a call differs from the plainest one, as rules write them, then what it lacks.
fn kind(call: &Call) -> String {
    let mut text = String::new();
    let mut add = |is_so: bool, condition: &str| {
        if is_so {
            text.push(' ');
            text.push_str(condition);
        }
    };
    add(call.remote > 0, "groups=2");
    add(!call.commutative, "commutative=false");
    add(call.in_place, "in_place=true");
    add(call.goes_by_tcp, "tcp=true");
    add(call.longest.is_some(), "when=\"longest == bytes\"");
    for (key, value) in [("root", call.root), ("nodes", call.nodes), ("ranks_per_node", call.ranks_per_node)]
    {
        add(value.is_some(), &format!("{key}={}", value.unwrap_or_default()));
    }
    add(call.predefined == Some(false), "predefined=false");
    add(call.reproducible, "with reproducible results");
    add(!call.shares_memory, "without shared memory");
    add(call.shares_memory && !call.copies_singly, "without single copies");
    add(!call.calls_others && !call.reproducible, "without calls of other collectives");
    let needs_neighbours = call.collective.cut() == Cut::Edges;
    add(needs_neighbours && !call.knows_neighbours_of_node, "without the neighbours of other ranks");
    text
}

fn decision(RuledChoice { choice, origin }: &RuledChoice) -> String {
    let origin = origin.as_ref().map_or("no rule".into(), |origin| origin.to_string());
    format!("{choice} ({origin})")
}
