//! Erroneous calls: the user gets the right errors, and the calls do no harm. Only rustcoll is loaded.

mod common;

use common::{Job, PATIENCE, compiled, mpirun, run_alone};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("errors"))
}

fn make_mistakes(components: &str, only: &[&str]) -> Job {
    let mut command = mpirun(4);
    let job = run_alone(PATIENCE, command.env("OMPI_MCA_coll", components).arg(program()).args(only));
    job.assert(job.success, "the program failed");
    job
}

#[test]
fn wrong_arguments_are_the_errors_that_open_mpi_s_own_components_give() {
    let classes = |components| -> Vec<String> {
        let job = make_mistakes(components, &[]);
        job.text.lines().filter(|line| line.contains(": MPI_")).map(str::to_owned).collect()
    };
    let (ours, theirs) = (classes("rustcoll"), classes("basic,libnbc,self,inter"));
    assert!(ours.iter().any(|line| line.contains(": MPI_ERR_OP")), "{ours:#?}");
    for (our, their) in ours.iter().zip(&theirs) {
        assert_eq!(our, their);
    }
    assert_eq!(ours.len(), theirs.len());
}

/// With other components some of these calls crash, because Open MPI 4.1 does not check all arrays of counts.
#[test]
fn negative_counts_are_refused() {
    let job = make_mistakes("rustcoll", &["negative recv count"]);
    job.assert(job.count(": MPI_ERR_COUNT") > 50, "so many calls are refused");
    let is_refused = |line: &str| line.contains("MPI_ERR_COUNT") || !line.contains(": MPI_");
    job.assert(job.text.lines().all(is_refused), "a negative count is accepted");
}

/// Open MPI checks the counts itself unless that is off.
#[test]
fn no_later_call_takes_the_messages_of_a_call_that_a_rank_refused_alone() {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll", "rustcoll").env("OMPI_MCA_mpi_param_check", "0");
    command.env("OMPI_MCA_coll_rustcoll_alltoallv_algorithm", "spread_out");
    let job = run_alone(PATIENCE, command.arg(compiled("refused")));
    for call in 1..=2 {
        job.assert_contains(&format!("call {call}: MPI_ERR_COUNT, received 0"));
    }
}

/// A rank refuses such a count as if all did.
#[test]
fn no_later_call_takes_the_messages_of_a_broadcast_that_a_rank_refused_alone() {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll", "rustcoll").env("OMPI_MCA_mpi_param_check", "0");
    command.env("OMPI_MCA_coll_rustcoll_bcast_algorithm", "linear");
    let job = run_alone(PATIENCE, command.arg(compiled("refused")).arg("bcast"));
    job.assert_contains("call 1: MPI_ERR_COUNT, received 0");
    job.assert_contains("call 2: waits");
}

/// Rules for calls that the forced algorithm cannot serve. The default rules depend on bytes, which differ
/// between the ranks of these calls, so the ranks would choose different algorithms.
const WHATEVER_THE_BYTES: [(&str, &str); 12] = [
    ("allgather", "linear"),
    ("allgatherv", "linear"),
    ("allreduce", "linear"),
    ("alltoall", "spread_out"),
    ("bcast", "linear"),
    ("exscan", "linear"),
    ("gather", "linear"),
    ("reduce", "linear"),
    ("reduce_scatter", "pairwise"),
    ("reduce_scatter_block", "pairwise"),
    ("scan", "linear"),
    ("scatter", "linear"),
];

/// Runs calls in which one rank expects less than its peer sends, but every block has data. Empty blocks are
/// not sent, so ranks that disagree about them would hang. Open MPI must not compare counts itself. It must
/// not use single copies either, because they ignore where a receive buffer ends. Shared memory is off,
/// because ranks that share memory do not know what others expect.
fn mismatch(ranks: usize, elements: usize) {
    let mut command = mpirun(ranks);
    command.env("OMPI_MCA_coll", "rustcoll").env("OMPI_MCA_coll_rustcoll_shared_memory", "off").args([
        "--mca",
        "mpi_param_check",
        "0",
        "--mca",
        "btl",
        "vader,self",
        "--mca",
        "btl_vader_single_copy_mechanism",
        "none",
    ]);
    for (collective, algorithm) in WHATEVER_THE_BYTES {
        let variable = format!("OMPI_MCA_coll_rustcoll_{collective}_rules");
        command.env(variable, format!("-> {algorithm}"));
    }
    let job = run_alone(PATIENCE, command.arg(compiled("mismatches")).arg(elements.to_string()));
    job.assert(job.success, "the program failed");
    // With bruck_padded, ranks know only the longest block's length.
    let is_silent = |line: &str| line.contains("by bruck_padded") && line.ends_with(": unnoticed");
    let results = job.text.lines().filter(|line| line.contains("expects less"));
    let (silent, told): (Vec<&str>, Vec<&str>) = results.partition(|line| is_silent(line));
    assert!(told.len() > 100 && silent.len() == 2 * 3 * ranks, "{}", job.text);
    for line in told {
        assert!(line.ends_with(": truncated"), "{line}");
    }
}

#[test]
fn a_rank_that_expects_less_than_it_is_sent_is_told_and_disturbs_nobody() {
    mismatch(2, 40_000);
    mismatch(3, 16);
}

#[test]
#[ignore = "takes long; make check-long"]
fn a_rank_that_expects_less_than_it_is_sent_disturbs_nobody_whatever_the_numbers() {
    for ranks in [2, 3, 5, 8] {
        for elements in [16, 1500, 40_000] {
            mismatch(ranks, elements);
        }
    }
}
