//! Compares every algorithm's schedules at a few sizes with committed ones. `tests/snapshots.txt` has a
//! digest of each. `tests/snapshots` has the text of a dozen that are worth reading.
//!
//! Run with UPDATE_SNAPSHOTS=1 to rewrite the files after an intended change. To commit the text of another
//! case, first create an empty file of the case's name in `tests/snapshots`.

use rustcoll::algorithms::{Algorithm, Cut, Graph, Nodes, Parameter, Problem, REGISTRY, Stencil};
use rustcoll::hash::hash;
use rustcoll::verify::{grids, multigraphs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const SIZES: [usize; 2] = [5, 8];

struct Case {
    /// The programs of all ranks, with a blank line between them.
    text: String,
    /// The command that prints the programs, if there is one.
    command: Option<String>,
}

impl Case {
    fn new(algorithm: &Algorithm, problem: &Problem, options: Option<&str>) -> Case {
        let texts: Vec<String> = algorithm.programs(problem).iter().map(ToString::to_string).collect();
        let Problem { size, root, radix, .. } = problem;
        let (collective, name) = (algorithm.contract().name(), algorithm.name);
        // The command refuses options without effect.
        let option = |has_effect, text| if has_effect { text } else { String::new() };
        let root = option(algorithm.contract().is_rooted(), format!(" --root {root}"));
        let radix = option(algorithm.parameters.contains(&Parameter::Radix), format!(" --radix {radix}"));
        let command =
            |options| format!("rustcoll schedule {collective} {name} --ranks {size}{root}{radix}{options}");
        Case { text: texts.join("\n"), command: options.map(command) }
    }

    fn digest(&self) -> String {
        format!("{:016x}", hash(self.text.as_bytes()))
    }
}

#[test]
fn schedules_are_as_committed() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let (list, directory) = (tests.join("snapshots.txt"), tests.join("snapshots"));
    let cases = cases();
    if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        rewrite(&list, &directory, &cases);
    }
    let committed = fs::read_to_string(&list).expect("the list of digests");
    let mut faults = changed_digests(&committed, &cases);
    faults.extend(readable(&directory).iter().filter_map(|path| changed_text(path, &cases)));
    assert!(
        faults.is_empty(),
        "{}\nA command prints the programs as they are now; the command of a build before the change prints what they were.\n\
         If the change is intended, run with UPDATE_SNAPSHOTS=1 to rewrite tests/snapshots.txt and tests/snapshots.",
        faults.join("\n")
    );
}

