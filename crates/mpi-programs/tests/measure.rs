//! The measuring program over a real MPI.

mod common;

use common::notes::skipped;
use common::{Job, Running, mpirun, run};
use measurements::{Form, Measurement, Operation, OutputLine, Reference, Shape, Trial};
use rustcoll::algorithms::{Algorithm, Collective, MOCK_UPS};
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

fn measure(arguments: &[&str]) -> Command {
    let mut command = mpirun(2);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1");
    command.arg(env!("CARGO_BIN_EXE_measure")).args(["--at-most", "5", "--budget", "50"]).args(arguments);
    command
}

fn lines(text: &str) -> Vec<OutputLine> {
    text.lines().filter_map(OutputLine::from_json).collect()
}

fn measurements(text: &str) -> Vec<Measurement> {
    let measured =
        |line| if let OutputLine::Measurement(measurement) = line { Some(measurement) } else { None };
    lines(text).into_iter().filter_map(measured).collect()
}

/// Writes a file of these tests, and returns its path.
fn file(name: &str, content: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&path, content).unwrap();
    path
}

fn assert_refused(arguments: &[&str], expected: &str) {
    let job = run(&mut measure(arguments));
    job.assert(!job.success, "this must be refused");
    job.assert_contains(expected);
    job.assert(lines(&job.text).is_empty(), "something was told");
}

