//! Algorithms from schedule files: the component proves them, and then chooses them like its own.

mod common;

use common::{Job, mpirun, root, run, run_alone, user_program};
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::schedule_file::file_of;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

const SCHEDULES: &str = "OMPI_MCA_coll_rustcoll_schedules";
const FORCED: &str = "OMPI_MCA_coll_rustcoll_bcast_algorithm";
const REPORT: &str = "OMPI_MCA_coll_rustcoll_report";

/// Makes an empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns the schedule file of a registered algorithm, which the file names `mine`.
fn mine(collective: Collective, algorithm: &str, sizes: &[usize]) -> String {
    let registered = collective.algorithm(algorithm).unwrap();
    let text = |size: &usize| file_of(registered, collective, &Problem::new(*size)).unwrap();
    let texts: Vec<String> = sizes.iter().map(text).collect();
    // The first text's head, and the programs of all texts.
    let programs = texts.iter().map(|text| &text[text.find("\nrank 0 of").unwrap()..]);
    let head = texts[0].split("\nrank 0 of").next().unwrap();
    let head = head.replace(&format!("name my_{algorithm}"), "name mine").replace("root 0", "root any");
    head + &programs.collect::<Vec<_>>().join("\n")
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let file = folder.join(name);
    fs::write(&file, text).unwrap();
    file.display().to_string()
}

/// Runs the user's program with an environment.
fn job(ranks: usize, environment: &[(&str, &str)]) -> Job {
    run(mpirun(ranks).envs(environment.iter().copied()).arg(user_program()))
}

const ALGORITHMS: [(Collective, &str); 13] = [
    (Collective::Allgather, "ring"),
    (Collective::Allgatherv, "bruck"),
    (Collective::Allreduce, "rabenseifner"),
    (Collective::Alltoall, "bruck"),
    (Collective::Alltoallv, "pairwise"),
    (Collective::Alltoallw, "pairwise"),
    (Collective::Barrier, "dissemination"),
    (Collective::Bcast, "scatter_ring_allgather"),
    (Collective::Gather, "binomial"),
    (Collective::Reduce, "knomial"),
    (Collective::ReduceScatterBlock, "butterfly"),
    (Collective::Scan, "recursive_doubling"),
    (Collective::Scatter, "binomial"),
];

/// In every form, with every datatype and operator, in place and not, with every root. The files serve 3 and 4 ranks,
/// but not 2.
#[test]
fn algorithms_of_files_serve_all_calls_as_others_do() {
    let folder = folder("all-schedules");
    for (collective, algorithm) in ALGORITHMS {
        write(&folder, &format!("{}.sched", collective.name()), &mine(collective, algorithm, &[3, 4]));
    }
    let options = ["--algorithm", "mine", "--sizes", "3,4", "--schedules"];
    let mut command = mpirun(4);
    command.env("OMPI_MCA_coll", "rustcoll").env(SCHEDULES, &folder);
    let job = run_alone(
        common::PATIENCE,
        command.arg(env!("CARGO_BIN_EXE_conformance")).args(options).arg(&folder).args(["--cases", "60"]),
    );
    job.assert(job.success, "conformance fails");
    job.assert_contains(" passed, 0 failed");
    for (collective, _) in ALGORITHMS {
        job.assert_contains(collective.name());
    }
}

/// One rank gets the data by a slot and the other by a message, whatever gaps the data have.
#[test]
fn slots_and_messages_of_one_file_agree_on_data_with_gaps() {
    let folder = folder("mixed-schedules");
    let text = "rustcoll schedule, version 1\ncollective bcast\nname mine\nroot any\n\n\
                rank 0 of 3, 1 blocks, 1 slots\ncopy recv[0] to shared0[0]\nnotify 0\n\
                0: send to 2 from recv[0]\nwait 0\n\n\
                rank 1 of 3, 1 blocks, 1 slots\nawait 0 of 0, 1 times\ncopy shared0[0] to recv[0]\n\n\
                rank 2 of 3, 1 blocks, 1 slots\n0: receive from 0 into recv[0]\nwait 0\n";
    write(&folder, "bcast.sched", text);
    let options =
        ["--collective", "bcast", "--algorithm", "mine", "--sizes", "3", "--cases", "60", "--schedules"];
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll", "rustcoll").env(SCHEDULES, &folder);
    let job = run(command.arg(env!("CARGO_BIN_EXE_conformance")).args(options).arg(&folder));
    job.assert(job.success, "conformance fails");
    job.assert_contains(" passed, 0 failed");
}

