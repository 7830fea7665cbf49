//! Broadcasts that know which ranks share a node; the program pretends that its ranks are on several.

mod common;

use common::{Job, compiled, mpirun, run};
use std::path::Path;

fn broadcast(program: &Path, ranks: usize, ranks_on_node: usize) -> Job {
    let mut command = mpirun(ranks);
    command.args([
        "--mca",
        "coll_rustcoll_bcast_algorithm",
        "node_aware",
        "--mca",
        "coll_rustcoll_verbose",
        "1",
    ]);
    run(command.arg(program).arg(ranks_on_node.to_string()), 120)
}

#[test]
fn node_aware_broadcasts_are_right() {
    let program = compiled("nodes");
    for (ranks, ranks_on_node, nodes) in [(7, 3, 3), (7, 1, 7), (6, 2, 3), (5, 5, 1)] {
        let job = broadcast(&program, ranks, ranks_on_node);
        job.assert(job.success, "the program failed");
        job.assert_contains("0 wrong");
        job.assert_contains(&format!("bcast by node_aware, nodes {nodes}"));
    }
}