#[test]
fn what_differs_is_named() {
    let case = |text: &str| Case { text: text.into(), command: Some(format!("print {text}")) };
    let cases = BTreeMap::from(["same", "changed", "new"].map(|name| (name.to_string(), case(name))));
    let digest = |text: &str| case(text).digest();
    let committed =
        format!("same {}\nchanged {}\ngone {}\n", digest("same"), digest("other"), digest("gone"));
    let expected = [
        "changed differs: print changed",
        "new is not in tests/snapshots.txt: print new",
        "gone: no algorithm has this case",
    ];
    assert_eq!(changed_digests(&committed, &cases), expected);
    assert_eq!(first_difference("a\nb\n", "a\nc\n").unwrap(), r#"line 2 was "b", is "c""#);
    assert_eq!(first_difference("a\n", "a\nc\n").unwrap(), r#"line 2 was nothing, is "c""#);
    assert_eq!(first_difference("a\n", "a\n"), None);
}

/// Returns all cases by name.
/// Two neighbouring ranks share a node.
fn in_pairs(size: usize) -> Nodes {
    (0..size as u32).map(|rank| rank / 2).collect()
}

fn cases() -> BTreeMap<String, Case> {
    let mut cases = BTreeMap::new();
    for algorithm in REGISTRY {
        let remote = |size| if algorithm.is_for_two_groups() { (size - 1) / 2 } else { 0 };
        for size in SIZES.into_iter().filter(|&size| algorithm.serves(size, remote(size), true).is_ok()) {
            let remote = remote(size);
            let root = if algorithm.contract().is_rooted() { 3 } else { 0 };
            // Three is the default radix of both sizes. It is fixed here, so that another default changes no digest.
            let problem = Problem { remote, root, radix: 3, ..Problem::new(size) };
            let ranks = if remote == 0 { size.to_string() } else { format!("{}+{remote}", size - remote) };
            let name = format!("{}-{}-p{ranks}", algorithm.contract().name(), algorithm.name);
            let mut add = |suffix: &str, problem: Problem, options: Option<&str>| {
                cases.insert(format!("{name}{suffix}"), Case::new(algorithm, &problem, options));
            };
            if algorithm.contract().cut() == Cut::Edges {
                let (torus, lengths) = torus(size);
                let options = format!(" --grid {lengths} --periodic");
                if algorithm.takes_nodes() {
                    let problem = Problem { graph: torus.clone(), nodes: in_pairs(size), ..problem.clone() };
                    add("-torus-nodes", problem, Some(&format!("{options} --ranks-per-node 2")));
                }
                add("-torus", Problem { graph: torus, ..problem.clone() }, Some(&options));
                if algorithm.takes_stencil() {
                    let corners = Graph::of_stencil(Stencil::around(&grids(size)[4]));
                    add("-corners", Problem { graph: corners, ..problem }, Some(&(options + " --corners")));
                    continue;
                }
                // Repeated edges, and ranks that are their own neighbours.
                add("-multigraph", Problem { graph: multigraphs(size)[2].clone(), ..problem }, None);
                continue;
            }
            let groups = if remote == 0 { String::new() } else { format!(" --remote {remote}") };
            add("", problem.clone(), Some(&groups));
            if algorithm.takes_nodes() {
                add(
                    "-nodes",
                    Problem { nodes: in_pairs(size), ..problem.clone() },
                    Some(" --ranks-per-node 2"),
                );
            }
            if algorithm.cuts_segments() {
                add("-segments3", Problem { segments: 3, ..problem }, Some(" --segments 3"));
            }
        }
    }
    cases
}

/// Returns a two-dimensional grid that is periodic in both dimensions, and its lengths.
fn torus(size: usize) -> (Graph, String) {
    let grid = &grids(size)[4];
    let lengths: Vec<String> = grid.iter().map(|dimension| dimension.length.to_string()).collect();
    (Graph::grid(grid), lengths.join("x"))
}

/// Returns how the cases differ from a list of names and digests.
fn changed_digests(committed: &str, cases: &BTreeMap<String, Case>) -> Vec<String> {
    let committed: BTreeMap<&str, &str> =
        committed.lines().map(|line| line.split_once(' ').expect("a name and a digest")).collect();
    let changed = cases.iter().filter_map(|(name, case)| {
        let difference = match committed.get(name.as_str()) {
            Some(&digest) if digest == case.digest() => return None,
            Some(_) => "differs",
            None => "is not in tests/snapshots.txt",
        };
        let command = case
            .command
            .as_deref()
            .unwrap_or("no command makes this graph; another size may be in tests/snapshots");
        Some(format!("{name} {difference}: {command}"))
    });
    let gone = committed.keys().filter(|&&name| !cases.contains_key(name));
    changed.chain(gone.map(|name| format!("{name}: no algorithm has this case"))).collect()
}

/// Returns the files of programs that are worth reading.
fn readable(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).expect("the directory of snapshots");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths
}

fn case_of<'a>(path: &Path, cases: &'a BTreeMap<String, Case>) -> Option<&'a Case> {
    path.extension().filter(|&extension| extension == "txt")?;
    cases.get(path.file_stem()?.to_str()?)
}

/// Returns how a file differs from the case with its name.
fn changed_text(path: &Path, cases: &BTreeMap<String, Case>) -> Option<String> {
    let difference = match case_of(path, cases) {
        Some(case) => first_difference(&fs::read_to_string(path).expect("a snapshot"), &case.text)?,
        None => "no algorithm has this case".to_string(),
    };
    Some(format!("{}: {difference}", path.display()))
}

/// Returns the first difference between the lines of two texts.
fn first_difference(was: &str, is: &str) -> Option<String> {
    let (mut was, mut is) = (was.lines(), is.lines());
    let mut lines = (1..)
        .map(|number| (number, was.next(), is.next()))
        .take_while(|(_, was, is)| was.is_some() || is.is_some());
    let (number, was, is) = lines.find(|(_, was, is)| was != is)?;
    let shown = |line: Option<&str>| line.map_or("nothing".to_string(), |line| format!("{line:?}"));
    Some(format!("line {number} was {}, is {}", shown(was), shown(is)))
}

fn rewrite(list: &Path, directory: &Path, cases: &BTreeMap<String, Case>) {
    let lines = cases.iter().map(|(name, case)| format!("{name} {}\n", case.digest()));
    fs::write(list, lines.collect::<String>()).expect("writing the list of digests");
    for path in readable(directory) {
        match case_of(&path, cases) {
            Some(case) => fs::write(&path, &case.text).expect("writing a snapshot"),
            None => fs::remove_file(&path).expect("removing a snapshot of no case"),
        }
    }
}
