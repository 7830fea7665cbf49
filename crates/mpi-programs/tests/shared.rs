//! Shared memory of a node's ranks: what happens without it, how much of it there is, and which calls use it.

mod common;

use common::{Job, compiled, mpirun, run};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long processes of a job may outlive the launcher.
const PATIENCE: Duration = Duration::from_secs(60);

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("shared"))
}

/// Returns a job of the program with its collectives forced to use shared memory.
fn forced(ranks: usize, parameters: &[(&str, &str)], arguments: &[&str]) -> Command {
    const FORCED: [(&str, &str); 4] = [
        ("allgather_algorithm", "shared"),
        ("allreduce_algorithm", "shared_slices"),
        ("alltoall_algorithm", "shared"),
        ("bcast_algorithm", "shared"),
    ];
    let mut command = mpirun(ranks);
    for (name, value) in FORCED.iter().chain(parameters) {
        command.args(["--mca", &format!("coll_rustcoll_{name}"), value]);
    }
    command.arg(program()).args(arguments);
    command
}

fn run_forced(ranks: usize, parameters: &[(&str, &str)], arguments: &[&str]) -> Job {
    run(&mut forced(ranks, parameters, arguments))
}

fn assert_right(job: &Job) {
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}

/// Returns the processes whose environment has a variable with its value.
fn processes_with(variable: &str) -> Vec<String> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let has = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
    };
    let found = processes.map(|process| process.path()).filter(has);
    found.map(|process| process.display().to_string()).collect()
}

/// Memory without a name goes with the last process that maps it.
#[test]
fn a_killed_rank_ends_the_job_and_leaves_no_process_behind() {
    let (name, value) = ("JOB_WITH_A_KILLED_RANK", std::process::id().to_string());
    let variable = format!("{name}={value}");
    let mut shell = Command::new("sh");
    let mut known = shell.args(["-c", "read line"]).env(name, &value).stdin(Stdio::piped()).spawn().unwrap();
    assert_eq!(processes_with(&variable), [format!("/proc/{}", known.id())]);
    drop(known.stdin.take());
    known.wait().unwrap();
    // If the other ranks waited for the killed rank, the job would not end.
    let mut command = forced(3, &[], &["die"]);
    let job = run(command.env(name, value));
    job.assert(!job.success, "the job must not end well");
    let begin = Instant::now();
    while !processes_with(&variable).is_empty() && begin.elapsed() < PATIENCE {
        sleep(Duration::from_millis(100));
    }
    let left = processes_with(&variable);
    job.assert(left.is_empty(), &format!("{left:?} are left"));
}

/// The resource that a rank lacks, the rank, and its reason why it cannot share memory.
const LACKS: [(&str, &str, &str); 5] = [
    ("descriptors", "0", "Too many open files"),
    ("descriptors", "2", "Too many open files"),
    ("file size", "0", "File too large"),
    ("memory", "0", "Cannot allocate memory"),
    ("memory", "2", "Cannot allocate memory"),
];

#[test]
fn where_one_rank_cannot_share_memory_all_send_messages_and_the_report_says_so() {
    for (lack, rank, reason) in LACKS {
        let job = run_forced(3, &[("report", "summary")], &["lack", lack, rank]);
        assert_right(&job);
        let warning = "no memory to share with other ranks: ";
        job.assert(job.count(warning) == 1, "one rank says it once");
        job.assert_contains(&format!("{warning}{reason}"));
        job.assert_contains("shared is forced for bcast, but cannot serve this call");
        let rows = |decided: &str| {
            let is_row = |line: &&str| line.starts_with("    3  bcast ") && line.contains(decided);
            job.text.lines().filter(is_row).count()
        };
        job.assert(rows(", no shared memory  ") == 1, "the report does not tell why rules decide");
        job.assert(rows("  forced  ") == 1, "later communicators share memory");
    }
}

/// Forced parameters for single copies. Open MPI's own single copies are off, because they would fail, too, on a rank
/// that may not copy.
const SINGLE_COPIES: [(&str, &str); 4] = [
    ("allgather_algorithm", "single_copy"),
    ("alltoall_algorithm", "single_copy"),
    ("bcast_algorithm", "single_copy"),
    ("verbose", "1"),
];

fn run_single_copies(ranks: usize, arguments: &[&str]) -> Job {
    run_single_copies_with(ranks, &[], arguments)
}

