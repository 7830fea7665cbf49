//! Tests the trials of algorithms while a job runs.

mod common;

use common::{Job, SHARED_MEMORY_FROM, compiled, mpirun, run};
use rustcoll::algorithms::Collective;
use rustcoll::selection::{Call, Rules};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

const RANKS: usize = 8;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("online"))
}

fn job(ranks: usize, options: &[&str]) -> Job {
    job_with_key(ranks, options, None)
}

/// Runs a job on a communicator with this value of the info key.
fn job_with_key(ranks: usize, options: &[&str], key: Option<&str>) -> Job {
    let mut command = mpirun(ranks);
    // As users run it: what is tried must not wait for the calls that share no memory yet.
    command.env_remove(SHARED_MEMORY_FROM);
    let options = options.chunks(2).flat_map(|pair| ["--mca", pair[0], pair[1]]);
    let job = run(command.args(options).arg(program()).args(key));
    job.assert(job.success, "the program failed");
    job
}

/// Whether the report says that algorithms of allreduce were tried, or that a learnt one ran.
fn tries(job: &Job) -> bool {
    job.text.lines().any(|line| line.contains("allreduce") && line.contains(" online"))
}

const ONLINE: [&str; 2] = ["coll_rustcoll_tune", "online"];

/// A rule that is bad for short vectors.
const RING: [&str; 2] = ["coll_rustcoll_allreduce_rules", "-> ring"];

#[test]
fn a_bad_rule_is_replaced_and_the_next_job_may_start_from_what_was_learnt() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("learnt.toml");
    let _ = fs::remove_file(&file);
    let file = file.to_str().unwrap();
    let report =
        ["coll_rustcoll_report", "summary", "coll_rustcoll_verbose", "1", "coll_rustcoll_learnt", file];
    let job = job(RANKS, &[&ONLINE[..], &RING, &report].concat());
    job.assert_contains("online: ");
    let is_learnt = |line: &str| line.contains("allreduce") && line.contains("learnt online");
    job.assert(job.text.lines().any(is_learnt), "the ring is replaced");
    let rules = Rules::load(Path::new(file)).unwrap();
    let call = Call {
        shares_memory: true,
        predefined: Some(true),
        nodes: Some(1),
        ranks_per_node: Some(RANKS),
        ..Call::new(Collective::Allreduce, RANKS, 8)
    };
    let learnt = rules.choose(&call).algorithm().map(|algorithm| algorithm.name);
    job.assert(learnt.is_some_and(|name| name != "ring"), &format!("{learnt:?} is learnt"));
}

#[test]
fn results_are_right_whatever_is_tried_and_on_how_many_ranks() {
    for ranks in [2, 3, 5, 9] {
        job(ranks, &[&ONLINE[..], &["coll_rustcoll_tune_from", "1"]].concat());
    }
}

#[test]
fn what_is_forced_or_must_be_reproducible_is_not_tried() {
    for (parameter, value) in
        [("coll_rustcoll_allreduce_algorithm", "ring"), ("coll_rustcoll_reproducible", "on")]
    {
        let options = [&ONLINE[..], &["coll_rustcoll_report", "summary", parameter, value]].concat();
        let job = job(2, &options);
        job.assert(!tries(&job), "it is not tried");
    }
}

#[test]
fn an_info_key_decides_for_one_communicator() {
    let report = ["coll_rustcoll_report", "summary"];
    let job = job_with_key(RANKS, &[&RING[..], &report].concat(), Some("online"));
    job.assert_contains("learnt online");
    let job = job_with_key(2, &[&ONLINE[..], &report].concat(), Some("off"));
    job.assert(!tries(&job), "it is not tried");
}

#[test]
fn a_job_that_tries_nothing_writes_no_rules() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("not_learnt.toml");
    let _ = fs::remove_file(&file);
    let job = job(2, &["coll_rustcoll_learnt", file.to_str().unwrap()]);
    job.assert(!file.exists(), "it is not written");
}

#[test]
fn rules_that_cannot_be_written_are_told() {
    let options = [&ONLINE[..], &["coll_rustcoll_learnt", "/dev/full/learnt.toml"]].concat();
    job(2, &options).assert_contains(
        "the rules that were learnt could not be written to /dev/full/learnt.toml: Not a directory",
    );
}
