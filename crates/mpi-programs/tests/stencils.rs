//! Neighbourhoods that are the same on all ranks, although MPI does not tell them, and some that nearly are.

mod common;

use common::{Job, compiled, mpirun, run};

/// Returns the log's words for an algorithm of a collective.
fn ran(collective: &str, algorithm: &str) -> String {
    format!("{collective} by {algorithm}")
}

/// Runs the program. Negative lengths are those of periodic dimensions.
fn job(grid: &[i32], is_nearly: bool) -> Job {
    let ranks: usize = grid.iter().map(|length| length.unsigned_abs() as usize).product();
    let mut command = mpirun(ranks);
    for collective in ["neighbor_alltoall", "neighbor_allgather"] {
        command.args(["--mca", &format!("coll_rustcoll_{collective}_algorithm"), "combining"]);
    }
    command.args(["--mca", "coll_rustcoll_no_idle_neighbours", "on"]);
    command.args(["--mca", "coll_rustcoll_verbose", "1"]).arg(compiled("stencils"));
    command.args(is_nearly.then_some("nearly")).args(grid.iter().map(i32::to_string));
    let job = run(&mut command);
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
    job
}

#[test]
fn ranks_find_the_grid_of_their_neighbours() {
    for grid in [&[3, 3][..], &[-3, -3], &[-3, 4], &[-2, 2, 2], &[-4, 3], &[-4, -4]] {
        let job = job(grid, false);
        for collective in ["neighbor_alltoall", "neighbor_allgather"] {
            job.assert_contains(&ran(collective, "combining"));
            // The first communicator's first call is non-blocking.
            job.assert_contains(&ran(collective, "linear"));
        }
    }
}

#[test]
fn what_is_not_on_a_grid_is_not_combined() {
    for (grid, is_nearly) in
        [(&[-3, -3][..], true), (&[-3, 4], true), (&[5], false), (&[1, 4], false), (&[2, 2], false)]
    {
        let job = job(grid, is_nearly);
        let combined = job.count(&ran("neighbor_alltoall", "combining"));
        job.assert(combined == 0, "blocks were combined that must not be");
    }
}

/// The forced algorithm serves no Cartesian communicator, so rules decide. What they need, ranks must learn before the first call.
#[test]
fn ranks_decide_alike_by_rules_behind_an_algorithm_that_cannot_serve() {
    let mut command = mpirun(4);
    for (name, value) in [
        ("neighbor_alltoall_algorithm", "combining"),
        ("neighbor_alltoall_rules", "-> node_aware; -> linear"),
        ("neighbor_alltoallv_rules", "-> node_aware"),
    ] {
        command.args(["--mca", &format!("coll_rustcoll_{name}"), value]);
    }
    let job = run(command.arg(compiled("unserved")));
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}

/// Runs ranks of which every other one has no neighbours, on pretended nodes of two.
fn assert_nobody_waits(settings: &[(&str, &str)]) {
    let mut command = mpirun(4);
    for (name, value) in settings {
        command.args(["--mca", &format!("coll_rustcoll_{name}"), value]);
    }
    let job = run(command.arg(compiled("idle")).arg("2"));
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}

#[test]
fn nobody_waits_for_a_rank_without_neighbours() {
    for (algorithm, of_all) in [("auto", "auto"), ("combining", "auto"), ("node_aware", "node_aware")] {
        assert_nobody_waits(&[
            ("neighbor_alltoall_algorithm", algorithm),
            ("neighbor_allgather_algorithm", algorithm),
            // All ranks come to this one.
            ("neighbor_alltoallv_algorithm", of_all),
        ]);
    }
}

#[test]
fn nobody_waits_for_such_a_rank_to_exchange_nodes() {
    assert_nobody_waits(&[("neighbor_alltoall_rules", "ranks_per_node=2.. -> linear")]);
}
