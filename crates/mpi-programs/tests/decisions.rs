//! The component decides as `rustcoll rules explain` says.

mod common;

use common::{compiled, mpirun, root, run};
use std::collections::HashSet;
use std::path::Path;
use std::process::Command;

const CALLS: usize = 1000;

/// How the program introduces a call.
const PROBLEM: &str = "problem: ";

/// Who served a call, and where the rule stands that decided it.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Decision {
    algorithm: String,
    origin: String,
}

/// What rank 0 logs of a call: `…: allreduce of 8 bytes by ring (file:3:1)`.
fn logged(line: &str) -> Option<Decision> {
    let (_, call) = line.split_once("rustcoll: rank 0 of ")?;
    let (_, decision) = call.split_once(" bytes by ")?;
    let (algorithm, origin) = decision.strip_suffix(')')?.split_once(" (")?;
    let algorithm = if algorithm == "the component below" { "below" } else { algorithm };
    Some(Decision { algorithm: algorithm.to_owned(), origin: origin.to_owned() })
}

/// What the command says of a call.
fn explained(rules: &Path, options: &str) -> Decision {
    let mut command = Command::new(root().join("build/rustcoll"));
    command.args(["rules", "explain"]).arg(rules).args(options.split(' '));
    let output = command.output().expect("run make first: the command is not built");
    let text = String::from_utf8_lossy(&output.stdout);
    let matching = text.lines().find_map(|line| line.strip_suffix(": matches"));
    let (origin, algorithm) =
        matching.and_then(|rule| rule.rsplit_once(": ")).unwrap_or_else(|| panic!("{options}:\n{text}"));
    Decision { algorithm: algorithm.to_owned(), origin: origin.to_owned() }
}

#[test]
fn a_thousand_random_calls_are_decided_as_explained() {
    let rules = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/decisions.toml");
    let mut command = mpirun(8);
    command.env("OMPI_MCA_coll_rustcoll_rules_file", &rules).env("OMPI_MCA_coll_rustcoll_verbose", "60");
    let job = run(command.arg(compiled("decisions")).args([&CALLS.to_string(), "1"]), 120);
    job.assert(job.success, "the program failed");
    let (mut decisions, mut problem, mut calls) = (HashSet::new(), None, 0);
    for line in job.text.lines() {
        if let Some(options) = line.strip_prefix(PROBLEM) {
            assert_eq!(problem.replace(options), None, "nothing was logged");
        } else if let Some(options) = problem
            && let Some(decision) = logged(line)
        {
            assert_eq!(decision, explained(&rules, options), "{options}");
            decisions.insert(decision);
            (problem, calls) = (None, calls + 1);
        }
    }
    assert_eq!(calls, CALLS);
    // Every rule of the file decided a call, but for the one that asks for several nodes; and many built-in ones did.
    let of_file = decisions.iter().filter(|decision| decision.origin.starts_with(&*rules.to_string_lossy()));
    assert_eq!(of_file.count(), 21, "{decisions:#?}");
    assert!(decisions.len() > 40, "{decisions:#?}");
}