fn run_single_copies_with(ranks: usize, options: &[&str], arguments: &[&str]) -> Job {
    let mut command = mpirun(ranks);
    command.args(options).args(["--mca", "btl_vader_single_copy_mechanism", "none"]);
    for (name, value) in SINGLE_COPIES {
        command.args(["--mca", &format!("coll_rustcoll_{name}"), value]);
    }
    run(command.arg(program()).args(arguments))
}

#[test]
fn blocks_are_copied_once() {
    for ranks in [2, 3, 5] {
        for test in ["", "gaps", "forms"] {
            let job = run_single_copies(ranks, &[test]);
            assert_right(&job);
            job.assert_contains("by single_copy");
        }
    }
}

#[test]
fn a_rank_asks_the_system_once_in_a_call_about_all_that_it_lends() {
    let single_copy = ["--mca", "coll_rustcoll_scatter_algorithm", "single_copy"];
    let job = run_single_copies_with(8, &single_copy, &["scatter"]);
    assert_right(&job);
    job.assert_contains("scatter by single_copy");
}

#[test]
fn copies_that_are_lent_count_towards_the_limit_of_temporary_memory() {
    let mut command = mpirun(3);
    command.args(["--mca", "coll_rustcoll_bcast_algorithm", "single_copy"]);
    command.args(["--mca", "coll_rustcoll_scratch_limit", "8"]);
    let job = run(command.arg(program()).arg("gaps"));
    assert_right(&job);
    // 5000 elements of 11 bytes each, in whole cache lines.
    job.assert_contains("bcast by single_copy takes 55040 bytes of temporary memory at this rank");
}

/// Rank 0 never waits in shared memory, because it always comes last.
#[test]
fn messages_go_on_while_a_rank_only_makes_calls_over_shared_memory() {
    for form in ["blocking", "nonblocking", "copied"] {
        let mut command = mpirun(3);
        command.args(["--mca", "coll_rustcoll_allreduce_algorithm", "shared_flat"]);
        command.args(["--mca", "coll_rustcoll_reduce_scatter_block_algorithm", "shared"]);
        assert_right(&run(command.arg(program()).args(["messages", form])));
    }
}

#[test]
fn memory_that_the_system_cannot_copy_from_is_lent_as_a_copy() {
    let job = run_single_copies(3, &["mapped"]);
    assert_right(&job);
    job.assert_contains("by single_copy");
}

#[test]
fn where_one_rank_may_not_copy_from_others_no_rank_does() {
    for rank in ["0", "2"] {
        let job = run_single_copies(3, &["withhold", "early", rank]);
        assert_right(&job);
        job.assert_contains("no copies from the memory of other ranks: Operation not permitted");
        job.assert_contains(REFUSED);
    }
}

/// The log says this where single copies are forced but refused.
const REFUSED: &str = "single_copy is forced for bcast, but cannot serve this call: the ranks of a node cannot copy from \
                       each other's own memory";

#[test]
fn single_copies_can_be_switched_off_alone() {
    let job = run_single_copies_with(3, &["--mca", "coll_rustcoll_single_copy", "off"], &[""]);
    assert_right(&job);
    job.assert_contains("no copies from the memory of other ranks: coll_rustcoll_single_copy is off");
    job.assert_contains(REFUSED);
    job.assert(job.count("by single_copy") == 0, "a rank copies from the memory of another one");
    job.assert(job.count("no memory to share") == 0, "the ranks still share memory");
}

#[test]
fn a_copy_that_fails_is_an_error_of_that_rank_alone_and_no_later_call_is_wrong() {
    let job = run_single_copies(3, &["withhold", "late", "2"]);
    assert_right(&job);
    job.assert(
        job.count("cannot copy from the memory of rank 0: Operation not permitted") == 3,
        "the log names each of the three failed copies",
    );
}

#[test]
fn rules_that_ask_for_shared_memory_go_on_where_there_is_none() {
    let mut command = mpirun(3);
    command.args(["--mca", "coll_rustcoll_report", "summary"]);
    command.args(["--mca", "coll_rustcoll_bcast_rules", "-> shared; -> chain"]);
    let job = run(command.arg(program()).args(["lack", "descriptors", "2"]));
    assert_right(&job);
    job.assert_contains("coll_rustcoll_bcast_rules:1, no shared memory");
}

#[test]
fn hundreds_of_communicators_keep_to_the_limit_of_shared_memory() {
    let parameters = [("shared_memory_size", "256"), ("shared_memory_limit", "4096")];
    assert_right(&run_forced(4, &parameters, &["many", "150", "4096"]));
    // Proves that the test would notice: without the limit, ranks share more.
    let job = run_forced(4, &parameters[..1], &["many", "150", "4096"]);
    job.assert(!job.success, "the limit has no effect");
}

