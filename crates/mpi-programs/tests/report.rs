//! What ran: the report at the end of a job, logged calls, and the variables with which tools count.

mod common;

use common::{Job, SHARED_MEMORY_FROM, compiled, mpirun, run};
use rustcoll::algorithms::Collective;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const RANKS: usize = 4;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("report"))
}

fn job(options: &[&str]) -> Job {
    job_with(options, &[])
}

fn job_with(options: &[&str], arguments: &[&str]) -> Job {
    let mut command = mpirun(RANKS);
    let options = options.chunks(2).flat_map(|pair| ["--mca", pair[0], pair[1]]);
    let job = run(command.args(options).arg(program()).args(arguments));
    job.assert(job.success, "the program failed");
    job
}

/// Returns the cells of the report's rows, without the time, which varies.
fn rows(job: &Job) -> Vec<[String; 6]> {
    let lines = job.text.lines().skip_while(|line| !line.starts_with("ranks  collective")).skip(1);
    let lines = lines
        .take_while(|line| line.starts_with(' ') || line.starts_with(|first: char| first.is_ascii_digit()));
    lines
        .map(|line| {
            let cells: Vec<String> = line
                .trim()
                .split("  ")
                .map(|cell| cell.trim().to_owned())
                .filter(|cell| !cell.is_empty())
                .collect();
            let [ranks, collective, algorithm, decided, calls, bytes, _] = &cells[..] else {
                panic!("no row: {line}")
            };
            [ranks, collective, algorithm, decided, calls, bytes].map(String::clone)
        })
        .collect()
}

fn assert_row(job: &Job, row: [&str; 6]) {
    job.assert(rows(job).iter().any(|found| *found == row), &format!("the row {row:?} is missing"));
}

/// The default rules' choice for short allreduces of four ranks on one node.
const BY_DEFAULT: &str = "shared_flat";

/// Returns the name of that default rule in reports.
fn default_rule() -> String {
    let text = include_str!("../../../selection-rules/default.toml");
    let lines: Vec<&str> = text.lines().collect();
    let chosen = lines.iter().position(|line| *line == "algorithm = \"shared_flat\"").unwrap();
    let start = lines[..chosen].iter().rposition(|line| *line == "[[allreduce]]").unwrap();
    format!("default:{}", start + 1)
}

#[test]
fn the_summary_tells_what_ran_and_who_decided_it() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.toml");
    let text = "# mine\n\n[[scan]]\nalgorithm = \"linear\"\n\n[[barrier]]\nalgorithm = \"below\"\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let job = job(&[
        "coll_rustcoll_report",
        "summary",
        "coll_rustcoll_rules_file",
        file,
        "coll_rustcoll_alltoall_algorithm",
        "bruck",
        "coll_rustcoll_alltoall_radix",
        "3",
        "coll_rustcoll_bcast_rules",
        "-> chain segment=4",
    ]);
    assert_row(&job, ["4", "allreduce", BY_DEFAULT, &default_rule(), "12", "144"]);
    assert_row(&job, ["4", "alltoall", "bruck, radix 3", "forced", "1", "4"]);
    assert_row(&job, ["4", "bcast", "chain, segments 2", "coll_rustcoll_bcast_rules:1", "10", "80"]);
    assert_row(&job, ["4", "scan", "linear", &format!("{file}:3"), "10", "40"]);
    assert_row(&job, ["4", "barrier", "below", &format!("{file}:6"), "1", "0"]);
    job.assert(job.count("the collectives of rank") == 1, "one rank reports");
    job.assert(job.count(" took ") == 0, "no call is logged");
}

#[test]
fn the_first_calls_of_a_communicator_go_by_messages() {
    let from = |number: Option<&str>| {
        let mut command = mpirun(RANKS);
        command.env_remove(SHARED_MEMORY_FROM).args(["--mca", "coll_rustcoll_report", "calls"]);
        command.envs(number.map(|number| (SHARED_MEMORY_FROM, number)));
        run(command.arg(program()))
    };
    let is_early = |row: &[String; 6]| row[1] == "allreduce" && row[3].ends_with(", no shared memory yet");
    let early = |job: &Job| -> Vec<_> {
        rows(job).into_iter().filter(is_early).map(|[.., calls, _]| calls).collect()
    };
    let by_default = from(None);
    by_default.assert(early(&by_default) == ["12"], "no short call shares memory");
    by_default
        .assert(by_default.count("bcast of 8 bytes by shared ") == 0, "nor does one that does not block");
    let fifth = from(Some("5"));
    fifth.assert(early(&fifth) == ["4"], "the first four calls share no memory");
    assert_row(&fifth, ["4", "allreduce", BY_DEFAULT, &default_rule(), "8", "96"]);
    // There are ten.
    let nonblocking = fifth.count("bcast of 8 bytes by shared ");
    fifth.assert(nonblocking == 6 * RANKS, "nor do the first four that do not block");
}

