//! Tests a job's profile, and the advice of `rustcoll advise`.

mod common;

use common::{Job, PATIENCE, compiled, mpirun, root, run, run_alone};
use rustcoll::algorithms::Collective;
use rustcoll::report::profile::{Profile, Row};
use rustcoll::report::{CallKind, Form};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

const RANKS: usize = 4;

fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| compiled("profile"))
}

/// Returns the path of a test's own file, and removes the file of an earlier run.
fn fresh(name: &str) -> PathBuf {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_file(&file);
    file
}

fn job(ranks: usize, file: &Path, options: &[&str], arguments: &[&str]) -> Job {
    let mut command = mpirun(ranks);
    let options = options.chunks(2).flat_map(|pair| ["--mca", pair[0], pair[1]]);
    command.args(options).arg("--mca").arg("coll_rustcoll_profile").arg(file);
    run(command.arg(program()).args(arguments))
}

fn profile(ranks: usize, name: &str, options: &[&str], arguments: &[&str]) -> (Profile, PathBuf) {
    let file = fresh(name);
    let job = job(ranks, &file, options, arguments);
    job.assert(job.success, "the program failed");
    job.assert(job.count("rustcoll") == 0, "the job must be quiet");
    (Profile::of_json(&fs::read_to_string(&file).unwrap()).unwrap(), file)
}

/// Returns the calls and bytes of all ranks in the selected rows.
fn sums(profile: &Profile, is_meant: impl Fn(&CallKind) -> bool) -> (u64, u64) {
    let rows = profile.rows.iter().filter(|(kind, _)| is_meant(kind));
    rows.fold((0, 0), |(calls, bytes), (_, row)| (calls + row.calls, bytes + row.bytes))
}

fn assert_all_calls_are_there(ranks: usize) {
    let (profile, _) = profile(ranks, &format!("profile-{ranks}.json"), &[], &[]);
    assert_eq!(profile.ranks(), ranks);
    assert_eq!(profile.nodes.len(), 1);
    let all = ranks as u64;
    let of =
        |operator: &'static str, form| move |kind: &CallKind| kind.operator == operator && kind.form == form;
    assert_eq!(sums(&profile, of("MPI_SUM", Form::Blocking)), (100 * all, 400 * all));
    assert_eq!(sums(&profile, of("MPI_PROD", Form::NonBlocking)), (5 * all, 20 * all));
    let of_halves = |kind: &CallKind| kind.communicator == "half #" && kind.operator == "MPI_MAX";
    assert_eq!(sums(&profile, of_halves), (100 * all, 400 * all));
    let large = |kind: &CallKind| kind.collective == Collective::Bcast && kind.bytes_from == 2048;
    assert_eq!(sums(&profile, large), (10 * all, 40_000 * all));
    let barrier =
        |kind: &CallKind| kind.collective == Collective::Barrier && kind.communicator == "MPI_COMM_WORLD";
    assert_eq!(sums(&profile, barrier), (7 * all, 0));
    let is_right = |row: &Row| {
        row.seconds.is_some_and(|seconds| {
            0.0 < seconds.least && seconds.least <= seconds.most && seconds.most <= profile.seconds.most
        })
    };
    for (kind, row) in profile.rows.iter().filter(|(kind, _)| kind.form == Form::Blocking) {
        assert!(is_right(row), "{kind:?}: {row:?}");
        assert!(row.lateness.waiting <= row.lateness.seconds, "{kind:?}: {row:?}");
    }
}

#[test]
fn the_profile_has_all_calls_of_all_ranks() {
    for ranks in [RANKS, 9] {
        assert_all_calls_are_there(ranks);
    }
}

#[test]
#[ignore = "64 ranks take a minute on two processors"]
fn the_profile_of_64_ranks_has_all_calls() {
    assert_all_calls_are_there(64);
}

/// Returns whether `rustcoll advise` succeeds on a profile, its output and its messages.
fn advise_of(file: &Path) -> (bool, [String; 2]) {
    let output = Command::new(root().join("build/rustcoll")).arg("advise").arg(file).output().unwrap();
    let texts = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
    (output.status.success(), texts)
}

fn advise(file: &Path) -> String {
    let (is_well, [advice, messages]) = advise_of(file);
    assert!(is_well, "{messages}");
    advice
}

