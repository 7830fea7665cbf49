//! `rustcoll guidelines` with a launcher that only pretends to start a job.

mod common;

use common::{JOB, Run, folder, launcher, measurement, rustcoll};
use std::fs;
use std::path::PathBuf;

const REFERENCE: &str =
    r#"{"line":"reference","collective":"bcast","seconds":0.25,"nanoseconds":[250000000]}"#;

/// Returns a line with times of so many microseconds, with a little noise.
fn taking(bytes: usize, contestant: &str, microseconds: u64) -> String {
    let times: Vec<String> = (0..5).map(|noise| (1000 * microseconds + noise).to_string()).collect();
    measurement("bcast", bytes, contestant, &times.join(","))
}

/// Returns a job in which broadcasts of 8 bytes keep the guidelines, and those of 64 bytes take `slow` microseconds.
fn lines(slow: u64) -> Vec<String> {
    let mut lines = vec![JOB.to_owned(), REFERENCE.to_owned()];
    for (bytes, default) in [(8, 10), (64, slow), (512, 100)] {
        lines.push(taking(bytes, "tuned", default));
        lines.push(taking(bytes, "tuned:bcast_as_allgatherv", 200));
        lines.push(taking(bytes, "tuned:bcast_as_scatter_allgather", 40));
    }
    lines[8] = lines[8].replace("40", "30");
    lines
}

fn guidelines(name: &str, lines: &[String], more: &str) -> (Run, PathBuf) {
    let folder = folder(name);
    let launcher = launcher(&folder, lines, "");
    let (launcher, at) = (launcher.display(), folder.display());
    let line = format!(
        "guidelines bcast:8,64,512 --contestant tuned --program /bin/true --launcher {launcher} --csv {at}/times.csv {more}"
    );
    (rustcoll(&line), folder)
}

fn rows(output: &str) -> Vec<String> {
    output.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn violations_stand_in_a_table() {
    let (run, folder) = guidelines("guidelines_violated", &lines(150), "");
    let output = run.wrong();
    assert_eq!(
        rows(&output),
        [
            "guideline ranks bytes time faster its time ratio p",
            "bcast <= scatter + allgather 4 64 150 us tuned:bcast_as_scatter_allgather 40.0 us 3.75 < 0.0001",
            "bcast(64) <= bcast(512) 4 64 150 us 512 bytes 100 us 1.50 < 0.0001",
            "bcast(64) <= 8 bcast(8) 4 64 150 us 8 calls of 8 bytes 80.0 us 1.87 < 0.0001",
            "bcast <= scatter + allgather 4 512 100 us tuned:bcast_as_scatter_allgather 40.0 us 2.50 < 0.0001",
            "",
            "tuned: 4 violations by a factor of more than 1.1, in 11 comparisons",
            "The worst: bcast <= scatter + allgather, 4 ranks, 64 bytes: 3.75 times as long",
        ]
    );
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    let jobs: Vec<&str> = asked.lines().collect();
    assert_eq!(jobs.len(), 3);
    let heat = "bcast:8,64,512/tuned,tuned:bcast_as_allgatherv,tuned:bcast_as_scatter_allgather";
    assert!(jobs.iter().all(|job| job.contains("--estimate") && job.ends_with(heat)), "{asked}");
    // Each later job gets the time that an earlier job needed for the shortest calls.
    assert!(!jobs[0].contains("--reference") && jobs[1].contains("--reference 0.25"), "{asked}");
    let times = fs::read_to_string(folder.join("times.csv")).unwrap();
    assert_eq!(times.lines().filter(|line| line.contains(",tuned,2,")).count(), 3, "{times}");
}

#[test]
fn an_mpi_that_keeps_the_guidelines_passes() {
    let (run, _) = guidelines("guidelines_kept", &lines(150), "--factor 4");
    assert_eq!(
        run.right(),
        "tuned: no guideline is violated by a factor of more than 4, in 11 comparisons\n"
    );
}

#[test]
fn kinds_of_guidelines_are_asked_for() {
    let alone: Vec<String> = lines(150).into_iter().filter(|line| !line.contains("_as_")).collect();
    let (run, folder) = guidelines("guidelines_monotony", &alone, "--only monotony --launches 2");
    assert!(run.wrong().contains("tuned: 1 violation by a factor of more than 1.1, in 2 comparisons"));
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert_eq!(asked.lines().filter(|job| job.ends_with("bcast:8,64,512/tuned")).count(), 2, "{asked}");
}

#[test]
fn a_mock_up_that_says_that_it_does_not_serve_a_call_fails_nothing() {
    let (cause, mut found) = (",\"cause\":\"not_eligible\"", lines(50));
    let fault = |cause| {
        format!(
            r#"{{"line":"fault","collective":"bcast","bytes":512,"contestant":"tuned:bcast_as_allgatherv","message":"it is too large"{cause}}}"#
        )
    };
    found[9] = fault(cause);
    let (run, _) = guidelines("guidelines_not_eligible", &found, "--factor 4");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(
        run.errors.contains("bcast on 4 ranks, 512 bytes: tuned:bcast_as_allgatherv: it is too large"),
        "{}",
        run.errors
    );
    // Every other fault makes the command fail.
    found[9] = fault("");
    assert_eq!(guidelines("guidelines_faulty", &found, "--factor 4").0.code, Some(1));
}

#[test]
fn what_is_named_twice_is_measured_once() {
    let (run, folder) = guidelines("guidelines_twice", &lines(50), "bcast:64,8 --ranks 4,4 --factor 9");
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert_eq!(asked.lines().count(), 3, "{asked}");
    assert_eq!(asked.matches("bcast:8,64,512/").count(), 3, "{asked}");
}

#[test]
fn programs_read_json() {
    let (run, _) = guidelines("guidelines_json", &lines(150), "--format json --factor 3");
    let found: serde_json::Value = serde_json::from_str(&run.wrong()).unwrap();
    assert_eq!((&found["contestant"], &found["comparisons"]), (&"tuned".into(), &11.into()));
    let violations = found["violations"].as_array().unwrap();
    assert_eq!(violations.len(), 1);
    assert_eq!((&violations[0]["kind"], &violations[0]["bytes"]), (&"pattern".into(), &64.into()));
}

#[test]
fn what_could_not_be_measured_is_no_success() {
    let (run, folder) = guidelines("guidelines_short", &lines(50)[..8], "--factor 9");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("4 ranks, job 3 of 3: "), "{}", run.errors);
    assert!(run.errors.contains("3 results did not come"), "{}", run.errors);
    assert!(run.output.contains("no guideline is violated"));
    assert!(fs::read_to_string(folder.join("times.csv")).unwrap().contains(",tuned,0,"));
}