#[test]
fn communicators_of_other_sizes_have_rows_of_their_own() {
    let job = job_with(&["coll_rustcoll_report", "summary"], &["split"]);
    let rows = rows(&job);
    let sizes: Vec<usize> = rows.iter().map(|[ranks, ..]| ranks.parse().unwrap()).collect();
    job.assert(sizes.is_sorted(), "rows come by size");
    let allreduce = |row: &&[String; 6]| (&*row[0], &*row[1]) == ("2", "allreduce");
    job.assert(rows.iter().any(|row| allreduce(&row)), "the half of the ranks is missing");
}

#[test]
fn calls_are_logged_by_each_rank_beside_the_summary() {
    let job = job(&["coll_rustcoll_report", "calls"]);
    assert_row(&job, ["4", "allreduce", BY_DEFAULT, &default_rule(), "12", "144"]);
    let line = |rank| {
        format!(
            "rank {rank} of 4, communicator 0: allreduce of 12 bytes by {BY_DEFAULT} ({}) took ",
            default_rule()
        )
    };
    for rank in 0..RANKS {
        job.assert(job.count(&line(rank)) == 12, "each rank logs each call");
    }
    job.assert(job.count("bcast of 8 bytes by shared ") == 10 * RANKS, "calls that do not block");
    job.assert(job.count(": scan of 4 bytes by ") == 10 * RANKS, "each start of a persistent one");
    job.assert(job.count(&format!(" by {BY_DEFAULT}\n")) == 0, "schedules are not logged");
}

#[test]
fn without_a_report_nothing_is_told() {
    for options in [&[][..], &["coll_rustcoll_report", "none"]] {
        let job = job(options);
        job.assert(job.count("rustcoll:") == 0, "the job must be quiet");
    }
}

#[test]
fn calls_that_go_below_without_blocking_have_no_time() {
    let job = job(&["coll_rustcoll_report", "summary", "coll_rustcoll_bcast_rules", "-> below"]);
    assert_row(&job, ["4", "bcast", "below", "coll_rustcoll_bcast_rules:1", "10", "80"]);
    job.assert_contains("10     80  unknown");
}

/// Returns the values of a variable that the program printed.
fn counted(job: &Job, variable: &str) -> Vec<String> {
    let start = format!("coll_rustcoll_allreduce_{variable}: ");
    let line = job.text.lines().find_map(|line| line.strip_prefix(&start)).expect("it is printed");
    line.split(' ').map(str::to_owned).collect()
}

fn assert_counted(job: &Job, number: usize) {
    let numbers = 1 + Collective::Allreduce.algorithms().count();
    for (variable, expected) in [("calls", "10"), ("bytes", "120"), ("time", "some")] {
        let mut wanted = vec!["0"; numbers];
        wanted[number] = expected;
        job.assert(counted(job, variable) == wanted, &format!("{variable}: expected {wanted:?}"));
    }
}

#[test]
fn tools_count_by_algorithm_while_their_sessions_do() {
    for algorithm in ["ring", "recursive_doubling"] {
        let position = Collective::Allreduce.algorithms().position(|it| it.name == algorithm).unwrap();
        for report in ["none", "summary"] {
            let job = job(&["coll_rustcoll_allreduce_algorithm", algorithm, "coll_rustcoll_report", report]);
            assert_counted(&job, position + 1);
        }
    }
}

#[test]
fn tools_count_calls_that_go_below_as_the_first() {
    assert_counted(&job(&["coll_rustcoll_allreduce_rules", "-> below"]), 0);
}

#[test]
fn a_report_that_is_none_of_the_words_ends_the_job() {
    let mut command = mpirun(2);
    let job = run(command.args(["--mca", "coll_rustcoll_report", "all"]).arg(program()));
    job.assert(!job.success, "the job must not run");
    job.assert_contains("Parameter:    coll_rustcoll_report");
    job.assert_contains("summary");
}
