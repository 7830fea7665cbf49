//! `rustcoll rules explain` and the component agree on which rule decides, on random rules and calls.

mod common;

use common::{compiled, mpirun, root, run};
use mpi_programs::random::Generator;
use rustcoll::algorithms::Collective;
use rustcoll::selection::Rules;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Ranks of the job. Calls are made on fewer.
const RANKS: usize = 7;

/// Rule files, each in a job of its own, and the calls that are made under one.
const FILES: usize = 5;
const CALLS: usize = 200;

const COLLECTIVES: [Collective; 8] = [
    Collective::Allgather,
    Collective::Allreduce,
    Collective::Alltoall,
    Collective::Bcast,
    Collective::Gather,
    Collective::Reduce,
    Collective::ReduceScatterBlock,
    Collective::Scan,
];

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

/// A call, and how the program and the command are told of it.
struct Problem {
    collective: Collective,
    ranks: usize,
    bytes: usize,
    root: usize,
    operator: usize,
    in_place: bool,
}

impl Problem {
    fn random(random: &mut Generator) -> Problem {
        let ranks = 2 + random.below(RANKS - 2);
        let collective = COLLECTIVES[random.below(COLLECTIVES.len())];
        let may_be_in_place =
            [Collective::Allgather, Collective::Allreduce, Collective::Alltoall].contains(&collective);
        let bytes = [1, 64, 65, 100, 511, 512, 1 << 10, 1025, 4 << 10, 4097, 20_000, 64 << 10];
        Problem {
            collective,
            ranks,
            bytes: bytes[random.below(bytes.len())],
            root: if collective.is_rooted() { random.below(ranks) } else { 0 },
            operator: if collective.reduces() { random.below(3) } else { 0 },
            in_place: may_be_in_place && random.below(2) == 0,
        }
    }

    fn for_program(&self) -> String {
        let Problem { collective, ranks, bytes, root, operator, in_place } = self;
        format!("{} {ranks} {bytes} {root} {operator} {}\n", collective.name(), u8::from(*in_place))
    }

    /// All ranks are on one node.
    fn for_command(&self) -> String {
        let Problem { collective, ranks, bytes, root, operator, in_place } = self;
        let mut line = format!("--collective {} --ranks {ranks} --bytes {bytes}", collective.name());
        line += &format!(" --nodes 1 --ranks-per-node {ranks}");
        if collective.is_rooted() {
            line += &format!(" --root {root}");
        }
        if collective.reduces() {
            line += &format!(" --predefined={}", *operator == 0);
        }
        if *operator == 2 {
            line += " --not-commutative";
        }
        if *in_place {
            line += " --in-place";
        }
        line
    }

    /// The rule that decides by what the command says, and the algorithm.
    fn explained(&self, file: &Path) -> (String, String) {
        let mut command = Command::new(root().join("build/rustcoll"));
        command.args(["rules", "explain"]).arg(file).args(self.for_command().split(' '));
        let output = command.output().expect("make has built the command");
        assert!(output.status.success(), "{command:?}: {output:?}");
        let text = String::from_utf8(output.stdout).unwrap();
        let deciding = text.lines().find_map(|line| line.strip_suffix(": matches"));
        let (origin, algorithm) = deciding.and_then(|line| line.rsplit_once(": ")).unwrap();
        (origin.to_owned(), algorithm.to_owned())
    }
}

/// Rules of all collectives that can decide.
fn random_rules(random: &mut Generator) -> Rules {
    let mut all = Rules::default();
    for collective in COLLECTIVES {
        let mut line = String::new();
        let mut rules = Rules::default();
        for _ in 0..10 {
            let conditions: Vec<&str> =
                (0..random.below(4)).map(|_| CONDITIONS[random.below(CONDITIONS.len())]).collect();
            let algorithms: Vec<&str> =
                collective.algorithms().map(|algorithm| algorithm.name).chain(["below"]).collect();
            let algorithm = algorithms[random.below(algorithms.len())];
            let longer = format!("{line}; {} -> {algorithm}", conditions.join(" "));
            if let Ok(read) = Rules::parse_line("random", collective, &longer) {
                (line, rules) = (longer, read);
            }
        }
        all = all.followed_by(&rules);
    }
    all
}

/// The rule that decided each call, and the algorithm, by what the component logged. All ranks are told of a call before it
/// is made; what follows it are the collectives of which a component below makes it.
fn logged(text: &str) -> Vec<(String, String)> {
    let on_all = format!("rank 0 of {RANKS},");
    let mut was_on_all = false;
    let mut calls = Vec::new();
    for line in text.lines().filter(|line| line.contains("rank 0 of ")) {
        let Some((_, decided)) = line.split_once(" bytes by ") else { continue };
        let is_on_all = line.contains(&on_all);
        if was_on_all && !is_on_all {
            let (algorithm, origin) = decided.trim_end().strip_suffix(')').unwrap().split_once(" (").unwrap();
            let algorithm = if algorithm == "the component below" { "below" } else { algorithm };
            calls.push((origin.to_owned(), algorithm.to_owned()));
        }
        was_on_all = is_on_all;
    }
    calls
}

#[test]
fn explanations_are_what_the_component_does() {
    let program = compiled("explain");
    let mut by_user_s_rules = 0;
    for number in 0..FILES {
        let mut random = Generator::new(number as u64);
        let place = |name: &str| Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}-{number}"));
        let (file, input) = (place("explain.toml"), place("explain.in"));
        fs::write(&file, random_rules(&mut random).to_native()).unwrap();
        let problems: Vec<Problem> = (0..CALLS).map(|_| Problem::random(&mut random)).collect();
        fs::write(&input, problems.iter().map(Problem::for_program).collect::<String>()).unwrap();

        let mut shell = Command::new("sh");
        let command = mpirun(RANKS);
        shell.args(["-c", "input=$1; shift; exec \"$@\" <\"$input\"", "sh"]).arg(&input);
        shell.arg(command.get_program()).args(command.get_args()).arg(&program);
        shell.env("OMPI_MCA_coll_rustcoll_rules_file", &file).env("OMPI_MCA_coll_rustcoll_verbose", "60");
        let job = run(&mut shell, 120);
        job.assert(job.success, "the program failed");

        let logged = logged(&job.text);
        job.assert(logged.len() == CALLS, &format!("{} calls were logged, not {CALLS}", logged.len()));
        for (problem, logged) in problems.iter().zip(logged) {
            let explained = problem.explained(&file);
            assert_eq!(logged, explained, "{}: {}", file.display(), problem.for_command());
            by_user_s_rules += usize::from(!logged.0.starts_with("the built-in rules"));
        }
    }
    let all = FILES * CALLS;
    assert!(
        by_user_s_rules > all / 4 && by_user_s_rules < all,
        "{by_user_s_rules} of {all} by the user's rules"
    );
}