#[test]
fn contestants_take_turns_and_all_their_times_are_told() {
    for mode in [&[][..], &["--hot"]] {
        let arguments = ["--contestants", "rustcoll,tuned,rustcoll:reduce_bcast", "allreduce:8,4K"];
        let job = run(&mut measure(&[mode, &arguments].concat()));
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
    let series: Vec<String> = own
        .flat_map(|name| [format!("{name}:12"), format!("i{name}:12"), format!("{name}_init:12")])
        .collect();
    let mut arguments = vec!["--at-least", "1", "--contestants", "rustcoll,tuned"];
    arguments.extend(series.iter().map(String::as_str));
    let job = run(&mut measure(&arguments));
    job.assert(job.success, "the program failed");
    job.assert(measurements(&job.text).len() == 2 * series.len(), "a result is missing");
}

#[test]
fn all_forms_of_a_collective_are_measured() {
    for mode in [&[][..], &["--hot"]] {
        let series = ["iallreduce:8", "allreduce_init:8"];
        let arguments = [&["--contestants", "rustcoll,tuned,rustcoll:ring"], &series[..]].concat();
        let job = run(&mut measure(&[mode, &arguments].concat()));
        job.assert(job.success, "the program failed");
        let all = measurements(&job.text);
        let told = all.iter().map(|one| (&one.collective[..], &one.contestant[..])).collect::<Vec<_>>();
        let contestants = |name| ["rustcoll", "tuned", "rustcoll:ring"].map(|contestant| (name, contestant));
        assert_eq!(told, ["iallreduce", "allreduce_init"].map(contestants).concat());
        assert!(all.iter().all(|one| one.nanoseconds.len() >= 3 && one.bytes == 8));
        assert_eq!([&all[2].ran, &all[5].ran], ["ring", "ring"]);
    }
}

#[test]
fn what_has_no_other_form_than_the_blocking_one_is_not_measured_in_it() {
    let mock_up = "allreduce_as_reduce_bcast";
    let heats = [
        &format!("iallreduce:8/tuned:{mock_up},copy"),
        &format!("allreduce_init:8/rustcoll:{mock_up}"),
        "allgather_init:8/rustcoll:shared",
    ];
    let job = run(&mut measure(&heats));
    job.assert(!job.success, "this must be told");
    job.assert_contains("not eligible: mock-ups stand for blocking collectives of equal blocks in one group alone, not for iallreduce");
    job.assert_contains("this algorithm does not serve the call, but");
    let told: Vec<_> = measurements(&job.text).into_iter().map(|one| one.contestant).collect();
    assert_eq!(told, ["copy", "rustcoll:shared"]);
}

/// tuned has algorithms only for blocking collectives, so choosing one of them would have no effect.
#[test]
fn the_algorithm_of_another_form_is_not_chosen() {
    let mut command = measure(&["iallreduce:8/tuned:3"]);
    let job = run(command.env("OMPI_MCA_coll_tuned_use_dynamic_rules", "1"));
    job.assert(!job.success, "this must be refused");
    job.assert_contains("the contestant tuned:3: MPI knows no variable coll_tuned_iallreduce_algorithm");
}

#[test]
fn a_copy_takes_part_as_the_yardstick() {
    let series = ["bcast:1M", "allgather:4K", "barrier"];
    let arguments = [&["--hot", "--contestants", "tuned,copy"], &series[..]].concat();
    let job = run(&mut measure(&arguments));
    job.assert(job.success, "the program failed");
    let copies: Vec<_> = measurements(&job.text).into_iter().filter(|one| one.contestant == "copy").collect();
    job.assert(copies.len() == series.len(), "a copy is missing");
    // The time of the rank that copies, not the root's.
    let least = |one: &Measurement| one.nanoseconds.iter().min().copied().unwrap_or(0);
    job.assert(least(&copies[0]) > 5_000, "a MiB takes some time");
}

#[test]
fn sm_serves_ranks_of_one_node_without_the_help_of_rustcoll() {
    let series = ["barrier", "bcast:8,64K", "reduce:8", "allreduce:8,64K", "allgather:8"];
    let arguments = [&["--hot", "--contestants", "rustcoll,sm,tuned"], &series[..]].concat();
    let job = run(measure(&arguments).env("OMPI_MCA_coll", "rustcoll,sm,tuned,basic,libnbc,self,inter"));
    job.assert(job.success, "the program failed");
    job.assert(measurements(&job.text).len() == 3 * 7, "a result is missing");
}

#[test]
fn every_shape_is_measured_in_every_form_and_checked() {
    let operations = Collective::ALL.into_iter().flat_map(|collective| {
        let shapes = Shape::ALL.into_iter().filter(move |shape| shape.suits(collective));
        let forms =
            move |shape| Form::ALL.map(|form| Operation { form, shape, ..Operation::blocking(collective) });
        shapes.filter(|shape| *shape != Shape::Even).flat_map(forms)
    });
    // Between groups, basic's scatter crashes with an invalid access.
    let rival = |shape| if shape == Shape::Inter { "inter" } else { "basic" };
    let heat = |operation: Operation| format!("{operation}:8,1000/rustcoll,{}", rival(operation.shape));
    let heats: Vec<String> = operations.map(heat).collect();
    for ranks in [2, 6] {
        let mut command = mpirun(ranks);
        command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
        let job = run(command.args(["--hot", "--at-least", "1", "--at-most", "1"]).args(&heats));
        job.assert(job.success, "a result is wrong or missing");
        let own = measurements(&job.text).into_iter().filter(|one| one.contestant == "rustcoll");
        assert!(own.clone().count() > heats.len());
        own.for_each(|one| assert_ne!(one.ran, "below", "{}", one.collective));
    }
}

#[test]
fn ranks_compute_as_long_as_a_call_takes_alone() {
    for mode in [&[][..], &["--hot"]] {
        let heat = "iallreduce@overlap:64K/rustcoll,libnbc";
        let job = run(&mut measure(&[mode, &["--clock", "shared", heat]].concat()));
        job.assert(job.success, "the program failed");
        let all = measurements(&job.text);
        assert_eq!(all.len(), 2);
        for one in all {
            let least = *one.nanoseconds.iter().min().unwrap();
            assert!(one.computing > 0 && least >= one.computing, "{one:?}");
        }
    }
}

#[test]
fn what_has_no_meaning_is_refused() {
    assert_refused(
        &["neighbor_alltoall:8/basic"],
        "neighbor_alltoall needs neighbours: it is neighbor_alltoall@stencil_5",
    );
    let mut command = mpirun(3);
    command.arg(env!("CARGO_BIN_EXE_measure")).arg("bcast@inter:8/basic");
    let job = run(&mut command);
    job.assert(!job.success, "this must be refused");
    job.assert_contains("bcast@inter needs two groups of one size, and 3 ranks are odd");
}

#[test]
fn whoever_is_not_there_is_named() {
    let nobody = "the contestant nobody: the component nobody is not loaded";
    assert_refused(&["bcast:8/rustcoll", "allreduce:8/nobody"], nobody);
    for (contestant, expected) in [
        ("nobody", nobody),
        (
            "tuned:3",
            "the contestant tuned:3: tuned chooses by itself unless coll_tuned_use_dynamic_rules is set",
        ),
        ("rustcoll:rng", "unknown allreduce algorithm `rng`; the nearest known one is `ring`"),
    ] {
        assert_refused(&["--contestants", &format!("rustcoll,{contestant}"), "allreduce:8"], expected);
    }
}

#[test]
fn an_algorithm_that_does_not_serve_a_call_is_not_measured() {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
    command.args(["--contestants", "rustcoll:neighbor_exchange,tuned", "allgather:8"]);
    let job = run(&mut command);
    job.assert(!job.success, "this must be told");
    job.assert_contains("this algorithm does not serve the call, but");
    job.assert(measurements(&job.text).len() == 1, "the other one can be measured");
}

#[test]
fn each_heat_has_contestants_of_its_own() {
    let heats = ["bcast:8/tuned,rustcoll:chain", "scan:8", "allreduce:8,64/rustcoll"];
    let job = run(&mut measure(&[&["--contestants", "tuned"], &heats[..]].concat()));
    job.assert(job.success, "the program failed");
    let told: Vec<_> = measurements(&job.text)
        .into_iter()
        .map(|one| format!("{}:{}/{}", one.collective, one.bytes, one.contestant))
        .collect();
    let expected = [
        "bcast:8/tuned",
        "bcast:8/rustcoll:chain",
        "scan:8/tuned",
        "allreduce:8/rustcoll",
        "allreduce:64/rustcoll",
    ];
    assert_eq!(told, expected);
    assert_refused(&["bcast:8/tuned", "scan:8"], "scan:8: nobody is to call it; name contestants behind it");
}

/// Returns an algorithm's number of calls in the component's report.
fn calls(job: &Job, algorithm: &str) -> usize {
    let row = job.text.lines().find(|line| line.contains(&format!("  {algorithm}  ")));
    let cells = row.unwrap_or_default().split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    cells.collect::<Vec<_>>().get(4).and_then(|calls| calls.parse().ok()).unwrap_or(0)
}

#[test]
fn contestants_that_share_a_communicator_run_their_own_algorithms() {
    let algorithms = ["ring", "bruck, radix 2", "bruck, radix 3"];
    let heat = "allgather:8/rustcoll:ring,rustcoll:bruck:radix=2,rustcoll:bruck:radix=3";
    for (mode, repetitions, warm_up) in [(&[][..], 4, 4), (&["--hot"], 10, 2)] {
        let mut command = mpirun(3);
        command.env("OMPI_MCA_coll_rustcoll_priority", "1").env("OMPI_MCA_coll_rustcoll_report", "summary");
        command.arg(env!("CARGO_BIN_EXE_measure")).args(["--at-least", "4", "--at-most", "4"]);
        let job = run(command.args(mode).arg(heat));
        job.assert(job.success, "the program failed");
        let all = measurements(&job.text);
        assert_eq!(all.iter().map(|one| &one.ran[..]).collect::<Vec<_>>(), ["ring", "bruck", "bruck"]);
        for (algorithm, one) in algorithms.into_iter().zip(&all) {
            assert_eq!(one.nanoseconds.len(), repetitions);
            let timed = 1 + repetitions + one.late;
            let calls = calls(&job, algorithm);
            job.assert((timed..=timed + warm_up).contains(&calls), &format!("{calls} calls of {algorithm}"));
        }
    }
}

#[test]
fn a_repetition_has_a_communicator_of_its_own() {
    for heat in ["gather:8/rustcoll:linear,tuned", "igather:8/rustcoll:linear,libnbc"] {
        let mut command = mpirun(2);
        command.env("OMPI_MCA_coll_rustcoll_priority", "1").env("OMPI_MCA_coll_rustcoll_report", "summary");
        command.arg(env!("CARGO_BIN_EXE_measure")).args(["--at-least", "4", "--at-most", "4"]);
        let job = run(command.args(["--short-lived", "3", heat]));
        job.assert(job.success, "the program failed");
        let all = measurements(&job.text);
        let repetitions: Vec<_> = all.iter().map(|one| one.nanoseconds.len()).collect();
        assert_eq!(repetitions, [4, 4]);
        let calls = calls(&job, "linear");
        job.assert(calls == 3 * (1 + 4 + all[0].late), &format!("{calls} calls"));
    }
}

#[test]
fn a_job_without_other_components_is_refused() {
    let mut command = measure(&["allreduce:8/rustcoll"]);
    let job = run(command.env("OMPI_MCA_coll", "rustcoll"));
    job.assert(!job.success, "this must be refused");
    job.assert_contains("OMPI_MCA_coll=rustcoll loads no other component");
}

#[test]
fn a_contestant_follows_a_rule_file_of_its_own() {
    let rules = file("of_a_contestant.toml", "[[allreduce]]\nalgorithm = \"reduce_bcast\"\n");
    let heat = format!("allreduce:8,64K/rustcoll:ring,rustcoll@{},rustcoll", rules.display());
    let job = run(&mut measure(&[&heat]));
    job.assert(job.success, "the program failed");
    let ran: Vec<_> = measurements(&job.text).into_iter().map(|one| one.ran).collect();
    for of_cell in ran.chunks(3) {
        assert_eq!(of_cell[..2], ["ring", "reduce_bcast"]);
        assert_ne!(of_cell[2], "reduce_bcast");
    }
}

#[test]
fn a_rule_file_that_would_be_left_out_is_refused() {
    let faulty = file("faulty.toml", "[[allreduce]]\nalgorithm = \"rinq\"\n");
    let faulty = faulty.display().to_string();
    let long = format!("/tmp/{}", "x".repeat(251));
    for (file, expected) in [
        (&faulty, "faulty.toml:2:14: unknown allreduce algorithm `rinq`"),
        (&"/nowhere/rules.toml".into(), "/nowhere/rules.toml: cannot be read: No such file or directory"),
        (&long, "the file's name has 256 bytes, but MPI takes at most 255"),
        (&format!("{faulty}:ring"), "its rules go before an algorithm and parameters"),
    ] {
        assert_refused(&[&format!("allreduce:8/rustcoll,rustcoll@{file}")], expected);
    }
}

#[test]
fn the_mock_ups_of_other_components_are_what_the_program_does_itself() {
    let heat = |mock_up: &&Algorithm| {
        let (collective, name) = (mock_up.contract().name(), mock_up.name);
        format!("{collective}:4,1000,40000/tuned,tuned:{name},basic:{name},rustcoll:{name}")
    };
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
    let job = run(command.args(["--at-most", "3", "--budget", "50"]).args(MOCK_UPS.iter().map(heat)));
    job.assert(job.success, "the program failed");
    let faults = lines(&job.text).into_iter().filter(|line| matches!(line, OutputLine::Fault(_)));
    assert_eq!(faults.collect::<Vec<_>>(), []);
    let ran: Vec<_> = measurements(&job.text).into_iter().map(|one| one.ran).collect();
    let expected = |mock_up: &&Algorithm| ["", mock_up.name, mock_up.name, mock_up.name].repeat(3);
    assert_eq!(ran, MOCK_UPS.iter().flat_map(expected).collect::<Vec<_>>());
}

/// Two ranks, each with a block of 60 MB, but at most 100 MB for data.
#[test]
fn a_mock_up_without_room_ends_nobody_elses_race() {
    let heat = "allgather:60000000/tuned,tuned:allgather_as_allreduce,tuned:allgather_as_allgatherv";
    let mut command = mpirun(2);
    command.arg(env!("CARGO_BIN_EXE_measure"));
    let job = run(command.args(["--at-most", "2", "--budget", "50", heat]));
    job.assert(!job.success, "a fault was told");
    let faults: Vec<_> =
        lines(&job.text).into_iter().filter(|line| matches!(line, OutputLine::Fault(_))).collect();
    let [OutputLine::Fault(fault)] = &faults[..] else { panic!("{faults:?}") };
    assert_eq!(fault.message, "not eligible: it needs 120000000 bytes for data, and may have 100000000");
    let ran: Vec<_> = measurements(&job.text).into_iter().map(|one| one.ran).collect();
    assert_eq!(ran, ["", "allgather_as_allgatherv"]);
}

#[test]
fn a_mock_up_of_another_collective_is_refused() {
    assert_refused(
        &["bcast:8/tuned:gather_as_reduce"],
        "the contestant tuned:gather_as_reduce: gather_as_reduce is a mock-up of gather, not of bcast",
    );
}

#[test]
fn hosts_are_told_and_who_is_about_to_be_tried() {
    let job = run(&mut measure(&["--contestants", "rustcoll,tuned", "bcast:8"]));
    job.assert(job.success, "the program failed");
    let all = lines(&job.text);
    let trial = |contestant: &str| {
        let (collective, contestant) = ("bcast".into(), contestant.into());
        OutputLine::Trying(Trial { collective, bytes: 8, contestant })
    };
    let [OutputLine::Job(told), first, second, ..] = &all[..] else { panic!("{}", job.text) };
    assert_eq!((told.ranks, told.nodes, told.ranks_per_node), (2, 1, 2));
    assert_eq!([first, second], [&trial("rustcoll"), &trial("tuned")]);
}

#[test]
fn as_many_repetitions_are_estimated_as_the_shortest_calls_suggest() {
    for mode in [&[][..], &["--hot"]] {
        let arguments = [
            &["--estimate", "--precision", "1e-9", "--budget", "600000", "--at-most", "40"],
            mode,
            &["allreduce:8,1M/tuned,rustcoll"],
        ];
        let mut command = mpirun(2);
        command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
        let job = run(command.args(["--slack", "1"]).args(arguments.concat()));
        job.assert(job.success, "the program failed");
        let references: Vec<Reference> = lines(&job.text)
            .into_iter()
            .filter_map(
                |line| if let OutputLine::Reference(reference) = line { Some(reference) } else { None },
            )
            .collect();
        let [reference] = &references[..] else { panic!("{}", job.text) };
        job.assert(reference.nanoseconds.len() == 500, "so precise a time is never known");
        let sum = reference.nanoseconds.iter().sum::<u64>() as f64 * 1e-9;
        assert!((reference.seconds - sum).abs() < 1e-6 && reference.collective == "allreduce");
        for one in measurements(&job.text) {
            // The shortest of the first five times decides, or of the first ten, which is at most as long.
            let times = &one.nanoseconds[..one.nanoseconds.len().min(5)];
            let fitting = reference.seconds / (*times.iter().min().unwrap() as f64 * 1e-9);
            let count = one.nanoseconds.len();
            // Some repetitions are lost if ranks were late.
            job.assert(count >= 5 && (count >= 35 || count as f64 >= fitting * 0.5), "too few repetitions");
        }
    }
}

#[test]
fn an_earlier_reference_is_a_lower_bound() {
    let mut command = mpirun(2);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
    command.args(["--estimate", "--precision", "1000", "--reference", "1000"]);
    let job = run(command.args(["--budget", "600000", "--at-most", "12", "bcast:8/tuned"]));
    job.assert(job.success, "the program failed");
    assert_eq!(measurements(&job.text)[0].nanoseconds.len(), 12);
}

/// Returns the process of a rank.
fn process_of_rank(job: &Running, rank: usize) -> Option<Pid> {
    let variable = format!("OMPI_COMM_WORLD_RANK={rank}");
    let found = job.ranks().into_iter().find(|process| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
    });
    Pid::from_raw(found?.cast_signed())
}

