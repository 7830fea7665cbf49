//! Converts between problems and the options of a command line.

use crate::command_line::ProblemOptions;
use crate::failure::Failure;
use rustcoll::algorithms::description::{self, Description, Misdescribed};
use rustcoll::algorithms::{Algorithm, Collective, Cut, Parameter, Problem};
use rustcoll::selection::nearest;
use std::fmt::Write;

/// Returns the algorithm that has this name or alias. Fails if there is none.
pub fn algorithm(collective: Collective, name: &str) -> Result<&'static Algorithm, Failure> {
    let unknown = || {
        let what = format!("{} algorithm", collective.name());
        let names = collective.algorithms().flat_map(names);
        Failure::Usage(nearest::unknown(&what, name, names))
    };
    collective.algorithm(name).ok_or_else(unknown)
}

/// Returns all names of an algorithm.
pub fn names(algorithm: &'static Algorithm) -> impl Iterator<Item = &'static str> {
    [algorithm.name].into_iter().chain(algorithm.aliases.iter().copied())
}

/// Returns the problem that options describe. Fails if the algorithm cannot serve it, or an option has no effect.
pub fn problem(algorithm: &Algorithm, options: &ProblemOptions) -> Result<Problem, Failure> {
    let number = |option: Option<u32>| option.map(|number| number as usize);
    let description = Description {
        ranks: options.ranks,
        root: options.root,
        radix: number(options.radix),
        segments: number(options.segments),
        window: number(options.window),
        in_place: options.in_place,
        remote: options.remote,
        ranks_per_node: options.ranks_per_node,
        grid: options.grid.clone(),
        periodic: options.periodic,
        corners: options.corners,
    };
    described_problem(algorithm, &description)
}

/// Returns the problem of a description. Errors name the options of the command line.
pub fn described_problem(algorithm: &Algorithm, description: &Description) -> Result<Problem, Failure> {
    description.problem(algorithm).map_err(as_usage)
}

/// Returns a rank, if it is below `size`.
pub fn below(rank: usize, size: usize, option: &'static str) -> Result<usize, Failure> {
    description::below(rank, size, option).map_err(as_usage)
}

/// Converts an error to the words of the command line.
fn as_usage(wrong: Misdescribed) -> Failure {
    Failure::Usage(match wrong {
        Misdescribed::Field { .. } => format!("--{wrong}"),
        Misdescribed::Unserved { .. } => wrong.to_string(),
    })
}

/// Returns a problem in the words of `rustcoll schedule`, as far as its options can express the problem.
pub fn described(algorithm: &Algorithm, problem: &Problem) -> String {
    let Problem { size, remote, root, in_place, radix, segments, window, nodes, graph } = problem;
    let mut text = format!("{} {} --ranks {size}", algorithm.contract().name(), algorithm.name);
    let mut add = |is_needed, option: String| {
        if is_needed {
            text.push_str(" --");
            text.push_str(&option);
        }
    };
    add(*remote > 0, format!("remote {remote}"));
    add(algorithm.contract().is_rooted(), format!("root {root}"));
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
    if algorithm.contract().cut() == Cut::Edges {
        let _ = write!(text, ", {graph:?}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command_line::{Command, CommandLine};
    use clap::Parser;
    use rustcoll::algorithms::{Dimension, Graph, Stencil};

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
        let (_, problem) =
            read("neighbor_alltoall combining --ranks 9 --grid 3x3 --periodic --corners").unwrap();
        assert_eq!(problem.graph, Graph::of_stencil(Stencil::around(&[dimension(3); 2])));
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
                "allgather and allgatherv neighbor_exchange cannot serve this: the number of ranks is odd",
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
            (
                "neighbor_alltoall linear --ranks 1 --grid 1x1x1x1x1x1x1x1 --corners",
                "--grid 1x1x1x1x1x1x1x1: each rank would have more than 4096 neighbours",
            ),
        ] {
            assert_eq!(read(line).unwrap_err(), expected, "{line}");
        }
    }
}
