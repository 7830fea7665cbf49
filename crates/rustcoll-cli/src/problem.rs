//! The problem that a command line describes, and how one is described.

use crate::command_line::ProblemOptions;
use crate::failure::Failure;
use rustcoll::algorithms::{Algorithm, Collective, Cut, Dimension, Graph, Parameter, Problem};
use rustcoll::selection::nearest;
use std::fmt::Write;

/// Looks an algorithm up, by any of its names.
pub fn algorithm(collective: Collective, name: &str) -> Result<&'static Algorithm, Failure> {
    let unknown = || {
        let what = format!("{} algorithm", collective.name());
        let names = collective.algorithms().flat_map(names);
        Failure::Usage(nearest::unknown(&what, name, names))
    };
    collective.algorithm(name).ok_or_else(unknown)
}

/// All names of an algorithm.
pub fn names(algorithm: &'static Algorithm) -> impl Iterator<Item = &'static str> {
    [algorithm.name].into_iter().chain(algorithm.aliases.iter().copied())
}

/// The problem that options describe. Fails if the algorithm cannot serve it, or one of them has no effect.
pub fn problem(algorithm: &Algorithm, options: &ProblemOptions) -> Result<Problem, Failure> {
    let size = options.ranks;
    let remote = match options.remote {
        None => 0,
        Some(remote) if (1..size).contains(&remote) => remote,
        Some(remote) => {
            return Err(usage(format!("--remote {remote}: each group needs a rank of the {size}")));
        }
    };
    let name = format!("{} {}", algorithm.collective.name(), algorithm.name);
    let refused = |reason| usage(format!("{name} cannot serve this: {reason}"));
    algorithm.serves(size, remote, true).map_err(refused)?;
    refuse_what_has_no_effect(algorithm, &name, options)?;

    let mut problem = Problem { remote, in_place: options.in_place, ..Problem::new(size) };
    problem.root = below(options.root.unwrap_or(0), size, "root")?;
    problem.segments = options.segments.map_or(problem.segments, |count| count as usize);
    problem.window = options.window.map_or(problem.window, |count| count as usize);
    problem.radix = match options.radix.map(|radix| radix as usize) {
        Some(radix) if radix > size.max(2) => {
            return Err(usage(format!("--radix {radix}: there are but {size} ranks")));
        }
        radix => radix.unwrap_or(problem.radix),
    };
    if let Some(sharing) = options.ranks_per_node {
        problem.nodes = (0..size).map(|rank| (rank / sharing) as u32).collect();
    }
    if algorithm.collective.cut() == Cut::Edges {
        problem.graph = Graph::grid(&grid(options)?);
    }
    Ok(problem)
}

fn refuse_what_has_no_effect(
    algorithm: &Algorithm,
    name: &str,
    options: &ProblemOptions,
) -> Result<(), Failure> {
    let takes = |parameter| algorithm.parameters.contains(&parameter);
    let collective = algorithm.collective;
    let is_on_grid = collective.cut() == Cut::Edges;
    let may_be_in_place = collective.has_in_place() && options.remote.is_none();
    for (option, is_given, has_effect) in [
        ("root", options.root.is_some(), collective.is_rooted()),
        ("radix", options.radix.is_some(), takes(Parameter::Radix)),
        ("segments", options.segments.is_some(), algorithm.cuts_segments()),
        ("window", options.window.is_some(), takes(Parameter::Window)),
        ("in-place", options.in_place, may_be_in_place),
        ("ranks-per-node", options.ranks_per_node.is_some(), algorithm.takes_nodes()),
        ("grid", options.grid.is_some(), is_on_grid),
        ("periodic", options.periodic, is_on_grid),
    ] {
        if is_given && !has_effect {
            return Err(usage(format!("--{option} has no effect on {name}")));
        }
    }
    Ok(())
}

/// The grid of a neighbourhood collective.
fn grid(options: &ProblemOptions) -> Result<Vec<Dimension>, Failure> {
    let Some(text) = &options.grid else {
        return Ok(vec![Dimension { length: options.ranks, periodic: options.periodic }]);
    };
    let lengths = text.split('x').map(|length| length.parse().ok().filter(|length| *length > 0));
    let lengths: Option<Vec<usize>> = lengths.collect();
    let lengths =
        lengths.ok_or_else(|| usage(format!("--grid {text}: expected numbers from 1 up, as in 4x3")))?;
    let places = lengths.iter().try_fold(1usize, |places, length| places.checked_mul(*length));
    if places != Some(options.ranks) {
        return Err(usage(format!("--grid {text} does not have {} places", options.ranks)));
    }
    let dimension = |length| Dimension { length, periodic: options.periodic };
    Ok(lengths.into_iter().map(dimension).collect())
}

/// A rank, if there is one of this number.
pub fn below(rank: usize, size: usize, option: &str) -> Result<usize, Failure> {
    match rank < size {
        true => Ok(rank),
        false => Err(usage(format!("--{option} {rank}: ranks are numbered from 0 to {}", size - 1))),
    }
}

fn usage(message: String) -> Failure {
    Failure::Usage(message)
}

/// A problem in the words of `rustcoll schedule`, as far as it has them.
pub fn described(algorithm: &Algorithm, problem: &Problem) -> String {
    let Problem { size, remote, root, in_place, radix, segments, window, nodes, graph } = problem;
    let mut text = format!("{} {} --ranks {size}", algorithm.collective.name(), algorithm.name);
    let mut add = |is_needed, option: String| {
        if is_needed {
            text.push_str(" --");
            text.push_str(&option);
        }
    };
    add(*remote > 0, format!("remote {remote}"));
    add(algorithm.collective.is_rooted(), format!("root {root}"));
    add(*in_place, "in-place".into());
    for parameter in algorithm.parameters {
        match parameter {
            Parameter::Radix => add(true, format!("radix {radix}")),
            Parameter::Segment => add(algorithm.cuts_segments(), format!("segments {segments}")),
            Parameter::Window => add(true, format!("window {window}")),
        }
    }
    if !nodes.is_empty() {
        let _ = write!(text, ", nodes {nodes:?}");
    }
    if algorithm.collective.cut() == Cut::Edges {
        let _ = write!(text, ", {graph:?}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Command, CommandLine};
    use clap::Parser;

    fn read(line: &str) -> Result<(&'static Algorithm, Problem), String> {
        let words = ["rustcoll", "schedule"].into_iter().chain(line.split(' '));
        let Command::Schedule(options) = CommandLine::try_parse_from(words).unwrap().command else {
            panic!("not a schedule");
        };
        let found = algorithm(options.collective, &options.algorithm);
        let problem = |found| problem(found, &options.problem).map(|problem| (found, problem));
        found.and_then(problem).map_err(|failure| failure.to_string())
    }

    #[test]
    fn a_problem_is_read_as_it_is_described() {
        for line in [
            "allreduce ring --ranks 7",
            "allreduce ring --ranks 7 --in-place",
            "bcast knomial --ranks 9 --root 8 --radix 4",
            "bcast binomial --ranks 9 --root 0 --segments 3",
            "alltoall linear_window --ranks 1 --window 3",
            "reduce inter_leaders --ranks 9 --remote 4 --root 8",
        ] {
            let (algorithm, problem) = read(line).unwrap();
            assert_eq!(described(algorithm, &problem), line);
        }
        let (algorithm, problem) = read("bcast node_aware --ranks 3 --ranks-per-node 2").unwrap();
        assert!(described(algorithm, &problem).ends_with(", nodes [0, 0, 1]"));
        let (_, problem) = read("neighbor_alltoall linear --ranks 6 --grid 2x3 --periodic").unwrap();
        let dimension = |length| Dimension { length, periodic: true };
        assert_eq!(problem.graph, Graph::grid(&[dimension(2), dimension(3)]));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (line, expected) in [
            (
                "allreduce rung --ranks 7",
                "unknown allreduce algorithm `rung`; the nearest known one is `ring`",
            ),
            ("bcast binomial --ranks 7 --root 7", "--root 7: ranks are numbered from 0 to 6"),
            ("allreduce ring --ranks 7 --root 1", "--root has no effect on allreduce ring"),
            ("allreduce ring --ranks 7 --radix 2", "--radix has no effect on allreduce ring"),
            ("bcast binomial --ranks 7 --in-place", "--in-place has no effect on bcast binomial"),
            ("bcast knomial --ranks 7 --radix 8", "--radix 8: there are but 7 ranks"),
            ("allreduce ring --ranks 7 --grid 7", "--grid has no effect on allreduce ring"),
            (
                "allgather neighbor_exchange --ranks 7",
                "allgather neighbor_exchange cannot serve this: the number of ranks is odd",
            ),
            (
                "bcast inter_leaders --ranks 7",
                "bcast inter_leaders cannot serve this: the communicator has but one group",
            ),
            ("bcast inter_leaders --ranks 7 --remote 7", "--remote 7: each group needs a rank of the 7"),
            ("neighbor_alltoall linear --ranks 7 --grid 2x3", "--grid 2x3 does not have 7 places"),
            (
                "neighbor_alltoall linear --ranks 7 --grid 7x",
                "--grid 7x: expected numbers from 1 up, as in 4x3",
            ),
        ] {
            assert_eq!(read(line).unwrap_err(), expected, "{line}");
        }
    }
}