#[test]
fn a_job_whose_call_hangs_ends_and_names_the_contestant() {
    let mut command = mpirun(2);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").arg(env!("CARGO_BIN_EXE_measure"));
    command.args(["--limit", "5", "--at-least", "1000000", "bcast:8/tuned", "allreduce:8/tuned"]);
    let mut job = Running::start(&command);
    let output = BufReader::new(job.output());
    let mut told = output.lines().map_while(Result::ok).filter_map(|line| OutputLine::from_json(&line));
    assert!(told.by_ref().any(|line| matches!(line, OutputLine::Trying(_))));
    kill_process(process_of_rank(&job, 1).expect("mpirun starts it"), Signal::STOP).unwrap();
    let begin = Instant::now();
    let rest: Vec<OutputLine> = told.collect();
    let trial = Trial { collective: "bcast".into(), bytes: 8, contestant: "tuned".into() };
    assert_eq!(rest, [OutputLine::Hung(trial)]);
    assert_eq!(job.end(), Some(3));
    assert!(begin.elapsed() > Duration::from_secs(4), "{:?}", begin.elapsed());
}

#[test]
fn a_limit_does_not_end_calls_that_end() {
    for mode in [&[][..], &["--hot"]] {
        let arguments = [mode, &["--limit", "20", "allreduce:8/rustcoll,tuned"]].concat();
        let job = run(&mut measure(&arguments));
        job.assert(job.success && measurements(&job.text).len() == 2, "a result is missing");
    }
}

