//! The component decides as `rustcoll rules explain` says, with random rules and random calls.

mod common;

use common::{compiled, mpirun, root, run};
use expected_results::random::Generator;
use rustcoll::algorithms::Collective;
use rustcoll::selection::Rules;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The number of rule files, each for its own job, and the calls of one job.
const FILES: u64 = 5;
const CALLS: usize = 200;

const CONDITIONS: [&str; 20] = [
    "ranks=3..4",
    "ranks=2,5..",
    "ranks=6",
    "bytes=..64",
    "bytes=100..4K",
    "bytes=1K..64K",
    "bytes=1,512..",
    "power_of_two",
    "power_of_two=false",
    "commutative",
    "commutative=false",
    "predefined",
    "predefined=false",
    "in_place",
    "in_place=false",
    "root=0",
    "root=1..",
    "nodes=2..",
    "ranks_per_node=3..",
    "when=\"delta_expo_max < log2(bytes)/2 - 2.5 or bytes > 300 * ranks\"",
];

/// The prefix of the line that describes the next call.
const PROBLEM: &str = "problem: ";

/// The algorithm that served a call, and the place of the rule that chose it.
#[derive(Debug, PartialEq, Eq)]
struct Decision {
    algorithm: String,
    origin: String,
}

fn drawn<T: Copy>(words: &[T], random: &mut Generator) -> T {
    words[random.below(words.len())]
}

/// Returns rules of one collective, none of which is unreachable.
fn random_rules(collective: Collective, random: &mut Generator) -> Rules {
    let algorithms: Vec<_> =
        collective.algorithms().map(|algorithm| algorithm.name).chain(["below"]).collect();
    let (mut line, mut rules) = (String::new(), Rules::default());
    for _ in 0..10 {
        let conditions: Vec<_> = (0..random.below(4)).map(|_| drawn(&CONDITIONS, random)).collect();
        let longer = format!("{line}; {} -> {}", conditions.join(" "), drawn(&algorithms, random));
        if let Ok(read) = Rules::parse_line("random", collective, &longer) {
            (line, rules) = (longer, read);
        }
    }
    rules
}

/// Writes a file with rules of all collectives, and returns its path.
fn random_file(number: u64) -> PathBuf {
    let mut random = Generator::new(number);
    let of_each = Collective::ALL.map(|collective| random_rules(collective, &mut random));
    let all = of_each.iter().fold(Rules::default(), |all, rules| all.followed_by(rules));
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("decisions-{number}.toml"));
    fs::write(&file, all.to_native()).unwrap();
    file
}

/// Returns the decision in a line of rank 0's log: `…: allreduce of 8 bytes by ring (file:3:1)`.
fn logged(line: &str) -> Option<Decision> {
    let (_, call) = line.split_once("rustcoll: rank 0 of ")?;
    let (_, decision) = call.split_once(" bytes by ")?;
    let (algorithm, origin) = decision.strip_suffix(')')?.split_once(" (")?;
    let algorithm = if algorithm == "the component below" { "below" } else { algorithm };
    Some(Decision { algorithm: algorithm.to_owned(), origin: origin.to_owned() })
}

/// Returns the decision that the command explains for a call.
fn explained(file: &Path, options: &str) -> Decision {
    let mut command = Command::new(root().join("build/rustcoll"));
    command.args(["rules", "explain"]).arg(file).args(options.split(' '));
    let output = command.output().expect("run make first: the command is not built");
    let text = String::from_utf8_lossy(&output.stdout);
    let matching = text.lines().find_map(|line| line.strip_suffix(": matches"));
    let (origin, algorithm) =
        matching.and_then(|rule| rule.rsplit_once(": ")).unwrap_or_else(|| panic!("{options}:\n{text}"));
    Decision { algorithm: algorithm.to_owned(), origin: origin.to_owned() }
}

/// Makes calls with a rule file. Returns how many of them its rules decided.
fn decided_as_explained(file: &Path, program: &Path, seed: u64) -> usize {
    // Only rank 0 logs, because mpirun may mix up lines of several ranks.
    let mut command = mpirun(1);
    command.env("OMPI_MCA_coll_rustcoll_rules_file", file).args(["-x", "OMPI_MCA_coll_rustcoll_verbose=60"]);
    let arguments = [CALLS.to_string(), seed.to_string()];
    command.arg(program).args(&arguments).args([":", "-n", "7"]).arg(program).args(&arguments);
    let job = run(&mut command);
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    let (mut problem, mut calls, mut by_file) = (None, 0, 0);
    for line in job.text.lines() {
        if let Some(options) = line.strip_prefix(PROBLEM) {
            assert_eq!(problem.replace(options), None, "nothing was logged");
        } else if let Some(options) = problem
            && let Some(decision) = logged(line)
        {
            assert_eq!(decision, explained(file, options), "{}: {options}", file.display());
            by_file += usize::from(decision.origin.starts_with(&*file.to_string_lossy()));
            (problem, calls) = (None, calls + 1);
        }
    }
    job.assert(calls == CALLS, &format!("{calls} calls were logged, not {CALLS}"));
    by_file
}

#[test]
fn a_thousand_random_calls_are_decided_as_explained() {
    let program = compiled("decisions");
    let by_files: usize =
        (0..FILES).map(|number| decided_as_explained(&random_file(number), &program, number)).sum();
    let all = FILES as usize * CALLS;
    assert!(by_files > all / 4 && by_files < all, "{by_files} of {all} calls were decided by the files");
}
