//! With `coll_rustcoll_reproducible`, a reduction's bits depend only on the ranks' values.

mod common;

use common::{Job, compiled, mpirun, run, run_user_program};
use std::path::Path;

const ON: [&str; 3] = ["--mca", "coll_rustcoll_reproducible", "on"];

fn reduce_in_many_ways(program: &Path, ranks: usize, options: &[&str]) -> Job {
    let mut command = mpirun(ranks);
    command.env("OMPI_MCA_coll_rustcoll_verbose", "1").args(options);
    run(command.arg(program))
}

#[test]
fn the_same_bits_however_data_are_reduced() {
    let program = compiled("reproducible");
    for ranks in [4, 5, 7] {
        let job = reduce_in_many_ways(&program, ranks, &ON);
        job.assert(job.success, "the program failed");
        job.assert_contains("0 wrong");
        job.assert_contains("allreduce by recursive_doubling");
        job.assert_contains("allreduce by rabenseifner");
    }
    // Without the parameter, the program must find differences.
    let job = reduce_in_many_ways(&program, 5, &[]);
    job.assert(!job.success, "rules that choose by length must make a difference");
    job.assert_contains(" wrong");
}

#[test]
fn a_forced_algorithm_that_is_not_reproducible_is_refused() {
    let forced = ["--mca", "coll_rustcoll_allreduce_algorithm", "ring"];
    let job = run_user_program(5, &[ON, forced].concat(), 0);
    job.assert(job.success, "the program failed");
    let report = "ring is forced for allreduce, but cannot serve this call: its results are not reproducible; \
                  another one runs";
    job.assert_contains(report);
    job.assert_contains("allreduce by recursive_doubling");
    job.assert(job.count("allreduce by ring") == 0, "it must not run");
}

#[test]
fn what_only_moves_data_is_not_restricted() {
    let forced = ["--mca", "coll_rustcoll_alltoall_algorithm", "bruck"];
    let job = run_user_program(5, &[ON, forced].concat(), 0);
    job.assert(job.success, "the program failed");
    job.assert_contains("alltoall by bruck");
}