/// Starts the program on a rank. On rank 1 the monotonic clock is 1000 seconds ahead of the others.
const APART: &str = r#"if [ "$OMPI_COMM_WORLD_RANK" = 1 ]; then exec unshare --time --monotonic 1000 --fork "$@"; fi; exec "$@""#;

/// Returns the least time of a call, with a command that starts the program, and options.
fn least_time(start: &[&str], options: &[&str]) -> Duration {
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll_rustcoll_priority", "1").args(start).arg(env!("CARGO_BIN_EXE_measure"));
    let job = run(command.args(["--at-least", "10"]).args(options).arg("allreduce:8/tuned"));
    job.assert(job.success, "the program failed");
    let nanoseconds = measurements(&job.text).remove(0).nanoseconds;
    Duration::from_nanos(*nanoseconds.iter().min().unwrap())
}

fn assert_start_together(start: &[&str], options: &[&str]) {
    let together = least_time(&[], &["--clock", "shared"]);
    let time = least_time(start, options);
    let most = 20 * together + Duration::from_millis(50);
    assert!(time > Duration::ZERO && time < most, "{time:?}, but {together:?} by one clock");
}

#[test]
fn ranks_start_together_by_clocks_that_they_synchronise() {
    assert_start_together(&[], &["--clock", "synchronised"]);
}

#[test]
fn ranks_whose_clocks_differ_start_together() {
    let can_differ =
        Command::new("unshare").args(["--time", "--monotonic", "1000", "--fork", "true"]).output();
    if !can_differ.is_ok_and(|output| output.status.success()) {
        return skipped(
            "measuring with clocks that differ: `unshare --time` does not work, which needs root",
        );
    }
    assert_start_together(&["sh", "-c", APART, "sh"], &[]);
}
