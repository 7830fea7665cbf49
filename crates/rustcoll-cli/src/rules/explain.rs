//! `rustcoll rules explain`

use super::choice;
use crate::command_line::{ExplainOptions, Format};
use crate::failure::{Failure, Outcome};
use crate::problem::below;
use rustcoll::algorithms::Requirement;
use rustcoll::selection::{Call, Choice, Explanation, Measure, Neighbourhood, Rules, Verdict, keys};
use serde_json::{Value, json};
use std::io::Write;
use std::path::PathBuf;

/// Prints what each rule says about a call, up to the rule that decides.
pub fn run(options: &ExplainOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let call = call(options)?;
    let rules = rules(options)?;
    let mut explanations = rules.explain(&call);
    let deciding = explanations.iter().position(|explanation| explanation.verdict == Verdict::Matches);
    explanations.truncate(deciding.map_or(explanations.len(), |position| position + 1));
    let choice = deciding.map(|position| explanations[position].rule.choice);
    match options.format {
        Format::Text => {
            for explanation in &explanations {
                writeln!(output, "{explanation}")?;
            }
            writeln!(output, "{}", in_words(choice))?;
        }
        Format::Json => writeln!(output, "{:#}", as_json(&explanations, choice))?,
    }
    Ok(Outcome::Right)
}

/// Returns the rules: those of the line before those of files.
fn rules(options: &ExplainOptions) -> Result<Rules, Failure> {
    let rules = super::in_order(options.files.iter().map(PathBuf::as_path))?;
    let Some(line) = &options.line else { return Ok(rules) };
    let name = format!("coll_rustcoll_{}_rules", options.collective.name());
    let first = Rules::parse_line(&name, options.collective, line);
    first.map(|first| first.followed_by(&rules)).map_err(|faults| Failure::Input(faults.to_string()))
}

/// Returns the call that the options describe. Fails if an option has no effect on calls of the collective.
fn call(options: &ExplainOptions) -> Result<Call, Failure> {
    let ExplainOptions { collective, ranks: size, .. } = *options;
    let remote = options.remote.unwrap_or(0);
    let has_two_groups = collective.algorithms().any(|algorithm| algorithm.is_for_two_groups());
    if options.remote.is_some() && !has_two_groups {
        return Err(usage(format!("--remote: {} is of one group only", collective.name())));
    }
    if options.remote.is_some() && !(1..size).contains(&remote) {
        return Err(usage(format!("--remote {remote}: each group needs a rank of the {size}")));
    }
    for (option, number) in [("nodes", options.nodes), ("ranks-per-node", options.ranks_per_node)] {
        if let Some(number) = number.filter(|number| *number > size) {
            return Err(usage(format!("--{option} {number}: there are but {size} ranks")));
        }
    }
    refuse_what_has_no_effect(options)?;
    if let (Some(bytes), Some(longest)) = (options.bytes, options.longest)
        && !(bytes.div_ceil(size)..=bytes).contains(&longest)
    {
        let least = bytes.div_ceil(size);
        return Err(usage(format!(
            "--longest {longest}: {bytes} bytes in {size} blocks have a longest block of {least} to {bytes}"
        )));
    }
    let known = Call::new(collective, size, options.bytes.unwrap_or(0));
    let call = Call {
        remote,
        longest: options.longest,
        root: match options.root {
            Some(root) => Some(below(root, size, "root")?),
            None => (collective.is_rooted() && remote == 0).then_some(0),
        },
        commutative: !options.not_commutative,
        predefined: options.predefined.or(known.predefined),
        shares_memory: !options.no_shared_memory,
        copies_singly: !options.no_shared_memory && !options.no_single_copy,
        in_place: options.in_place,
        goes_by_tcp: options.tcp,
        reproducible: options.reproducible,
        nodes: options.nodes,
        ranks_per_node: options.ranks_per_node.or((options.nodes == Some(1)).then_some(size)),
        neighbourhood: options
            .neighbours
            .zip(options.dimensions)
            .map(|(neighbours, dimensions)| Neighbourhood { neighbours, dimensions }),
        ..known
    };
    let name = collective.name();
    match (call.is_measured(), options.bytes) {
        (true, None) => {
            let measure = Measure::on_stencils(collective).description();
            Err(usage(format!("--bytes is missing: {name} is measured by {measure}")))
        }
        (false, Some(_)) => {
            Err(usage(format!("--bytes: there are no bytes of this {name} that all ranks know")))
        }
        (true, Some(_)) | (false, None) => Ok(call),
    }
}

fn refuse_what_has_no_effect(options: &ExplainOptions) -> Result<(), Failure> {
    let collective = options.collective;
    let may_ask_for = |key| keys(collective).any(|known| known == key);
    let one_group = options.remote.is_none();
    let is_asked = |requirement| collective.algorithms().any(|one| one.requires.contains(&requirement));
    for (option, is_given, has_effect) in [
        ("longest", options.longest.is_some(), Measure::of(collective) == Measure::AllBlocks && one_group),
        ("root", options.root.is_some(), may_ask_for("root") && one_group),
        ("in-place", options.in_place, may_ask_for("in_place") && one_group),
        ("not-commutative", options.not_commutative, may_ask_for("commutative")),
        ("predefined", options.predefined.is_some(), may_ask_for("predefined")),
        ("no-shared-memory", options.no_shared_memory, is_asked(Requirement::SharedMemory) && one_group),
        ("no-single-copy", options.no_single_copy, is_asked(Requirement::SingleCopy) && one_group),
        ("reproducible", options.reproducible, collective.reduces()),
        ("neighbours", options.neighbours.is_some(), may_ask_for("neighbours")),
    ] {
        if is_given && !has_effect {
            let groups = if one_group { "" } else { " between two groups" };
            let name = collective.name();
            return Err(usage(format!("--{option} has no effect on the algorithm of {name}{groups}")));
        }
    }
    Ok(())
}

fn usage(message: String) -> Failure {
    Failure::Usage(message)
}

/// Says which algorithm or component serves the call.
fn in_words(choice: Option<Choice>) -> String {
    match choice {
        None => "no rule matches: the component below serves it".into(),
        Some(Choice::Below) => "the component below serves it".into(),
        Some(choice) => format!("{choice} serves it"),
    }
}

fn as_json(explanations: &[Explanation], choice: Option<Choice>) -> Value {
    let rules = explanations.iter().map(|Explanation { rule, verdict }| {
        json!({
            "file": &*rule.origin.file,
            "line": rule.origin.line,
            "column": rule.origin.column,
            "algorithm": choice::name(rule.choice),
            "matches": *verdict == Verdict::Matches,
            "verdict": verdict.to_string(),
        })
    });
    let parameters = choice.map(|choice| choice.parameters()).unwrap_or_default();
    json!({
        "algorithm": choice.map_or("below", choice::name),
        "parameters": choice::as_json(parameters),
        "rules": rules.collect::<Vec<Value>>(),
    })
}
