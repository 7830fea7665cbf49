//! Runs the conformance program on many numbers of ranks, mostly with rustcoll alone.

mod common;

use common::{library, mpirun, run_alone};
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

/// basic serves what rustcoll refuses. Open MPI 4.1's tuned hangs in an allgatherv if ranks describe the same
/// data by different datatypes.
const ABOVE_BASIC: &[(&str, &str)] = &[("coll", "rustcoll,basic,libnbc,self,inter")];

const ALONE: &[(&str, &str)] = &[("coll", "rustcoll")];

/// Most seconds for a job with a given number of cases, even on a busy machine. The limit only ends jobs that hang.
const PATIENCE: u32 = 1800;

/// Only as many cases as show every value of every argument, however long they take.
const INDISPENSABLE: [&str; 2] = ["--cases", "1"];

/// Runs the program with these parameters of Open MPI.
fn conformance(ranks: usize, parameters: &[(&str, &str)], options: &[&str], seconds: u32) {
    run_conformance(mpirun(ranks), parameters, options, seconds);
}

fn run_conformance(mut command: Command, parameters: &[(&str, &str)], options: &[&str], seconds: u32) {
    command.envs(parameters.iter().map(|(name, value)| (format!("OMPI_MCA_{name}"), value)));
    command.arg(env!("CARGO_BIN_EXE_conformance")).args(options);
    let job = run_alone(seconds, &mut command);
    job.assert(job.success, &format!("conformance fails: {command:?}"));
    job.assert_contains(" passed, 0 failed");
}

/// Runs the program on ranks that pretend to be on several nodes, the last node with fewer ranks than the others if need be.
fn on_nodes(ranks: usize, ranks_on_node: usize, options: &[&str]) {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    let library = LIBRARY.get_or_init(|| library("pretended_nodes"));
    let mut command = mpirun(ranks);
    command.arg("-x").arg(format!("LD_PRELOAD={}", library.display()));
    let ranks_on_node = ranks_on_node.to_string();
    let options = [&["--ranks-on-node", &ranks_on_node][..], options].concat();
    run_conformance(command, ALONE, &options, PATIENCE);
}

fn indispensable(ranks: usize, parameters: &[(&str, &str)], options: &[&str]) {
    conformance(ranks, parameters, &[&INDISPENSABLE, options].concat(), PATIENCE);
}

/// Each job makes communicators of every size up to its own.
#[test]
fn alone_on_up_to_9_ranks() {
    for ranks in [1, 2, 9] {
        indispensable(ranks, ALONE, &[]);
    }
}

/// A forced algorithm for stencils serves some persistent calls, and rules send the others through shared memory.
#[test]
fn neighbours_in_shared_memory_on_9_ranks() {
    let rules = [
        ("coll_rustcoll_neighbor_alltoall_rules", "nodes=1 -> shared"),
        ("coll_rustcoll_shared_memory_from", "1"),
    ];
    indispensable(9, &[ALONE, &rules].concat(), &["--collective", "neighbor_alltoall"]);
}

#[test]
fn above_another_component_on_subgroups_of_5_ranks() {
    indispensable(5, ABOVE_BASIC, &["--seed", "2"]);
}

#[test]
fn on_several_nodes() {
    for (ranks, ranks_on_node) in [(6, 2), (7, 3)] {
        let size = ranks.to_string();
        on_nodes(ranks, ranks_on_node, &[&INDISPENSABLE[..], &["--sizes", &size]].concat());
    }
}

/// Every call of more than a few elements passes through the shared memory in many pieces.
#[test]
fn over_very_little_shared_memory() {
    let little =
        [ALONE, &[("coll_rustcoll_shared_memory_size", "1"), ("coll_rustcoll_shared_memory_limit", "1")]]
            .concat();
    for algorithm in ["shared", "shared_flat", "shared_leaders", "shared_slices"] {
        let options = ["--sizes", "3", "--algorithm", algorithm, "--long", "--cases", "60"];
        conformance(3, &little, &options, PATIENCE);
    }
}

/// Jobs of every size, because scenarios and calls on two groups always use all ranks of the job.
#[test]
#[ignore = "takes minutes"]
fn alone_in_jobs_of_up_to_9_and_of_12_13_and_16_ranks() {
    for ranks in [1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 16] {
        let size = ranks.to_string();
        let options = ["--sizes", &size, "--cases", "1000", "--budget-seconds", "15"];
        conformance(ranks, ALONE, &options, PATIENCE);
    }
}

#[test]
#[ignore = "takes minutes"]
fn above_another_component_on_subgroups_of_8_ranks() {
    conformance(8, ABOVE_BASIC, &["--seed", "2", "--cases", "1000", "--budget-seconds", "30"], PATIENCE);
}

#[test]
#[ignore = "takes minutes"]
fn on_several_nodes_at_length() {
    for (ranks, ranks_on_node) in [(6, 2), (7, 3), (9, 4), (13, 2)] {
        let options = ["--seed", "2", "--cases", "1000", "--budget-seconds", "30"];
        on_nodes(ranks, ranks_on_node, &options);
    }
}

#[test]
#[ignore = "takes minutes"]
fn alone_over_other_transports() {
    let transports = [
        &[("pml", "ucx"), ("opal_common_ucx_tls", "any"), ("opal_common_ucx_devices", "any")][..],
        // Without this, Open MPI would use libfabric's provider "sockets" on a machine without a fast
        // network. It stalls if messages of several tags wait for their receives, even with plain MPI_Isend.
        &[("pml", "cm"), ("mtl", "ofi"), ("mtl_ofi_provider_include", "tcp;ofi_rxm")],
        &[("btl", "tcp,self")],
    ];
    for transport in transports {
        let parameters = [ALONE, transport].concat();
        let options = ["--sizes", "5", "--cases", "1000", "--budget-seconds", "15"];
        conformance(5, &parameters, &options, PATIENCE);
    }
}

#[test]
#[ignore = "takes minutes"]
fn memory_stays_flat_through_600_000_operations_on_200_communicators() {
    conformance(3, ALONE, &["--soak", "600000"], PATIENCE);
}

#[test]
#[ignore = "takes twenty minutes"]
fn every_size_up_to_16_at_length() {
    conformance(5, ALONE, &["--long", "--cases", "1000", "--budget-seconds", "300"], PATIENCE);
    conformance(16, ALONE, &["--seed", "3", "--cases", "1000", "--budget-seconds", "600"], 2 * PATIENCE);
}

#[test]
#[ignore = "needs 11 GB of memory and twenty minutes"]
fn vectors_of_more_than_2_gib() {
    conformance(2, ALONE, &["--huge"], 2 * PATIENCE);
}
