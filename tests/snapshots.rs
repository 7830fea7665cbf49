//! Every algorithm's schedules at a few sizes, compared with committed text files.
//!
//! Run with UPDATE_SNAPSHOTS=1 to rewrite the files after an intended change.

use rustcoll::algorithms::{Algorithm, Cut, Graph, Problem, REGISTRY};
use rustcoll::verify::{grids, multigraphs};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

const SIZES: [usize; 2] = [5, 8];

#[test]
fn schedules_are_as_committed() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots");
    let snapshots = snapshots();
    if env::var_os("UPDATE_SNAPSHOTS").is_some_and(|value| value == "1") {
        rewrite(&directory, &snapshots);
    }
    let changed = snapshots.iter().filter_map(|(name, text)| {
        difference(&directory.join(name), text).map(|difference| format!("{name}: {difference}"))
    });
    let stale = stale(&directory, &snapshots)
        .into_iter()
        .map(|path| format!("{}: no algorithm claims this file", path.display()));
    let faults: Vec<String> = changed.chain(stale).collect();
    assert!(
        faults.is_empty(),
        "{}\nIf this is intended, run with UPDATE_SNAPSHOTS=1 to rewrite the files.",
        faults.join("\n")
    );
}

/// The text of every snapshot, by the name of its file.
fn snapshots() -> BTreeMap<String, String> {
    let mut snapshots = BTreeMap::new();
    for algorithm in REGISTRY {
        let remote = |size| if algorithm.is_for_two_groups() { (size - 1) / 2 } else { 0 };
        for size in SIZES.into_iter().filter(|&size| algorithm.serves(size, remote(size), true).is_ok()) {
            let remote = remote(size);
            let root = if algorithm.collective.is_rooted() { 3 } else { 0 };
            // Three is the default radix at both sizes; it is fixed here lest the files follow a change of the default.
            let problem = Problem { remote, root, radix: 3, ..Problem::new(size) };
            let ranks = if remote == 0 { size.to_string() } else { format!("{}+{remote}", size - remote) };
            let name = format!("{}-{}-p{ranks}", algorithm.collective.name(), algorithm.name);
            if algorithm.collective.cut() == Cut::Edges {
                for (kind, graph) in topologies(size) {
                    let problem = Problem { graph, ..problem.clone() };
                    snapshots.insert(format!("{name}-{kind}.txt"), schedules(algorithm, &problem));
                }
                continue;
            }
            snapshots.insert(format!("{name}.txt"), schedules(algorithm, &problem));
            if algorithm.takes_nodes() {
                // Neighbours share a node.
                let nodes = (0..size as u32).map(|rank| rank / 2).collect();
                let problem = Problem { nodes, ..problem.clone() };
                snapshots.insert(format!("{name}-nodes.txt"), schedules(algorithm, &problem));
            }
            if algorithm.cuts_segments() {
                let problem = Problem { segments: 3, ..problem };
                snapshots.insert(format!("{name}-segments3.txt"), schedules(algorithm, &problem));
            }
        }
    }
    snapshots
}

/// A grid that is periodic in both dimensions, and a graph with repeated edges and ranks that are their own neighbours.
fn topologies(size: usize) -> [(&'static str, Graph); 2] {
    [("torus", Graph::grid(&grids(size)[4])), ("multigraph", multigraphs(size)[2].clone())]
}

/// The schedules of all ranks, a blank line between them.
fn schedules(algorithm: &Algorithm, problem: &Problem) -> String {
    let texts: Vec<String> = algorithm.programs(problem).iter().map(ToString::to_string).collect();
    texts.join("\n")
}

/// How a file differs from a text: the first line that does.
fn difference(path: &Path, text: &str) -> Option<String> {
    let Ok(committed) = fs::read_to_string(path) else {
        return Some("the file is missing".to_string());
    };
    let (mut was, mut is) = (committed.lines(), text.lines());
    let mut lines = (1..)
        .map(|number| (number, was.next(), is.next()))
        .take_while(|(_, was, is)| was.is_some() || is.is_some());
    let (number, was, is) = lines.find(|(_, was, is)| was != is)?;
    let shown = |line: Option<&str>| line.map_or("nothing".to_string(), |line| format!("{line:?}"));
    Some(format!("line {number} was {}, is {}", shown(was), shown(is)))
}

/// The files in the directory that are no snapshot.
fn stale(directory: &Path, snapshots: &BTreeMap<String, String>) -> Vec<PathBuf> {
    let is_snapshot = |path: &PathBuf| {
        path.file_name().and_then(|name| name.to_str()).is_some_and(|name| snapshots.contains_key(name))
    };
    let entries = fs::read_dir(directory).expect("the snapshots' directory");
    let mut stale: Vec<PathBuf> =
        entries.map(|entry| entry.expect("a file").path()).filter(|path| !is_snapshot(path)).collect();
    stale.sort();
    stale
}

fn rewrite(directory: &Path, snapshots: &BTreeMap<String, String>) {
    fs::create_dir_all(directory).expect("the snapshots' directory");
    for path in stale(directory, snapshots) {
        fs::remove_file(path).expect("removing a stale snapshot");
    }
    for (name, text) in snapshots {
        fs::write(directory.join(name), text).expect("writing a snapshot");
    }
}
