//! The component decides as `rustcoll rules explain` says, with random rules and random calls.

mod common;

use common::{compiled, mpirun, run};
use expected_results::random::Generator;
use rustcoll::algorithms::{Collective, Cut, Parameter};
use rustcoll::selection::{Call, Neighbourhood, Rules, Verdict, keys};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The jobs, each with its own rule file: how many ranks pretend to be on each node (0: all are on one), and whether messages
/// between nodes go by TCP.
const JOBS: [(usize, bool); 6] = [(0, false), (0, true), (3, false), (3, true), (2, true), (5, false)];

/// The calls of one job.
const CALLS: usize = 300;

/// The ranks of a job.
const RANKS: usize = 9;

const CONDITIONS: [&str; 29] = [
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
    "groups=1",
    "groups=2",
    "nodes=1",
    "nodes=2..",
    "nodes=3..",
    "ranks_per_node=3..",
    "neighbours=..7",
    "neighbours=8",
    "dimensions=2",
    "tcp",
    "tcp=false",
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

/// Returns rules of one collective, none of which is unreachable. Most conditions are faults in most collectives.
fn random_rules(collective: Collective, random: &mut Generator) -> Rules {
    let algorithms: Vec<_> =
        collective.algorithms().map(|algorithm| algorithm.name).chain(["below"]).collect();
    let (mut line, mut rules) = (String::new(), Rules::default());
    for _ in 0..60 {
        let conditions: Vec<_> = (0..1 + random.below(3)).map(|_| drawn(&CONDITIONS, random)).collect();
        let longer = format!("{line}; {} -> {}", conditions.join(" "), drawn(&algorithms, random));
        if let Ok(read) = Rules::parse_line("random", collective, &longer) {
            (line, rules) = (longer, read);
        }
    }
    rules
}

/// Writes a file with rules of all collectives, and returns its path.
fn random_file(number: usize) -> PathBuf {
    let mut random = Generator::new(number as u64);
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

/// Returns what rules know of the call that the program describes. `are_told`: whether earlier calls made the ranks exchange what MPI
/// does not tell them.
fn described(words: &str, goes_by_tcp: bool, are_told: bool) -> Call {
    let value = |key: &str| words.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='));
    let number = |key: &str| value(key).map(|value| value.parse::<usize>().unwrap());
    let is = |key: &str| number(key) == Some(1);
    let collective = value("collective").and_then(Collective::named).unwrap();
    let (is_blocking, nodes) = (is("blocking"), number("nodes"));
    let bytes = number("bytes").unwrap();
    // MPI itself makes such calls. The program makes a communicator for each call among neighbours, on which there are no earlier ones.
    let may_be_mpis_own =
        bytes <= 64 && matches!(collective, Collective::Allreduce | Collective::Reduce | Collective::Bcast);
    let may_be_told = !may_be_mpis_own && collective.cut() != Cut::Edges;
    let knows_nodes = nodes.is_some_and(|nodes| nodes == 1 || is_blocking || are_told && may_be_told);
    Call {
        remote: number("remote").unwrap_or(0),
        root: number("root"),
        commutative: !is("ordered"),
        predefined: collective.reduces().then(|| is("predefined")),
        in_place: is("in_place"),
        shares_memory: knows_nodes,
        copies_singly: knows_nodes,
        calls_others: nodes.is_some() && is_blocking,
        is_on_several_nodes: nodes.is_some_and(|nodes| nodes > 1),
        nodes: nodes.filter(|_| knows_nodes),
        ranks_per_node: number("ranks_per_node").filter(|_| knows_nodes),
        goes_by_tcp: goes_by_tcp && nodes != Some(1),
        knows_neighbours_of_node: collective.cut() == Cut::Edges
            && (is_blocking || (is("cartesian") && nodes == Some(1))),
        neighbourhood: (is("grid") && is_blocking).then_some(Neighbourhood { neighbours: 8, dimensions: 2 }),
        ..Call::new(collective, number("ranks").unwrap(), bytes)
    }
}

/// Returns the decision that the library explains for a call, as the command prints it.
fn explained(rules: &Rules, call: &Call) -> Decision {
    let explanations = rules.explain(call);
    let deciding = explanations.iter().find(|explanation| explanation.verdict == Verdict::Matches);
    let algorithm = deciding.and_then(|one| one.rule.choice.algorithm()).map_or("below", |one| one.name);
    let origin = deciding.map_or("no rule".to_owned(), |one| one.rule.origin.to_string());
    Decision { algorithm: algorithm.to_owned(), origin }
}

/// Returns the keys of the rule that begins at a place of a file; none if the place is elsewhere.
fn keys_at(origin: &str, file: &str, text: &str) -> Option<Vec<String>> {
    let place = origin.strip_prefix(file)?.strip_prefix(':')?;
    let line: usize = place.split(':').next()?.parse().ok()?;
    let lines = text.lines().skip(line).map_while(|line| line.split_once(" = "));
    Some(lines.map(|(key, _)| key.to_owned()).collect())
}

/// Makes the calls of a job. Returns the keys of each rule of the job's file that decided one.
fn decided_as_explained(number: usize, program: &Path) -> Vec<Vec<String>> {
    let ((ranks_on_node, goes_by_tcp), file) = (JOBS[number], random_file(number));
    let text = fs::read_to_string(&file).unwrap();
    let name = file.to_str().unwrap();
    let rules = Rules::parse(name, &text).unwrap().followed_by(Rules::built_in());
    // Only rank 0 logs, because mpirun may mix up lines of several ranks.
    let mut command = mpirun(1);
    let tcp = if goes_by_tcp { "on" } else { "off" };
    command.env("OMPI_MCA_coll_rustcoll_rules_file", &file).env("OMPI_MCA_coll_rustcoll_tcp", tcp);
    command.env("OMPI_MCA_coll_rustcoll_no_idle_neighbours", "on");
    command.args(["-x", "OMPI_MCA_coll_rustcoll_verbose=60"]);
    let arguments = [CALLS, number, ranks_on_node].map(|number| number.to_string());
    let others = (RANKS - 1).to_string();
    command.arg(program).args(&arguments).args([":", "-n", &others]).arg(program).args(&arguments);
    let job = run(&mut command);
    job.assert(job.success, "the program failed");
    let (mut problem, mut calls, mut deciding) = (None, 0, Vec::new());
    for line in job.text.lines() {
        if let Some(words) = line.strip_prefix(PROBLEM) {
            assert_eq!(problem.replace(words), None, "nothing was logged");
        } else if let Some(words) = problem
            && let Some(decision) = logged(line)
        {
            let explained =
                [false, true].map(|are_told| explained(&rules, &described(words, goes_by_tcp, are_told)));
            assert!(explained.contains(&decision), "{name}: {words}: {decision:?}, not {explained:?}");
            deciding.extend(keys_at(&decision.origin, name, &text));
            (problem, calls) = (None, calls + 1);
        }
    }
    job.assert(calls == CALLS, &format!("{calls} calls were logged, not {CALLS}"));
    deciding
}

/// Returns the keys of all conditions.
fn conditions() -> BTreeSet<&'static str> {
    let is_parameter = |key: &&str| {
        Parameter::ALL.iter().any(|parameter| parameter.name() == *key || parameter.aliases().contains(key))
    };
    let all = Collective::ALL.into_iter().flat_map(keys);
    all.filter(|key| *key != "algorithm" && !is_parameter(key)).collect()
}

#[test]
fn random_calls_are_decided_as_explained() {
    let program = compiled("decisions");
    let deciding: Vec<_> =
        (0..JOBS.len()).flat_map(|number| decided_as_explained(number, &program)).collect();
    let (by_files, all) = (deciding.len(), JOBS.len() * CALLS);
    assert!(by_files > all / 4 && by_files < all, "{by_files} of {all} calls were decided by the files");
    let asked: BTreeSet<_> = deciding.iter().flatten().map(String::as_str).collect();
    let missing: Vec<_> = conditions().difference(&asked).copied().collect();
    assert!(missing.is_empty(), "no rule with {missing:?} decided a call");
}
