//! Collectives that know which ranks share a node. The program pretends that its ranks are on several nodes.

mod common;

use common::{Job, compiled, mpirun, run};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The program's collectives, each with a forced algorithm.
type Algorithms = [(&'static str, &'static str); 6];

fn job(program: &Path, ranks: usize, ranks_on_nodes: [usize; 2], algorithms: Algorithms) -> Job {
    let mut command = mpirun(ranks);
    for (collective, algorithm) in algorithms {
        command.args(["--mca", &format!("coll_rustcoll_{collective}_algorithm"), algorithm]);
    }
    // Segments end within elements.
    command.args(["--mca", "coll_rustcoll_bcast_segment", "1001", "--mca", "coll_rustcoll_verbose", "1"]);
    run(command.arg(program).args(ranks_on_nodes.map(|ranks| ranks.to_string())))
}

fn assert_right(algorithms: Algorithms) {
    for (ranks, ranks_on_node, nodes) in [(7, 3, 3), (7, 1, 7), (6, 2, 3), (5, 5, 1)] {
        assert_right_on(nodes, (ranks, [ranks_on_node, 0]), algorithms);
    }
}

/// Asserts that a job is right on so many nodes. `ranks`: their number, and how many are on a node and on the first node.
fn assert_right_on(nodes: usize, (ranks, on_nodes): (usize, [usize; 2]), algorithms: Algorithms) {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    let job = job(PROGRAM.get_or_init(|| compiled("nodes")), ranks, on_nodes, algorithms);
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    let lines: Vec<&str> = job.text.lines().collect();
    for (collective, algorithm) in algorithms {
        let ran = format!(" {collective} by {algorithm}, ");
        let nodes = format!("nodes {nodes}");
        let is_told = lines.iter().any(|line| line.contains(&ran) && line.ends_with(&nodes));
        job.assert(is_told, &format!("{collective} by {algorithm} did not know of {nodes}"));
    }
}

#[test]
fn node_aware_collectives_of_short_vectors_are_right() {
    assert_right([
        ("allgather", "node_aware"),
        ("allreduce", "node_aware"),
        ("alltoall", "node_aware"),
        ("bcast", "node_aware_knomial"),
        ("reduce", "node_aware_knomial"),
        ("reduce_scatter_block", "node_aware"),
    ]);
}

#[test]
fn node_aware_collectives_of_long_vectors_are_right() {
    assert_right([
        ("allgather", "node_aware"),
        ("allreduce", "node_aware_circulant"),
        ("alltoall", "node_aware"),
        ("bcast", "node_aware_chain"),
        ("reduce", "node_aware_chain"),
        ("reduce_scatter_block", "node_aware"),
    ]);
}

#[test]
fn a_broadcast_between_nodes_by_scatter_and_ring_is_right() {
    assert_right([
        ("allgather", "node_aware"),
        ("allreduce", "node_aware"),
        ("alltoall", "node_aware"),
        ("bcast", "node_aware"),
        ("reduce", "node_aware_chain"),
        ("reduce_scatter_block", "node_aware"),
    ]);
}

#[test]
fn collectives_through_leaders_that_share_memory_with_their_nodes_are_right() {
    assert_right([
        ("allgather", "shared_leaders"),
        ("allreduce", "shared_leaders"),
        ("alltoall", "shared_multi_leaders"),
        ("bcast", "shared_leaders"),
        ("reduce", "shared_leaders"),
        ("reduce_scatter_block", "shared_leaders"),
    ]);
}

#[test]
fn long_vectors_are_right_through_leaders_that_share_memory_with_their_nodes() {
    assert_right([
        ("allgather", "shared_multi_leaders"),
        ("allreduce", "shared_multi_leaders"),
        ("alltoall", "shared_multi_leaders"),
        ("bcast", "shared_leaders_pipelined"),
        ("reduce", "shared_leaders_pipelined"),
        ("reduce_scatter_block", "shared_multi_leaders"),
    ]);
}

/// One node of 4 ranks and six of 1: the ranks of the full node own slices that no other node has ranks for.
#[test]
fn vectors_are_right_where_one_node_has_four_times_as_many_ranks_as_the_others() {
    let with = |reduce| {
        [
            ("allgather", "shared_multi_leaders"),
            ("allreduce", "shared_multi_leaders"),
            ("alltoall", "shared_multi_leaders"),
            ("bcast", "shared_leaders_pipelined"),
            ("reduce", reduce),
            ("reduce_scatter_block", "shared_multi_leaders"),
        ]
    };
    for reduce in ["shared_multi_leaders", "shared_multi_leaders_pipelined"] {
        assert_right_on(7, (10, [1, 4]), with(reduce));
    }
}

#[test]
fn hosts_of_one_name_decide_alike() {
    let mut command = mpirun(4);
    // Ranks choose the allgather's rule before the broadcast's rule makes hosts exchange names, and again afterwards.
    command.args(["--mca", "coll_rustcoll_allgather_rules", "nodes=2.. -> ring; -> bruck radix=4"]);
    command.args(["--mca", "coll_rustcoll_bcast_rules", "nodes=4.. -> binomial; -> linear"]);
    // The same for the alltoallw among neighbours, before which an alltoallv makes them exchange names.
    command.args(["--mca", "coll_rustcoll_neighbor_alltoallw_rules", "nodes=2.. -> below; -> linear"]);
    command.args(["--mca", "coll_rustcoll_neighbor_alltoallv_rules", "-> node_aware"]);
    let job = run(command.arg(compiled("one_name")));
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}
