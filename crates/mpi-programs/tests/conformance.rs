//! The conformance program on many numbers of ranks.

mod common;

use common::{mpirun, run};

fn conformance(ranks: usize, options: &[&str], seconds: u32) {
    let mut command = mpirun(ranks);
    // What rustcoll refuses goes to basic: Open MPI 4.1's tuned hangs in an allgatherv whose ranks describe the same data
    // by different datatypes.
    command.env("OMPI_MCA_coll", "rustcoll,basic,libnbc,self,inter");
    command.arg(env!("CARGO_BIN_EXE_conformance")).args(options);
    let job = run(&mut command, seconds);
    job.assert(job.success, &format!("conformance fails on {ranks} ranks"));
    job.assert_contains(" passed, 0 failed");
}

/// Each job tests communicators of every size up to its own, so small jobs need no more than their own size.
#[test]
fn on_up_to_9_and_on_12_13_and_16_ranks() {
    for ranks in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16] {
        let size = ranks.to_string();
        conformance(ranks, &["--sizes", &size, "--cases", "1000", "--budget-seconds", "15"], 300);
    }
}

#[test]
fn on_subgroups_of_8_ranks() {
    conformance(8, &["--seed", "2", "--cases", "1000", "--budget-seconds", "30"], 300);
}

#[test]
#[ignore = "takes minutes"]
fn every_size_up_to_16_at_length() {
    conformance(5, &["--long", "--cases", "1000"], 1200);
    conformance(16, &["--seed", "3", "--cases", "1000", "--budget-seconds", "600"], 1200);
}

#[test]
#[ignore = "needs 10 GB of memory"]
fn vectors_of_more_than_2_gib() {
    conformance(2, &["--huge"], 600);
}
