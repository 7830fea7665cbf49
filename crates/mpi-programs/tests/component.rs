//! How the component presents itself to Open MPI and to the user. The tests run a user's C program with it.

mod common;

use common::{Job, compiled, mpirun, root, run, run_user_program, user_program};
use rustcoll::algorithms::Collective;
use std::env;
use std::path::Path;
use std::process::Command;

fn assert_right(job: &Job) {
    job.assert(job.success, "the program failed");
    job.assert_contains("0 wrong");
}

#[test]
fn forced_binary_blocks_on_13_ranks() {
    let job = run_user_program(13, &["--mca", "coll_rustcoll_allreduce_algorithm", "binary_blocks"], 0);
    assert_right(&job);
    job.assert_contains("rank 12 of 13, communicator 0: allreduce by binary_blocks");
}

#[test]
fn forced_bruck_of_radix_4_on_13_ranks() {
    let options =
        ["--mca", "coll_rustcoll_alltoall_algorithm", "bruck", "--mca", "coll_rustcoll_alltoall_radix", "4"];
    let job = run_user_program(13, &options, 0);
    assert_right(&job);
    job.assert_contains("alltoall by bruck, radix 4");
}

#[test]
fn forced_bandwidth_saving_broadcast_on_10_ranks_from_root_3() {
    let options = ["--mca", "coll_rustcoll_bcast_algorithm", "scatter_ring_allgather_opt"];
    let job = run_user_program(10, &options, 3);
    assert_right(&job);
    job.assert_contains("bcast by scatter_ring_allgather_opt");
}

#[test]
fn all_ranks_get_the_same_bits_from_every_allreduce() {
    let program = compiled("same_bits");
    // The program also leaves the choice to the rules.
    let algorithms = 1 + Collective::Allreduce.algorithms().count();
    for ranks in [2, 4, 7] {
        let job = run(mpirun(ranks).arg(&program));
        job.assert(job.success, "the program failed");
        job.assert_contains(&format!("{algorithms} algorithms\n0 wrong\n"));
    }
}

#[test]
fn segments_are_bytes() {
    let options = [
        "--mca",
        "coll_rustcoll_bcast_algorithm",
        "binomial",
        "--mca",
        "coll_rustcoll_bcast_segment",
        "4096",
    ];
    let job = run_user_program(5, &options, 4);
    assert_right(&job);
    job.assert_contains("bcast by binomial, segments 98");
}

#[test]
fn rules_decide_where_nothing_is_forced() {
    let job = run_user_program(5, &[], 0);
    assert_right(&job);
    job.assert_contains("allreduce by shared_flat");
    // Non-blocking calls share no memory here.
    job.assert_contains("allreduce by recursive_doubling");
    job.assert_contains("neighbor_alltoallw by single_copy");
}

#[test]
fn a_refused_call_is_reported_once_for_each_communicator() {
    let job = run_user_program(4, &["--mca", "coll_rustcoll_allreduce_algorithm", "ring"], 0);
    assert_right(&job);
    let report = "ring is forced for allreduce, but cannot serve this call: the operator does not commute";
    job.assert(job.count(report) == 2, "two communicators, one report each");
}

#[test]
fn a_radix_above_the_size_is_cut_and_the_log_says_so() {
    let options =
        ["--mca", "coll_rustcoll_alltoall_algorithm", "bruck", "--mca", "coll_rustcoll_alltoall_radix", "64"];
    let job = run_user_program(5, &options, 0);
    assert_right(&job);
    job.assert_contains("radix 64 is cut to 5");
}

#[test]
fn inactive_unless_asked_for() {
    let mut command = mpirun(2);
    // The later of the two `coll` options wins.
    command.args(["--mca", "coll", "^han", "--mca", "coll_rustcoll_verbose", "80"]).arg(user_program());
    let job = run(&mut command);
    assert_right(&job);
    job.assert(job.count("rustcoll:") == 0, "the component must stay away");
}

#[test]
fn alone_it_serves_every_collective_of_an_intra_communicator() {
    for ranks in [1, 2, 5] {
        let mut command = mpirun(ranks);
        let job = run(command.env("OMPI_MCA_coll", "rustcoll").arg(user_program()));
        assert_right(&job);
    }
}

#[test]
fn alone_it_makes_and_serves_inter_communicators() {
    let program = compiled("inter_program");
    for ranks in [2, 3, 6] {
        let mut command = mpirun(ranks);
        command.env("OMPI_MCA_coll", "rustcoll").env("OMPI_MCA_coll_rustcoll_verbose", "1");
        let job = run(command.arg(&program));
        assert_right(&job);
        job.assert_contains(&format!("rank 0 of 1+{}, communicator", ranks - 1));
        job.assert_contains("allgatherv by inter_linear");
    }
}

#[test]
fn what_is_forced_for_one_group_is_reported_once_in_each_of_two() {
    let program = compiled("inter_program");
    let mut command = mpirun(2);
    command.args([
        "--mca",
        "coll_rustcoll_allgatherv_algorithm",
        "ring",
        "--mca",
        "coll_rustcoll_verbose",
        "1",
    ]);
    let job = run(command.arg(&program));
    assert_right(&job);
    // Only MPI_Intercomm_merge calls it: once between the ranks, once with spawned ones. Each group's first rank
    // reports.
    let report = "ring is forced for allgatherv, but cannot serve this call: the communicator has two groups";
    job.assert(job.count(report) == 4, "two communicators, one report for each group");
    job.assert_contains("allgatherv by inter_linear");
}

