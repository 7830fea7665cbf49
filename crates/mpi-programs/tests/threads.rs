//! Threads that call collectives at the same time, each on its own communicator.

mod common;

use common::{compiled, mpirun, run_alone};

/// Runs the threads over messages, over shared memory, and with so little of it that communicators take it from each
/// other.
fn threads_get_right_results(seconds: &str) {
    let program = compiled("threads");
    for (parameter, value) in
        [("shared_memory", "off"), ("shared_memory", "on"), ("shared_memory_limit", "64")]
    {
        let mut command = mpirun(3);
        command.args(["--mca", &format!("coll_rustcoll_{parameter}"), value]);
        let job = run_alone(600, command.arg(&program).arg(seconds));
        job.assert(job.success, &format!("threads fail with {parameter}={value}"));
        job.assert_contains(" 0 wrong");
    }
}

#[test]
fn four_threads_at_once_get_right_results() {
    threads_get_right_results("2");
}

#[test]
#[ignore = "takes minutes"]
fn four_threads_at_once_get_right_results_for_a_minute() {
    threads_get_right_results("60");
}