#[test]
fn the_report_names_them_and_rules_choose_them() {
    let folder = folder("chosen-schedules");
    let file = write(&folder, "bcast.sched", &mine(Collective::Bcast, "chain", &[4]));
    let rules = write(&folder, "rules.toml", "[[bcast]]\nalgorithm = \"mine\"\n");
    for choice in [
        (FORCED, "mine"),
        ("OMPI_MCA_coll_rustcoll_bcast_rules", "-> mine"),
        ("OMPI_MCA_coll_rustcoll_rules_file", &rules),
    ] {
        let job = job(4, &[(SCHEDULES, &file), choice, (REPORT, "summary")]);
        job.assert(job.success, "the program failed");
        job.assert_contains("0 wrong");
        let row = job.text.lines().find(|line| line.contains(" bcast ") && line.contains(" mine "));
        job.assert(row.is_some(), "the report does not name it");
    }
    // With another number of ranks, the other rules decide.
    for choice in
        [("OMPI_MCA_coll_rustcoll_bcast_rules", "-> mine"), ("OMPI_MCA_coll_rustcoll_rules_file", &rules)]
    {
        let job = job(3, &[(SCHEDULES, &file), choice, (REPORT, "summary")]);
        job.assert(job.success, "the program failed");
        job.assert_contains("0 wrong");
        job.assert(job.count(" mine ") == 0, "it serves a number of ranks that its file does not have");
    }
    let job = job(3, &[(SCHEDULES, &file), (FORCED, "mine"), (REPORT, "summary")]);
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    job.assert_contains("mine is forced for bcast, but cannot serve this call");
}

/// The component reports wrong files, and never uses them.
#[test]
fn wrong_files_are_left_out_or_end_the_job() {
    let folder = folder("wrong-schedules");
    let right = mine(Collective::Bcast, "chain", &[4]);
    let wrong = right.replacen("\nwait 0", "\ncopy recv[0] to scratch[0]\nwait 0", 2);
    let file = write(&folder, "wrong.sched", &wrong);
    let told = "recv[0] is read while post 0 receives it";
    let left_out = job(4, &[(SCHEDULES, &file)]);
    left_out.assert(left_out.success, "the program failed");
    left_out.assert(left_out.count(told) > 0, "the fault is not told");
    left_out.assert(left_out.count("have faults") == 1, "the fault is not reported exactly once");
    let strict = job(4, &[(SCHEDULES, &file), ("OMPI_MCA_coll_rustcoll_rules_strict", "on")]);
    strict.assert(!strict.success && strict.count("wrong\n") == 0, "the job went on");
    strict.assert_contains(told);
    // If the user forces such an algorithm, the first message says why it is missing.
    let forced = job(4, &[(SCHEDULES, &file), (FORCED, "mine")]);
    forced.assert(!forced.success, "the job went on");
    forced.assert_contains(told);
    forced.assert_contains("Parameter:    coll_rustcoll_bcast_algorithm");
}

/// Ranks with different files would wait for each other.
#[test]
fn ranks_with_other_files_end_the_job() {
    let folder = folder("other-schedules");
    let one = write(&folder, "one.sched", &mine(Collective::Bcast, "chain", &[4]));
    let other = write(&folder, "other.sched", &mine(Collective::Bcast, "binomial", &[4]));
    let mut command = mpirun(2);
    command.args(["-x", &format!("{SCHEDULES}={one}")]).arg(user_program());
    command.args([":", "-n", "2", "-x", &format!("{SCHEDULES}={other}")]).arg(user_program());
    let job = run(&mut command);
    job.assert(!job.success, "the job went on");
    job.assert_contains("different rules or schedule files");
    job.assert_contains("one.sched");
    job.assert_contains("other.sched");
}

/// Returns the words of each line, without numbers, and without notes in parentheses, such as notes on late calls.
fn words(text: &str) -> Vec<Vec<&str>> {
    let is_word = |word: &&str| word.contains(|one: char| one.is_alphabetic()) && !word.ends_with(')');
    text.lines().map(|line| line.split_whitespace().filter(is_word).collect()).collect()
}

/// Writes the chapter's files and runs its commands in order. Commands that need MPI print other numbers each time.
#[test]
fn the_chapter_runs_as_it_says() {
    const PAGE: &str = include_str!("../../../docs/own-schedules.md");
    let folder = folder("own-schedules");
    let programs = folder.join("programs");
    fs::create_dir(&programs).unwrap();
    symlink(root().join("build/rustcoll"), programs.join("rustcoll")).unwrap();
    let others = std::env::var("PATH").unwrap();
    let clone = root().join("scripts/mpirun-clone");
    write(&programs, "mpirun", &format!("#!/bin/sh\nPATH='{others}' exec '{}' \"$@\"\n", clone.display()));
    fs::set_permissions(programs.join("mpirun"), Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:{others}", programs.display());
    let printed = |command: &str| {
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", command]).current_dir(&folder).env("PATH", &path).output().unwrap();
        String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
    };
    let mut compared = 0;
    for block in PAGE.split("```").skip(1).step_by(2) {
        let (kind, code) = block.split_once('\n').unwrap();
        if let Some(("text" | "c", file)) = kind.split_once(' ') {
            write(&folder, file, code);
            continue;
        }
        for part in code.split("$ ").skip(1) {
            let (command, expected) = part.split_once('\n').unwrap();
            let printed = printed(command);
            if kind == "console mpi" {
                assert_eq!(words(&printed), words(expected), "{command}");
                compared += 1;
            }
        }
    }
    assert_eq!(compared, 3);
}
