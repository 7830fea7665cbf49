//! Algorithms made of calls of other collectives. The report shows what ran.

mod common;

use common::{Job, compiled, mpirun, run};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const RANKS: usize = 3;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("mock_ups"))
}

/// Runs the program with parameters of the component. All results must be right. Returns the job with its report.
fn job(parameters: &[(&str, &str)], arguments: &[&str]) -> Job {
    let mut command = mpirun(RANKS);
    command.env("OMPI_MCA_coll_rustcoll_report", "summary");
    command.envs(parameters.iter().map(|(name, value)| (format!("OMPI_MCA_coll_rustcoll_{name}"), value)));
    let job = run(command.arg(program()).args(arguments));
    job.assert(job.success, "the program failed");
    job.assert_contains("all results are right");
    job
}

/// Whether the report has a row that begins with these cells: collective, algorithm, who decided, calls.
fn has_row(job: &Job, cells: [&str; 4]) -> bool {
    let rows = job.text.lines().map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()));
    rows.map(|row| row.skip(1).take(4).collect::<Vec<_>>()).any(|row| row == cells)
}

fn assert_row(job: &Job, cells: [&str; 4]) {
    job.assert(has_row(job, cells), &format!("the row {cells:?} is missing"));
}

#[test]
fn what_a_mock_up_calls_is_served_and_reported_as_if_the_user_called_it() {
    let forced = [
        ("allgather_algorithm", "allgather_as_gather_bcast"),
        ("gather_rules", "-> binomial"),
        ("bcast_algorithm", "chain"),
    ];
    let job = job(&forced, &["plain"]);
    assert_row(&job, ["allgather", "allgather_as_gather_bcast", "forced", "3"]);
    // The program itself makes three of them.
    assert_row(&job, ["gather", "binomial", "coll_rustcoll_gather_rules:1", "6"]);
    assert_row(&job, ["bcast", "chain, segments 1", "forced", "3"]);
}

#[test]
fn what_a_mock_up_calls_may_go_below() {
    let rules = [("allgather_rules", "-> allgather_as_gather_bcast"), ("bcast_rules", "-> below")];
    let job = job(&rules, &["plain"]);
    assert_row(&job, ["allgather", "allgather_as_gather_bcast", "coll_rustcoll_allgather_rules:1", "3"]);
    assert_row(&job, ["bcast", "below", "coll_rustcoll_bcast_rules:1", "3"]);
}

#[test]
fn mock_ups_do_not_call_each_other() {
    let rules = [
        ("allgather_rules", "-> allgather_as_gather_bcast; -> ring"),
        ("gather_algorithm", "gather_as_allgather"),
        ("gather_rules", "-> linear"),
    ];
    let job = job(&rules, &["plain"]);
    assert_row(&job, ["allgather", "allgather_as_gather_bcast", "coll_rustcoll_allgather_rules:1", "3"]);
    assert_row(&job, ["gather", "linear", "coll_rustcoll_gather_rules:1", "3"]);
    assert_row(&job, ["gather", "gather_as_allgather", "forced", "3"]);
    assert_row(&job, ["allgather", "ring", "coll_rustcoll_allgather_rules:1", "3"]);
    job.assert(job.count("gather_as_allgather is forced for gather, but") == 1, "that is logged once");
}

/// The blocks of three ranks have 400 bytes each.
#[test]
fn a_mock_up_that_needs_too_much_memory_is_not_eligible() {
    let forced = ("allgather_algorithm", "allgather_as_allreduce");
    let rules = ("allgather_rules", "-> ring");
    for (limit, is_enough) in [("1200", true), ("1199", false)] {
        let job = job(&[forced, rules, ("mockup_message_bytes", limit)], &["plain"]);
        let decided = "coll_rustcoll_allgather_rules:1, too much memory or too large counts for a mock-up";
        let row = match is_enough {
            true => ["allgather", "allgather_as_allreduce", "forced", "3"],
            false => ["allgather", "ring", decided, "3"],
        };
        assert_row(&job, row);
        let told = "it needs 1200 bytes for data, and may have 1199 (coll_rustcoll_mockup_message_bytes)";
        job.assert(job.count(told) == usize::from(!is_enough), "that is logged once, with the limit");
    }
}

/// A new communicator follows what others like it have decided, but not in silence.
#[test]
fn each_communicator_says_that_a_mock_up_has_no_room() {
    let rules = ("allgather_rules", "-> allgather_as_allreduce; -> ring");
    let job = job(&[rules, ("mockup_message_bytes", "1199"), ("shared_memory_from", "default")], &["alike"]);
    job.assert(job.count("it needs 1200 bytes for data") == 2, "each of two communicators says it");
}

/// After one mock-up without room, rustcoll tries no other, even if the next rule's mock-up has room.
#[test]
fn rules_pass_by_all_mock_ups_where_the_first_has_no_room() {
    let forced = ("allgather_algorithm", "allgather_as_allreduce");
    let rules = ("allgather_rules", "-> allgather_as_allgatherv; -> ring");
    let job = job(&[forced, rules, ("mockup_message_bytes", "1199")], &["plain"]);
    let decided = "coll_rustcoll_allgather_rules:1, too much memory or too large counts for a mock-up";
    assert_row(&job, ["allgather", "ring", decided, "3"]);
}

/// Three ranks have a count and a displacement each, of four bytes.
#[test]
fn counts_have_a_limit_of_their_own() {
    for (limit, is_enough) in [("24", true), ("23", false)] {
        let parameters = [("gather_rules", "-> gather_as_gatherv; -> linear"), ("mockup_int_bytes", limit)];
        let job = job(&parameters, &["plain"]);
        let decided = "coll_rustcoll_gather_rules:1";
        let row = match is_enough {
            true => ["gather", "gather_as_gatherv", decided, "3"],
            false => [
                "gather",
                "linear",
                "coll_rustcoll_gather_rules:1, too much memory or too large counts for a mock-up",
                "3",
            ],
        };
        assert_row(&job, row);
    }
}

#[test]
fn calls_that_do_not_block_are_left_to_the_rules() {
    let parameters = [("allgather_algorithm", "allgather_as_alltoall"), ("allgather_rules", "-> ring")];
    let job = job(&parameters, &["nonblocking"]);
    assert_row(&job, ["allgather", "ring", "coll_rustcoll_allgather_rules:1", "1"]);
    job.assert(job.count("allgather_as_alltoall is forced for allgather, but") == 1, "that is logged once");
}

#[test]
fn threads_may_have_mock_ups_under_way_at_the_same_time() {
    let forced = [
        ("allgather_algorithm", "allgather_as_allreduce"),
        ("gather_algorithm", "gather_as_reduce"),
        ("allreduce_algorithm", "allreduce_as_reducescatterblock_allgather"),
    ];
    let job = job(&forced, &["threads", "10000"]);
    assert_row(&job, ["allgather", "allgather_as_allreduce", "forced", "6"]);
    assert_row(&job, ["gather", "gather_as_reduce", "forced", "6"]);
    assert_row(&job, ["allreduce", "allreduce_as_reducescatterblock_allgather", "forced", "6"]);
}
