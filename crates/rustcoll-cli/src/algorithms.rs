//! `rustcoll algorithms`

use crate::command_line::AlgorithmsOptions;
use crate::failure::{Failure, Outcome};
use crate::problem::{algorithm, names};
use crate::table;
use rustcoll::algorithms::{Algorithm, Collective, Cut, Dimension, Graph, Parameter, Problem, Stencil};
use rustcoll::cost::Cost;
use rustcoll::verify::grids;
use std::io::{self, Write};

const HEAD: [&str; 6] = ["collective", "name", "other names", "parameters", "requires", "source"];

/// Lists algorithms.
pub fn run(options: &AlgorithmsOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let all = |collective: Collective| collective.algorithms().map(move |algorithm| (collective, algorithm));
    let listed: Vec<(Collective, &'static Algorithm)> = match (options.collective, &options.algorithm) {
        (None, _) => Collective::ALL.into_iter().flat_map(all).collect(),
        (Some(collective), None) => all(collective).collect(),
        (Some(collective), Some(name)) => vec![(collective, algorithm(collective, name)?)],
    };
    if options.long || options.algorithm.is_some() {
        for (position, &(collective, algorithm)) in listed.iter().enumerate() {
            let separator = if position == 0 { "" } else { "\n" };
            write!(output, "{separator}")?;
            describe(collective, algorithm, options.ranks, output)?;
        }
    } else {
        let rows: Vec<[String; 6]> = listed.into_iter().map(row).collect();
        table::write(HEAD, &rows, output)?;
    }
    Ok(Outcome::Right)
}

fn row((collective, algorithm): (Collective, &'static Algorithm)) -> [String; 6] {
    [
        collective.name().to_owned(),
        algorithm.name.to_owned(),
        names(algorithm).skip(1).collect::<Vec<_>>().join(", "),
        algorithm.parameters.iter().map(|parameter| parameter.name()).collect::<Vec<_>>().join(", "),
        algorithm.requires.iter().map(|requirement| requirement.description()).collect::<Vec<_>>().join(", "),
        algorithm.source.to_owned(),
    ]
}

/// Writes all that is known of an algorithm.
fn describe(
    collective: Collective,
    algorithm: &'static Algorithm,
    ranks: usize,
    output: &mut impl Write,
) -> io::Result<()> {
    let [collective, name, other_names, _, requires, source] = row((collective, algorithm));
    let parameter = |parameter: &Parameter| format!("{} ({})", parameter.name(), parameter.description());
    let parameters: Vec<String> = algorithm.parameters.iter().map(parameter).collect();
    let is_reproducible = algorithm.contract().reduces() && algorithm.is_reproducible();
    let reproducible = if is_reproducible { "yes" } else { "" };
    writeln!(output, "{collective} {name}")?;
    for (what, text) in [
        ("idea", algorithm.idea.to_owned()),
        ("avoid when", algorithm.avoid_when.to_owned()),
        (HEAD[2], other_names),
        (HEAD[3], parameters.join("; ")),
        (HEAD[4], requires),
        ("reproducible", reproducible.to_owned()),
        (HEAD[5], source),
        ("cost", cost(algorithm, ranks)),
    ] {
        if !text.is_empty() {
            writeln!(output, "  {what}: {text}")?;
        }
    }
    Ok(())
}

/// Returns the cost in words, with default parameters. Two groups are equal. Neighbours are those of a ring,
/// or all that touch a rank on a two-dimensional torus, if the algorithm needs offsets on a grid.
fn cost(algorithm: &Algorithm, ranks: usize) -> String {
    let remote = if algorithm.is_for_two_groups() { ranks / 2 } else { 0 };
    if let Err(reason) = algorithm.serves(ranks, remote, true) {
        return format!("none on {ranks} ranks: {reason}");
    }
    let mut problem = Problem { remote, ..Problem::new(ranks) };
    if algorithm.contract().cut() == Cut::Edges {
        problem.graph = match algorithm.takes_stencil() {
            true => Graph::of_stencil(Stencil::around(&grids(ranks)[4])),
            false => Graph::grid(&[Dimension { length: ranks, periodic: true }]),
        };
    }
    if let Some(calls) = algorithm.calls() {
        return format!("that of {}", calls.names().join(" and of "));
    }
    let numbers =
        Cost::count(&algorithm.programs(&problem)).fields().map(|(what, number)| format!("{number} {what}"));
    format!("{} on {ranks} ranks, those of the busiest rank", numbers.join(", "))
}