#[test]
fn advise_names_the_rank_that_comes_late() {
    let (profile, file) = profile(RANKS, "profile-late.json", &[], &["3", "20"]);
    let of_late = |(kind, _): &(&CallKind, &Row)| kind.operator == "MPI_SUM" && kind.form == Form::Blocking;
    let rows: Vec<&Row> = profile.rows.iter().filter(of_late).map(|(_, row)| row).collect();
    let judged: u64 = rows.iter().map(|row| row.lateness.calls).sum();
    assert_eq!(judged, 100, "all calls are judged: {rows:?}");
    let advice = advise(&file);
    assert!(advice.contains("They wait for rank 3: "), "{advice}");
}

#[test]
fn advise_names_a_bad_algorithm_that_is_forced_and_the_rule_to_write() {
    let forced = ["coll_rustcoll_allreduce_algorithm", "ring"];
    let (_, file) = profile(RANKS, "profile-forced.json", &forced, &[]);
    let advice = advise(&file);
    for part in [
        "of the time of ring (forced) by the prediction",
        "Do not force an algorithm: coll_rustcoll_allreduce_algorithm goes before all rules",
        // Of calls on 2 ranks or on 4, whichever took longer.
        " bytes=4..7 -> shared_flat\"",
    ] {
        assert!(advice.contains(part), "{part:?} is missing in:\n{advice}");
    }
}

#[test]
fn a_job_that_dies_leaves_the_file_of_the_job_before() {
    let file = fresh("profile-dies.json");
    fs::write(&file, "the one before").unwrap();
    let job = job(2, &file, &[], &["abort"]);
    job.assert(!job.success, "the program must die");
    assert_eq!(fs::read_to_string(&file).unwrap(), "the one before");
}

/// Ranks write their parts every second. The job must run for more than two seconds.
const NOW_AND_THEN: [&str; 2] = ["coll_rustcoll_profile_every", "1"];

/// Returns the folder of these parts, and removes what an earlier run left there.
fn parts(file: &Path) -> PathBuf {
    let parts = rustcoll::report::part::folder(file);
    let _ = fs::remove_dir_all(&parts);
    parts
}

#[test]
fn a_job_that_dies_leaves_what_its_ranks_wrote_while_it_ran() {
    let file = fresh("profile-parts.json");
    let parts = parts(&file);
    let job = job(RANKS, &file, &NOW_AND_THEN, &["3", "20", "abort"]);
    job.assert(!job.success, "the program must die");
    let advice = advise(&parts);
    for part in [
        "profile-parts.json.parts, of a job of 4 ranks that has not ended: 4 ranks on 1 node",
        "They wait for rank 3: ",
    ] {
        assert!(advice.contains(part), "{part:?} is missing in:\n{advice}");
    }
    let (is_well, [_, messages]) = advise_of(&file);
    assert!(!is_well && messages.contains("the job has not ended; "), "{messages}");
    fs::write(&file, "of an earlier job").unwrap();
    let (_, [_, messages]) = advise_of(&file);
    assert!(messages.contains("is of an earlier job: the last one has not ended; "), "{messages}");
}

#[test]
fn a_job_that_ends_leaves_the_profile_alone() {
    let parts = parts(&fresh("profile-ends.json"));
    let (profile, _) = profile(RANKS, "profile-ends.json", &NOW_AND_THEN, &["3", "20"]);
    assert_eq!(sums(&profile, |kind| kind.operator == "MPI_SUM"), (400, 1600));
    assert!(!parts.exists());
}

#[test]
fn parts_that_cannot_be_written_are_told_and_the_job_ends_well() {
    let job = job(2, Path::new("/dev/full/profile.json"), &NOW_AND_THEN, &["1", "20"]);
    job.assert(job.success, "the job must end well");
    job.assert_contains(
        "rustcoll: the profile so far could not be written to /dev/full/profile.json.parts/rank-0.part: ",
    );
}

#[test]
fn parts_of_no_profile_are_told() {
    let mut command = mpirun(2);
    let job = run(command.args(["--mca", NOW_AND_THEN[0], NOW_AND_THEN[1]]).arg(program()));
    job.assert(job.success, "the job must end well");
    job.assert_contains("profile_every has no effect, because `profile` names no file");
}

