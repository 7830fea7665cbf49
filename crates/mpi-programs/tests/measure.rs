//! The measuring program over a real MPI.

mod common;

use common::{mpirun, run};
use measurements::{Line, Measurement};
use std::process::Command;

fn measure(arguments: &[&str]) -> Command {
    let mut command = mpirun(2);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1");
    command.arg(env!("CARGO_BIN_EXE_measure")).args(["--at-most", "5", "--budget", "50"]).args(arguments);
    command
}

fn measurements(text: &str) -> Vec<Measurement> {
    let lines = text.lines().filter_map(Line::from_json);
    lines
        .filter_map(|line| if let Line::Measurement(measurement) = line { Some(measurement) } else { None })
        .collect()
}

#[test]
fn contestants_take_turns_and_all_their_times_are_told() {
    for mode in [&[][..], &["--hot"]] {
        let arguments = ["--contestants", "rustcoll,tuned,rustcoll:reduce_bcast", "allreduce:8,4K"];
        let job = run(&mut measure(&[mode, &arguments].concat()), 60);
        job.assert(job.success, "the program failed");
        let all = measurements(&job.text);
        let told: Vec<_> = all.iter().map(|one| (one.bytes, &one.contestant[..])).collect();
        let expected = [8, 4096].map(|bytes| {
            ["rustcoll", "tuned", "rustcoll:reduce_bcast"].map(|contestant| (bytes, contestant))
        });
        assert_eq!(told, expected.concat());
        assert_eq!(all[2].ran, "reduce_bcast");
        assert!(all.iter().all(|one| one.nanoseconds.len() >= 3 && one.ranks == 2));
    }
}

#[test]
fn every_collective_of_a_group_can_be_measured() {
    let collectives = rustcoll::algorithms::Collective::ALL.map(|collective| collective.name());
    let own = collectives.iter().filter(|name| !name.starts_with("neighbor_"));
    let series: Vec<String> = own.map(|name| format!("{name}:12")).collect();
    let mut arguments = vec!["--at-least", "1", "--contestants", "rustcoll,tuned"];
    arguments.extend(series.iter().map(String::as_str));
    let job = run(&mut measure(&arguments), 60);
    job.assert(job.success, "the program failed");
    job.assert(measurements(&job.text).len() == 2 * series.len(), "a result is missing");
}

#[test]
fn a_copy_takes_part_as_the_yardstick() {
    let series = ["bcast:1M", "allgather:4K", "barrier"];
    let arguments = [&["--hot", "--contestants", "tuned,copy"], &series[..]].concat();
    let job = run(&mut measure(&arguments), 60);
    job.assert(job.success, "the program failed");
    let copies: Vec<_> = measurements(&job.text).into_iter().filter(|one| one.contestant == "copy").collect();
    job.assert(copies.len() == series.len(), "a copy is missing");
    // The time of the rank that copies, not of the root.
    let least = |one: &Measurement| one.nanoseconds.iter().min().copied().unwrap_or(0);
    job.assert(least(&copies[0]) > 5_000, "a MiB takes some time");
}

#[test]
fn sm_serves_ranks_of_one_node_without_the_help_of_rustcoll() {
    let series = ["barrier", "bcast:8,64K", "reduce:8", "allreduce:8,64K", "allgather:8"];
    let arguments = [&["--hot", "--contestants", "rustcoll,sm,tuned"], &series[..]].concat();
    let job = run(measure(&arguments).env("OMPI_MCA_coll", "rustcoll,sm,tuned,basic,libnbc,self,inter"), 60);
    job.assert(job.success, "the program failed");
    job.assert(measurements(&job.text).len() == 3 * 7, "a result is missing");
}

#[test]
fn whoever_is_not_there_is_named() {
    for (contestant, expected) in [
        ("nobody", "the contestant nobody: the component nobody is not loaded"),
        (
            "tuned:3",
            "the contestant tuned:3: tuned chooses by itself unless coll_tuned_use_dynamic_rules is set",
        ),
        ("rustcoll:rng", "unknown allreduce algorithm `rng`; the nearest known one is `ring`"),
    ] {
        let job = run(&mut measure(&["--contestants", &format!("rustcoll,{contestant}"), "allreduce:8"]), 60);
        job.assert(!job.success, "this must be refused");
        job.assert_contains(expected);
    }
}

#[test]
fn an_algorithm_that_does_not_serve_a_call_is_not_measured() {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
    command.args(["--contestants", "rustcoll:neighbor_exchange,tuned", "allgather:8"]);
    let job = run(&mut command, 60);
    job.assert(!job.success, "this must be told");
    job.assert_contains("this algorithm does not serve the call, but");
    job.assert(measurements(&job.text).len() == 1, "the other one can be measured");
}