#[test]
fn communicators_that_come_and_go_leave_no_mapping_and_no_descriptor() {
    assert_right(&run_forced(3, &[], &["come and go"]));
}

#[test]
fn two_jobs_share_no_memory_between_each_other_but_each_its_own() {
    let job = run_forced(2, &[], &["two jobs"]);
    assert_right(&job);
    job.assert(job.count("0 wrong") == 2, "both jobs are right");
}

#[test]
fn calls_with_an_operator_of_the_users_are_left_to_the_rules_which_is_said_once() {
    let job = run_forced(3, &[("report", "summary")], &["forms"]);
    assert_right(&job);
    job.assert(job.count("shared_slices is forced for allreduce, but cannot serve this call") == 1, "once");
    let is_forced = |line: &str| line.contains("  shared_slices  ") && line.contains("  forced ");
    job.assert(job.text.lines().any(is_forced), "those that can are served by it");
}

/// Ten operations start three times; eight of them have places. Then twenty others follow. The first two of these find
/// no place, because no place is free on all ranks yet; the third may find one. From then on at least every other one
/// finds a place.
#[test]
fn a_place_that_all_ranks_have_freed_is_that_of_the_next_persistent_operation() {
    let job = run_forced(3, &[("report", "summary")], &["persistent"]);
    assert_right(&job);
    let row = job.text.lines().find(|line| line.contains("  shared_slices  ")).unwrap_or_default();
    let calls: u32 = row.split_whitespace().nth(4).and_then(|calls| calls.parse().ok()).unwrap_or(0);
    job.assert((3 * 8 + 9..=3 * 8 + 18).contains(&calls), &format!("{calls} calls in shared memory"));
}

#[test]
fn elements_with_gaps_go_through_pieces_of_any_length() {
    assert_right(&run_forced(3, &[], &["gaps"]));
    assert_right(&run_forced(3, &[("shared_memory_size", "1")], &["gaps"]));
    for segment in ["7", "1000"] {
        let parameters = [("allgather_segment", segment), ("bcast_segment", segment)];
        assert_right(&run_forced(3, &parameters, &["gaps"]));
    }
}

#[test]
fn pieces_may_begin_and_end_within_complex_numbers_of_long_double() {
    const FORCED: [&[(&str, &str)]; 3] = [
        &[],
        &[("bcast_algorithm", "shared"), ("bcast_segment", "1000"), ("allgather_algorithm", "shared")],
        &[("bcast_algorithm", "single_copy"), ("allgather_algorithm", "single_copy")],
    ];
    for parameters in FORCED {
        let mut command = mpirun(2);
        for (name, value) in parameters {
            command.args(["--mca", &format!("coll_rustcoll_{name}"), value]);
        }
        assert_right(&run(command.arg(compiled("cut"))));
    }
}

#[test]
fn repeated_calls_heed_whether_ranks_may_share_memory_now() {
    let job = run_forced(3, &[("report", "summary")], &["switch"]);
    assert_right(&job);
    let rows: Vec<&str> = job.text.lines().filter(|line| line.contains("  allreduce ")).collect();
    let of_shared_memory = rows.iter().filter(|row| row.contains("shared_slices")).count();
    job.assert(of_shared_memory == 1 && rows.len() == 2, "half of the calls go by messages");
}

#[test]
fn memory_that_is_shared_already_stays_as_it_is_when_the_parameter_changes() {
    assert_right(&run_forced(3, &[("shared_memory_size", "64")], &["change"]));
}

#[test]
fn the_log_names_the_rank_that_another_one_waits_for() {
    for form in ["blocking", "nonblocking"] {
        // The program ends with a reduce, in which ranks must not wait for slots.
        let job = run_forced(2, &[("verbose", "80"), ("reduce_algorithm", "binomial")], &["late", form]);
        assert_right(&job);
        let waits =
            |line: &str| line.contains("rustcoll: rank 0 waits for slot ") && line.ends_with(" of rank 1");
        job.assert(job.text.lines().any(waits), "no line says that rank 0 waits for rank 1");
        job.assert_contains("rustcoll: rank 0 sends to rank 1: ");
        job.assert_contains("rustcoll: rank 1 receives from rank 0: ");
    }
}

#[test]
fn threads_share_memory_on_two_communicators_at_once() {
    for limit in ["1", "65536"] {
        assert_right(&run_forced(3, &[("shared_memory_limit", limit)], &["threads"]));
    }
}