#[test]
fn a_job_that_does_not_begin_is_not_repeated() {
    let (run, folder) = guidelines("guidelines_dead", &[], "");
    let told = run.refused(1);
    assert!(told.starts_with("rustcoll: 4 ranks, job 1 of 3: "), "{told}");
    assert!(told.contains("launcher ended well, but 9 results did not come"), "{told}");
    assert_eq!(fs::read_to_string(folder.join("asked")).unwrap().lines().count(), 1);
}

#[test]
fn what_was_not_compared_does_not_pass() {
    let (run, _) =
        guidelines("guidelines_nothing", &[JOB.to_owned(), taking(8, "tuned", 10)], "--only split");
    assert_eq!((run.code, &run.output[..]), (Some(1), ""));
    assert!(run.errors.contains("nothing could be compared: "), "{}", run.errors);
}

#[test]
fn other_components_are_checked_where_rustcoll_is_not_installed() {
    let folder = folder("guidelines_without_rustcoll");
    let launcher = launcher(&folder, &lines(50), "echo $OMPI_MCA_coll >> $(dirname $0)/components");
    let launcher = launcher.display();
    rustcoll(&format!(
        "guidelines bcast:8,64,512 --contestant tuned --factor 9 --program /bin/true --launcher {launcher}"
    ))
    .right();
    let components = fs::read_to_string(folder.join("components")).unwrap();
    assert_eq!(components.lines().next(), Some("tuned,han,sm,basic,libnbc,self,inter"));
}

#[test]
fn what_cannot_be_checked_is_refused_with_a_reason() {
    for (line, code, expected) in [
        (
            "guidelines --contestant tuned:3 --program /bin/true",
            2,
            "--contestant tuned:3: a component is expected",
        ),
        ("guidelines --contestant copy --program /bin/true", 2, "--contestant copy: a component is expected"),
        ("guidelines --factor 0.9", 2, "a number from 1 up is expected, as 1.1"),
        ("guidelines --significance 0", 2, "a probability above 0 and up to 1 is expected, as 0.05"),
        ("guidelines --only order", 2, "[possible values: pattern, monotony, split]"),
        (
            "guidelines --ranks 1 --program /bin/true",
            2,
            "1 rank cannot call a collective: at least 2 are needed",
        ),
        (
            "guidelines bcst --program /bin/true",
            2,
            "unknown collective `bcst`; the nearest known one is `bcast`",
        ),
        (
            "guidelines bcast_init --program /bin/true",
            2,
            "bcast_init: guidelines are about blocking collectives, as bcast",
        ),
        (
            "guidelines --program /bin/true --launcher /nowhere/mpirun",
            1,
            "4 ranks, job 1 of 3: /nowhere/mpirun cannot be started: No such file",
        ),
    ] {
        let told = rustcoll(line).refused(code);
        assert!(told.contains(expected), "{line}: {told}");
    }
}
