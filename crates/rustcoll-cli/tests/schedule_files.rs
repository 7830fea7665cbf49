//! The pages about schedules are right: their files are written and their commands run in order, without MPI.

mod common;

use common::folder;
use std::fs;
use std::path::Path;
use std::process::Command;

const FORMAT: &str = include_str!("../../../docs/schedule-file.md");

const PAGES: [&str; 4] = [
    include_str!("../../../docs/own-schedules.md"),
    FORMAT,
    include_str!("../../../docs/msccl.md"),
    include_str!("../../../docs/bruck.md"),
];

/// Returns the blocks of code: what follows the backquotes, and the code.
fn blocks(page: &str) -> impl Iterator<Item = (&str, &str)> {
    let fences = page.split("```").skip(1).step_by(2);
    fences.filter_map(|block| block.split_once('\n'))
}

/// Returns what a shell command prints. The shell finds `rustcoll`.
fn printed(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_rustcoll")).parent().unwrap();
    let path = format!("{}:{}", program.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let output = shell.args(["-c", command]).current_dir(folder).env("PATH", path).output().unwrap();
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

#[test]
fn the_pages_do_as_they_say() {
    let folder = folder("own-schedules");
    let mut commands = 0;
    for (kind, code) in PAGES.into_iter().flat_map(blocks) {
        match kind.split_once(' ').unwrap_or((kind, "")) {
            ("console", "mpi") => {}
            ("console", _) => {
                for part in code.split("$ ").skip(1) {
                    let (command, expected) = part.split_once('\n').unwrap();
                    assert_eq!(printed(command, &folder), expected, "{command}");
                    commands += 1;
                }
            }
            ("text", "") => {}
            ("text" | "c" | "json", file) => fs::write(folder.join(file), code).unwrap(),
            _ => panic!("nobody knows what to do with {kind}"),
        }
    }
    assert_eq!(commands, 23);
}

#[test]
fn faults_and_files_that_are_none_end_with_1() {
    let folder = folder("no-schedules");
    let run = |command: &str| printed(&format!("{command}; echo $?"), &folder);
    let first = "a schedule file begins with \"rustcoll schedule, version 1\"";
    assert_eq!(run("echo | rustcoll verify -"), format!("the standard input:2:1: {first}\n1\n"));
    assert!(run("rustcoll verify nowhere.sched").starts_with("1\nrustcoll: nowhere.sched: cannot be read"));
    let both = run("rustcoll verify x.sched --algorithm ring");
    assert!(both.starts_with("2\nerror: the argument '[FILES]...' cannot be used with"), "{both}");
    let mock_up = run("rustcoll schedule allgather allgather_as_gather_bcast --ranks 3 --file");
    let expected =
        "allgather allgather_as_gather_bcast cannot be written as a file: it calls other collectives";
    assert_eq!(mock_up, format!("2\nrustcoll: {expected}\n"));
    let long = run("rustcoll schedule allgather sparbit --ranks 128 --file");
    let expected = "allgather sparbit cannot be written as a file: it would have more than 1048576 bytes";
    assert_eq!(long, format!("2\nrustcoll: {expected}\n"));
}

const BCAST: &str = "\
rustcoll schedule, version 1
collective bcast
name mine
rank 0 of 2, 2 blocks
0: send to 1 from recv[0..2]
wait 0
rank 1 of 2, 2 blocks
0: receive from 0 into recv[0..2]
wait 0
";

const ALLREDUCE: &str = "\
rustcoll schedule, version 1
collective allreduce
name mine
rank 0 of 2, 1 blocks
0: receive from 1 into scratch[0]
1: send to 1 from send[0]
wait 0 1
reduce recv[0] = send[0] + scratch[0]
rank 1 of 2, 1 blocks
0: receive from 0 into scratch[0]
1: send to 0 from send[0]
wait 0 1
reduce recv[0] = scratch[0] + send[0]
";

/// Pieces of a text, and their replacements.
type Pieces = &'static [(&'static str, &'static str)];

/// For each message on the page about the format: a right file, and the pieces to replace in it.
const FAULTS: [(&str, &str, Pieces); 12] = [
    ("a schedule file begins with \"rustcoll schedule, version 1\"", BCAST, &[("rustcoll ", "")]),
    ("unknown key `nam`; the nearest known one is `name`", BCAST, &[("name", "nam")]),
    ("the program of rank 1 of 2 is missing", BCAST, &[("rank 1 of 2", "rank 1 of 3")]),
    ("expected \"send\" or \"receive\", found \"get\"", BCAST, &[("receive", "get")]),
    ("post 1 is never waited for", ALLREDUCE, &[("wait 0 1", "wait 0")]),
    ("unmatched receive of recv[0..2] from rank 0", BCAST, &[("0: send to 1 from recv[0..2]\nwait 0", "")]),
    ("recv[0..2] has 2 blocks, recv[0] has 1", BCAST, &[("into recv[0..2]", "into recv[0]")]),
    ("deadlock; rank 0, step 1 waits for", ALLREDUCE, &[("\n1:", "\nwait 0\n1:"), ("wait 0 1", "wait 1")]),
    (
        "recv[0] is read while post 0 receives it",
        BCAST,
        &[("\nwait 0", "\ncopy recv[0] to scratch[0]\nwait 0")],
    ),
    (
        "recv[0] is read but holds nothing defined",
        BCAST,
        &[("0: receive", "copy recv[0] to scratch[0]\n0: receive")],
    ),
    ("recv[0] holds", ALLREDUCE, &[("reduce recv[0] = send[0] + scratch[0]", "copy send[0] to recv[0]")]),
    ("recv[0] holds operands out of order", ALLREDUCE, &[("send[0] + scratch[0]", "scratch[0] + send[0]")]),
];

#[test]
fn every_fault_of_the_format_is_told_so() {
    let folder = folder("wrong-schedules");
    let verified = |text: &str| {
        fs::write(folder.join("mine.sched"), text).unwrap();
        printed("rustcoll verify mine.sched", &folder)
    };
    for (message, right, pieces) in FAULTS {
        assert!(FORMAT.contains(message), "the page does not have: {message}");
        assert!(verified(right).ends_with("all right\n"), "{}", verified(right));
        let wrong = pieces.iter().fold(right.to_owned(), |text, (from, to)| text.replace(from, to));
        let told = verified(&wrong);
        assert!(told.contains(message), "{message} is not told of\n{wrong}\n{told}");
    }
}

/// Every command refuses a file that must not be used, and does nothing.
#[test]
fn only_proved_algorithms_are_used() {
    let folder = folder("used-schedules");
    let listed = |text: &str| {
        fs::write(folder.join("mine.sched"), text).unwrap();
        printed("rustcoll algorithms bcast --schedules mine.sched; echo $?", &folder)
    };
    let for_any_root = BCAST.replace("name mine", "name mine\nroot any");
    let right = listed(&for_any_root);
    assert!(right.contains("\nbcast       mine ") && right.ends_with("0\n"), "{right}");
    let one_root =
        "bcast mine is for one root alone: it is proved, but to be used it has to say \"root any\"";
    assert_eq!(listed(BCAST), format!("1\nrustcoll: mine.sched: {one_root}\n"));
    let wrong = listed(&for_any_root.replace("into recv[0..2]", "into recv[0]"));
    assert!(wrong.starts_with("1\nrustcoll: mine.sched:9: bcast mine on 2 ranks, root 0: "), "{wrong}");
    listed(&for_any_root);
    let twice = printed("rustcoll algorithms --schedules mine.sched,mine.sched; echo $?", &folder);
    assert_eq!(twice, "1\nrustcoll: mine.sched: a second file with bcast mine\n");
    let other_size = printed("rustcoll schedule bcast mine --ranks 3 --schedules mine.sched", &folder);
    assert_eq!(
        other_size,
        "rustcoll: bcast mine cannot serve this: its file has no programs for so many ranks\n"
    );
}

/// A search may find a name again, and a file may be verified beside itself.
#[test]
fn files_that_are_loaded_may_be_read_again() {
    let folder = folder("loaded-schedules");
    let text = BCAST.replace("name mine", "name mine\nroot any");
    fs::write(folder.join("mine.sched"), text).unwrap();
    let verified = printed("rustcoll --schedules mine.sched verify mine.sched", &folder);
    assert_eq!(verified, "mine.sched: bcast mine on 2 ranks: 2 problems, all right\n");
    let ring = "rustcoll schedule allgather ring --ranks 3 --file | sed s/my_ring/synthesized/ > found.sched";
    assert_eq!(printed(ring, &folder), "");
    let search = "rustcoll --schedules found.sched synthesize allgather --nodes 2,1 --bytes 8 --attempts 3";
    let found = printed(&format!("{search} --machine hockney:1e-6,1e-9,0 -o new.sched"), &folder);
    assert!(found.starts_with("the best of 3 timetables: "), "{found}");
}

#[test]
fn nodes_with_too_few_or_too_many_ranks_are_refused() {
    let folder = folder("synthesize-nodes");
    for (nodes, ranks) in [("1", "1 rank"), ("20,20", "40 ranks")] {
        let command = format!(
            "rustcoll synthesize allgather --nodes {nodes} --bytes 8 --machine hockney:1e-6,1e-9,0 -o x.sched; echo $?"
        );
        let expected = format!("2\nrustcoll: --nodes: these are {ranks} in all; expected 2 to 32\n");
        assert_eq!(printed(&command, &folder), expected);
    }
}