#[test]
fn what_is_forced_for_two_groups_leaves_one_to_the_rules() {
    let job = run_user_program(4, &["--mca", "coll_rustcoll_allreduce_algorithm", "inter_leaders"], 0);
    assert_right(&job);
    let report =
        "inter_leaders is forced for allreduce, but cannot serve this call: the communicator has but one";
    // One report on each of the program's communicators.
    job.assert_contains(report);
    job.assert_contains("allreduce by shared_flat");
}

/// tuned has no non-blocking collectives. A refused blocking call falls back to tuned, but a non-blocking one cannot.
#[test]
fn forms_without_a_component_below_are_served_all_the_same() {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll", "rustcoll,tuned").env("OMPI_MCA_coll_rustcoll_allreduce_algorithm", "ring");
    assert_right(&run(command.arg(user_program())));
}

#[test]
fn an_explicit_priority_makes_it_active() {
    let mut command = mpirun(2);
    command.args(["--mca", "coll", "^han", "--mca", "coll_rustcoll_priority", "50"]);
    let job = run(command.args(["--mca", "coll_rustcoll_verbose", "1"]).arg(user_program()));
    assert_right(&job);
    job.assert_contains("allreduce by recursive_doubling");
}

#[test]
fn illegal_values_end_the_job_with_the_legal_ones() {
    let cases = [
        ("allreduce_algorithm", "nonsense", "\"binary_blocks\""),
        ("allreduce_algorithm", "binary_block", "Nearest name: binary_blocks"),
        ("allreduce_algorithm", "99", "\"binary_blocks\""),
        ("alltoall_radix", "1", "\"sqrt\", or a number from 2 up"),
        ("alltoall_radix", "2x", "\"sqrt\", or a number from 2 up"),
        ("alltoall_radix", "99999999999", "\"sqrt\", or a number from 2 up"),
        ("reproducible", "perhaps", "\"on\""),
        ("scratch_limit", "0", "\"none\", or a number from 1 up"),
        ("scratch_kept", "2147483648", "\"none\", or a number from 1 up"),
        ("bcast_segment", "-5", "\"none\", or a number from 1 up"),
        ("priority", "high", "\"off\", or a number from 0 up"),
        ("verbose", "loud", "\"info\""),
    ];
    for (parameter, value, legal) in cases {
        let name = format!("coll_rustcoll_{parameter}");
        let job = run_user_program(2, &["--mca", &name, value], 0);
        job.assert(!job.success, &format!("{name} = {value} must end the job"));
        job.assert(job.count("wrong") == 0, "the program must not run");
        job.assert_contains("has an illegal value");
        job.assert_contains(&format!("Parameter:    {name}"));
        job.assert_contains(&format!("Value:        {value}"));
        job.assert_contains(legal);
    }
}

#[test]
fn ompi_info_lists_the_parameters() {
    let mpicc = env::var("MPICC").unwrap_or("mpicc".into());
    let mut command = Command::new(Path::new(&mpicc).with_file_name("ompi_info"));
    command.args(["--param", "coll", "rustcoll", "--level", "9"]);
    command.env("OMPI_MCA_mca_base_component_path", root().join("build"));
    let job = run(&mut command);
    job.assert(job.success, "ompi_info failed");
    for name in [
        "priority",
        "verbose",
        "allreduce_algorithm",
        "allreduce_rules",
        "alltoall_radix",
        "bcast_segment",
        "allreduce_ran",
        "allreduce_calls",
        "report",
        "rules_file",
        "dynamic_rules_filename",
        "site_rules_file",
        "rules_strict",
    ] {
        job.assert_contains(&format!("\"coll_rustcoll_{name}\""));
    }
    job.assert_contains(":\"scatter_ring_allgather_opt\"");
}

#[test]
fn only_the_component_is_exported() {
    let mut command = Command::new("nm");
    command.args(["-D", "--defined-only"]).arg(root().join("build/mca_coll_rustcoll.so"));
    let job = run(&mut command);
    let symbols: Vec<&str> = job.text.lines().filter_map(|line| line.split_whitespace().last()).collect();
    assert_eq!(symbols, ["mca_coll_rustcoll_component"]);
}

/// Runs a target of make for a prefix, staged in `stage`.
fn make(target: &str, stage: &Path) -> Job {
    let mut command = Command::new("make");
    command.arg("-C").arg(root()).args([target, "PREFIX=/opt/mpi"]);
    let job = run(command.arg(format!("DESTDIR={}", stage.display())));
    job.assert(job.success, "make failed");
    job
}

#[test]
fn make_install_puts_files_where_it_is_told_and_make_uninstall_leaves_nothing() {
    let stage = Path::new(env!("CARGO_TARGET_TMPDIR")).join("stage");
    let _ = std::fs::remove_dir_all(&stage);
    let job = make("install", &stage);
    for file in [
        "lib/openmpi/mca_coll_rustcoll.so",
        "lib/openmpi/help-mca-coll-rustcoll.txt",
        "bin/rustcoll",
        "lib/pkgconfig/rustcoll.pc",
        "libexec/rustcoll/measure",
    ] {
        job.assert(stage.join("opt/mpi").join(file).exists(), file);
    }
    let job = make("uninstall", &stage);
    job.assert(std::fs::read_dir(stage.join("opt")).unwrap().next().is_none(), "something is left");
}