#[test]
fn a_profile_that_cannot_be_written_is_told_and_the_job_ends_well() {
    let job = job(2, Path::new("/dev/full/profile.json"), &[], &[]);
    job.assert(job.success, "the job must end well");
    job.assert_contains(
        "rustcoll: the profile could not be written to /dev/full/profile.json: Not a directory",
    );
}

#[test]
fn a_report_and_a_profile_tell_the_same() {
    let file = fresh("profile-report.json");
    let job = job(2, &file, &["coll_rustcoll_report", "summary"], &[]);
    job.assert(job.success, "the program failed");
    job.assert_contains("rustcoll: the collectives of rank 0");
    let profile = Profile::of_json(&fs::read_to_string(&file).unwrap()).unwrap();
    let reported = |line: &str| line.split_whitespace().any(|word| word == "barrier");
    job.assert(job.text.lines().any(reported), "barriers are reported");
    assert_eq!(sums(&profile, |kind| kind.operator == "MPI_SUM"), (200, 800));
}

#[test]
fn ranks_with_and_without_a_profile_do_not_wait_for_each_other() {
    let file = fresh("profile-differs.json");
    let mut command = mpirun(1);
    command.arg("--mca").arg("coll_rustcoll_profile").arg(&file).arg(program());
    command.args([":", "-n", "1", "env", "OMPI_MCA_coll_rustcoll_profile=other.json"]).arg(program());
    let job = run(&mut command);
    job.assert(!job.success, "the job must not run");
    job.assert_contains("profile=other.json");
}

/// When MPI ends, the rank with a profile would wait for the other one.
#[test]
fn ranks_with_and_without_a_profile_do_not_wait_for_each_other_in_a_job_without_rustcoll() {
    let mut command = mpirun(1);
    command
        .env("OMPI_MCA_coll", "^none")
        .args(["env", "OMPI_MCA_coll_rustcoll_profile=alone.json"])
        .arg(program());
    command.args([":", "-n", "1"]).arg(program());
    let job = run(&mut command);
    job.assert(!job.success, "the job must not run");
    job.assert_contains("profile=alone.json");
}

/// While the other job's `MPI_Init` runs, collectives connect the two, and MPI's functions may not be called there.
#[test]
fn a_job_that_another_one_starts_writes_its_own_profile() {
    let (file, of_started) = (fresh("profile-starts.json"), fresh("profile-starts.spawned-1.json"));
    let mut command = mpirun(2);
    for (parameter, value) in [("profile", file.to_str().unwrap()), ("report", "summary"), ("tune", "online")]
    {
        command.args(["--mca", &format!("coll_rustcoll_{parameter}"), value]);
    }
    let job = run(command.arg(compiled("spawning")));
    job.assert(job.success && job.count("0 wrong") == 2, "both jobs must end well");
    for file in [file, of_started] {
        let profile = Profile::of_json(&fs::read_to_string(&file).unwrap()).unwrap();
        // MPI itself looks for the greatest of numbers there.
        let of_world = |kind: &CallKind| kind.communicator == "MPI_COMM_WORLD" && kind.operator == "MPI_SUM";
        assert_eq!(sums(&profile, of_world), (42, 168), "{}", file.display());
        let judged = |(kind, row): (&CallKind, &Row)| if of_world(kind) { row.lateness.calls } else { 0 };
        assert_eq!(profile.rows.iter().map(judged).sum::<u64>(), 21, "{}", file.display());
    }
}

/// Ranks may first call collectives on two communicators in different orders, if threads do so.
#[test]
fn calls_of_threads_are_judged_by_their_communicator() {
    let file = fresh("profile-threads.json");
    let mut command = mpirun(2);
    command.args(["--mca", "coll_rustcoll_profile"]).arg(&file);
    let job = run_alone(PATIENCE, command.arg(compiled("profile_threads")));
    job.assert(job.success, "the program failed");
    let profile = Profile::of_json(&fs::read_to_string(&file).unwrap()).unwrap();
    let of = |communicator: &str| {
        let found = profile.rows.iter().find(|(kind, _)| kind.communicator == communicator);
        &found.expect("the program names it").1.lateness
    };
    let (in_time, late) = (of("in time"), of("late"));
    assert_eq!((in_time.calls, late.calls), (40, 40));
    assert!(in_time.waiting < late.waiting / 2.0, "{in_time:?} {late:?}");
    assert!(late.late[&1].waiting > 0.8 * late.waiting, "{late:?}");
}
