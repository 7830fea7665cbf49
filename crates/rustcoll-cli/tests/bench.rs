//! `rustcoll bench` and `rustcoll performance` with launchers that only pretend to start a job.

mod common;

use common::{JOB, Run, command, folder, launcher, measurement, rustcoll};
use std::env;
use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

fn both() -> Vec<String> {
    vec![
        JOB.to_owned(),
        measurement("bcast", 8, "rustcoll", "1000,2000,9000"),
        measurement("bcast", 8, "tuned", "4000,4000,4000"),
    ]
}

fn bench(name: &str, lines: &[String], then: &str, more: &str) -> (Run, PathBuf) {
    let (line, folder) = bench_line(name, lines, then);
    (rustcoll(&format!("{line} {more}")), folder)
}

/// Returns the words of a command that measures one cell, and its folder.
fn bench_line(name: &str, lines: &[String], then: &str) -> (String, PathBuf) {
    let folder = folder(name);
    let launcher = launcher(&folder, lines, then);
    let (launcher, at) = (launcher.display(), folder.display());
    let line = format!("bench bcast:8 --program /bin/true --launcher {launcher} --csv {at}/times.csv");
    (line, folder)
}

#[test]
fn medians_and_ratios_stand_in_a_table() {
    let (run, folder) = bench("bench_right", &both(), "", "");
    let output = run.right();
    let rows: Vec<Vec<&str>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[1], ["bcast", "4", "8", "rustcoll", "3", "2.0", "4.0", "1.000", "0.500"]);
    assert_eq!(rows[2], ["tuned", "3", "4.0", "0.0", "2.000", "2.000"]);
    assert!(output.contains("rustcoll: 0.500 of the best other's time, the geometric mean of 1 cell"));
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert!(asked.contains("--contestants rustcoll,tuned --at-least 3"), "{asked}");
    assert!(asked.ends_with("bcast:8\n"), "{asked}");
    let times = fs::read_to_string(folder.join("times.csv")).unwrap();
    assert!(times.ends_with("bench,bcast,4,8,tuned,0,,0,4000 4000 4000\n"));
}

#[test]
fn each_form_of_a_collective_has_rows_of_its_own() {
    let forms = ["bcast", "ibcast", "bcast_init"];
    let all = ["rustcoll", "tuned"];
    let lines = forms.iter().flat_map(|form| all.map(|contestant| measurement(form, 8, contestant, "1000")));
    let lines: Vec<String> = [JOB.to_owned()].into_iter().chain(lines).collect();
    let (run, folder) = bench("bench_forms", &lines, "", "ibcast bcast_init:8 --bytes 8");
    let output = run.right();
    let first_cells = output.lines().filter_map(|line| line.split_whitespace().next());
    assert_eq!(first_cells.filter(|cell| forms.contains(cell)).collect::<Vec<_>>(), forms, "{output}");
    let asked = fs::read_to_string(folder.join("asked")).unwrap();
    assert!(asked.ends_with("bcast:8 ibcast:8 bcast_init:8\n"), "{asked}");
    let times = fs::read_to_string(folder.join("times.csv")).unwrap();
    assert!(times.contains("bench,bcast_init,4,8,tuned,0,,0,1000\n"), "{times}");
}

#[test]
fn the_part_that_computing_hides_is_told_in_percent() {
    let time = |contestant, time| {
        measurement("ibcast@overlap", 8, contestant, time)
            .replace(r#""late":0"#, r#""late":0,"computing":1000"#)
    };
    let lines = [JOB.to_owned(), time("rustcoll", "1250"), time("tuned", "2500")];
    let folder = folder("bench_overlap");
    let launcher = launcher(&folder, &lines, "");
    let line = format!("bench ibcast@overlap:8 --program /bin/true --launcher {}", launcher.display());
    let output = rustcoll(&line).right();
    let rows: Vec<Vec<&str>> = output.lines().map(|line| line.split_whitespace().collect()).collect();
    // Each contestant computes for as long as its own call takes. So nobody's time is divided by another one's.
    assert_eq!(rows[1], ["ibcast@overlap", "4", "8", "rustcoll", "1", "1.2", "0.0", "75"]);
    assert_eq!(rows[2], ["tuned", "1", "2.5", "0.0", "0"]);
    assert!(!output.contains("geometric mean"), "{output}");
}

#[test]
fn open_mpi_is_asked_for_the_components_that_race_and_for_no_others() {
    let lines = ["rustcoll", "copy", "adapt"].map(|name| measurement("bcast", 8, name, "1000"));
    let lines = [&[JOB.to_owned()], &lines[..]].concat();
    let then = "echo $OMPI_MCA_coll >> $(dirname $0)/components";
    let (run, folder) = bench("bench_components", &lines, then, "--contestants rustcoll,copy,adapt");
    run.right();
    let components = fs::read_to_string(folder.join("components")).unwrap();
    assert_eq!(components, "rustcoll,tuned,han,sm,basic,libnbc,self,inter,adapt\n");
}

#[test]
fn a_priority_of_the_environment_is_not_that_of_jobs() {
    let then = "echo $OMPI_MCA_coll_rustcoll_priority >> $(dirname $0)/priorities";
    let (line, folder) = bench_line("bench_priority", &both(), then);
    for more in ["", " --mca coll_rustcoll_priority=70"] {
        let mut command = command(&format!("{line}{more}"));
        command.env("OMPI_MCA_coll_rustcoll_priority", "60").stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    }
    assert_eq!(fs::read_to_string(folder.join("priorities")).unwrap(), "1\n70\n");
}

/// Notes where Open MPI looks for plug-ins.
const NOTING_PATH: &str = "echo $OMPI_MCA_mca_base_component_path >> $(dirname $0)/paths";

/// Writes a folder with a file named as the component.
fn component(folder: &Path) -> PathBuf {
    let component = folder.join("component");
    fs::create_dir(&component).unwrap();
    fs::write(component.join("mca_coll_rustcoll.so"), "").unwrap();
    component
}

#[test]
fn the_component_that_an_option_names_goes_before_that_of_the_environment() {
    let (line, folder) = bench_line("bench_component", &both(), NOTING_PATH);
    let component = component(&folder);
    fs::write(component.join("openmpi-plugins"), format!("{}\n", folder.display())).unwrap();
    let named = format!("--component {}", component.display());
    for more in ["", &named, &format!("{named} --mca mca_base_component_path=/given")] {
        let mut command = command(&format!("{line} {more}"));
        command.env("OMPI_MCA_mca_base_component_path", "/environment").stdout(Stdio::null());
        assert!(command.status().unwrap().success());
    }
    let expected = format!("/environment\n{}:{}\n/given\n", component.display(), folder.display());
    assert_eq!(fs::read_to_string(folder.join("paths")).unwrap(), expected);
}

/// Writes an `ompi_info` that says that plug-ins are in `plugins`.
fn ompi_info(folder: &Path, plugins: &Path) {
    fs::create_dir_all(folder).unwrap();
    fs::create_dir_all(plugins).unwrap();
    let program = folder.join("ompi_info");
    fs::write(&program, format!("#!/bin/sh\necho path:pkglibdir:{}\n", plugins.display())).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn other_plug_ins_are_those_of_the_build_or_of_the_launcher_rather_than_those_in_path() {
    let (line, folder) = bench_line("bench_plugins", &both(), NOTING_PATH);
    let component = component(&folder);
    let run = |path: String| {
        let mut command = command(&format!("{line} --component {}", component.display()));
        command.env("PATH", path).output().unwrap()
    };
    let refused = run("/nowhere".into());
    let told = String::from_utf8_lossy(&refused.stderr);
    assert!(told.contains("the folder of Open MPI's own plug-ins is not known: "), "{told}");
    let in_path = folder.join("in_path");
    let path = format!("{}:{}", in_path.display(), env::var("PATH").unwrap());
    let [of_path, of_launcher, of_build] =
        ["of_path", "of_launcher", "of_build"].map(|name| folder.join(name));
    ompi_info(&in_path, &of_path);
    assert!(run(path.clone()).status.success());
    ompi_info(&folder, &of_launcher);
    assert!(run(path.clone()).status.success());
    fs::create_dir(&of_build).unwrap();
    fs::write(component.join("openmpi-plugins"), format!("{}\n", of_build.display())).unwrap();
    assert!(run(path).status.success());
    let expected = [of_path, of_launcher, of_build]
        .map(|plugins| format!("{}:{}\n", component.display(), plugins.display()));
    assert_eq!(fs::read_to_string(folder.join("paths")).unwrap(), expected.concat());
}

#[test]
fn times_that_cannot_be_shown_are_kept() {
    // The table is longer than what is buffered.
    let name = format!(r#""ran":"{}""#, "x".repeat(10_000));
    let lines: Vec<String> = both().iter().map(|line| line.replace(r#""ran":"""#, &name)).collect();
    let (line, folder) = bench_line("bench_unshowable", &lines, "");
    let run = command(&line).stdout(File::create("/dev/full").unwrap()).output().unwrap();
    let told = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(told.starts_with("rustcoll: the output cannot be written: "), "{told}");
    assert!(fs::read_to_string(folder.join("times.csv")).unwrap().contains("rustcoll,0,x"));
}

#[test]
fn what_is_wrong_is_told_to_those_who_read_no_output() {
    let (line, _) = bench_line("bench_unread", &both()[..2], "exit 3");
    let mut child = command(&line).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

#[test]
fn a_job_that_fails_is_told_of_and_what_it_measured_is_kept() {
    let (run, folder) = bench("bench_crash", &both()[..2], "echo boom >&2; exit 3", "");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("launcher failed (exit status: 3)\n  boom\n"), "{}", run.errors);
    assert!(run.errors.contains("1 of 1 cell could not be measured by all"), "{}", run.errors);
    assert!(run.output.contains("rustcoll"));
    assert!(fs::read_to_string(folder.join("times.csv")).unwrap().contains("rustcoll,0,,0,1000 2000 9000"));
}

#[test]
fn a_job_that_hangs_is_ended() {
    let (run, _) = bench("bench_hang", &both()[..2], "exec sleep 60", "--patience 1");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("the job hung: nothing came for 1 seconds"), "{}", run.errors);
    for noise in ["while sleep 0.2; do echo waiting; done", NOISE, "while :; do echo waiting >&2; done"] {
        let (run, folder) = bench("bench_noisy", &both()[..1], noise, "--patience 1");
        assert_eq!(run.code, Some(1));
        assert!(run.errors.contains("the job hung: nothing came for 1 seconds"), "{}", run.errors);
        assert!(!folder.join("times.csv").exists(), "nothing was measured");
    }
}

#[test]
fn what_the_launcher_said_is_told_of_a_job_that_does_not_start_or_has_other_ranks() {
    let (run, _) = bench("bench_busy", &[], "echo busy >&2; exec sleep 9", "--patience 1");
    assert_eq!(run.code, Some(1));
    let told = "the job has not started: nothing came for 1 seconds\n  busy\n";
    assert!(run.errors.contains(told), "{}", run.errors);
    let then = format!("echo 4 slots >&2; echo '{JOB}'; exec sleep 9");
    let (run, _) = bench("bench_slots", &[], &then, "--ranks 8");
    let told = run.refused(1);
    assert!(told.contains("the job has 4 ranks, not the 8 asked for\n  4 slots\n"), "{told}");
}

/// A job whose lines come faster than the command looks whether to end it.
const NOISE: &str = "while :; do echo waiting; done";

#[test]
fn what_was_measured_before_an_interruption_is_shown_and_kept() {
    for (signal, number) in [("TERM", 15), ("HUP", 1)] {
        for then in ["exec sleep 60", NOISE] {
            let then = format!("(sleep 0.5; kill -{signal} $PPID) & {then}");
            let (run, folder) = bench("bench_interrupted", &both()[..2], &then, "--patience 10");
            assert_eq!(run.code, Some(128 + number), "{}", run.errors);
            let told = "rustcoll: interrupted; only a part was measured\n";
            assert!(run.errors.ends_with(told), "{}", run.errors);
            assert!(run.output.contains("rustcoll"), "{}", run.output);
            let kept = fs::read_to_string(folder.join("times.csv")).unwrap();
            assert!(kept.contains("rustcoll,0,,0,1000 2000 9000"), "{kept}");
        }
    }
}

#[test]
fn times_that_cannot_be_written_are_shown() {
    let folder = folder("bench_unwritable");
    let launcher = launcher(&folder, &both(), "");
    let at = folder.display();
    let line = format!(
        "bench bcast:8 --program /bin/true --launcher {} --csv {at}/none/times.csv",
        launcher.display()
    );
    let run = rustcoll(&line);
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("none/times.csv: cannot be written: No such file"), "{}", run.errors);
    assert!(run.output.contains("0.500 of the best other's time"), "{}", run.output);
}

#[test]
fn a_job_that_says_too_little_is_told_of() {
    let (run, _) = bench("bench_short", &both()[..2], "", "");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("launcher ended well, but 1 result did not come"), "{}", run.errors);
}

#[test]
fn a_job_with_fewer_ranks_is_refused() {
    let (run, _) = bench("bench_ranks", &both(), "", "--ranks 8");
    assert!(run.refused(1).contains("the job has 4 ranks, not the 8 asked for"));
}

#[test]
fn a_wrong_result_is_told_of() {
    let fault =
        r#"{"line":"fault","collective":"bcast","bytes":8,"contestant":"tuned","message":"wrong result: x"}"#;
    let (run, _) = bench("bench_wrong", &[both()[1].clone(), fault.to_owned()], "exit 1", "");
    assert_eq!(run.code, Some(1));
    assert!(run.errors.contains("bcast on 4 ranks, 8 bytes: tuned: wrong result: x\n"), "{}", run.errors);
    assert!(!run.errors.contains("exit status"), "{}", run.errors);
}

#[test]
fn what_cannot_be_measured_is_refused_with_a_reason() {
    for (line, code, expected) in [
        ("bench --ranks 1 --program /bin/true", 2, "1 rank cannot call a collective: at least 2 are needed"),
        ("bench --contestants tuned,tuned", 2, "the contestant tuned is named twice"),
        ("bench --contestants tuned:3:x", 2, "`x` is not key=value"),
        ("bench --ranks 6 --ranks-per-host 4", 2, "6 ranks do not fill hosts of 4 each"),
        ("bench alreduce", 2, "unknown collective `alreduce`; the nearest known one is `allreduce`"),
        ("bench ialreduce", 2, "unknown collective `ialreduce`; the nearest known one is `iallreduce`"),
        ("bench --at-least 5 --at-most 4", 2, "--at-least 5 is more than --at-most 4"),
        (
            "bench allreduce_init --short-lived 5",
            2,
            "allreduce_init: calls on short-lived communicators have no persistent",
        ),
        ("bench --for-fit x.csv --short-lived 5", 2, "cannot be used with '--short-lived"),
        ("bench --bytes 9 --program /bin/true", 2, "allreduce: 9 bytes are no multiple of 4"),
        ("bench bcast@inter --ranks 3", 2, "bcast@inter needs two groups of one size, and 3 ranks are odd"),
        (
            "bench ibcast@overlp",
            2,
            "ibcast@overlp: unknown shape `overlp`; the nearest known one is `overlap`",
        ),
        ("bench --mca x", 2, "`x` is not NAME=VALUE"),
        ("bench --program /nowhere/measure", 1, "the measuring program /nowhere/measure: No such file"),
        (
            "bench --program /bin/true --component /bin",
            1,
            "--component /bin: there is no mca_coll_rustcoll.so",
        ),
        (
            "bench --program /bin/true --launcher /nowhere/mpirun",
            1,
            "/nowhere/mpirun cannot be started: No such file",
        ),
        ("performance /nowhere/plan.toml --report x.md", 1, "/nowhere/plan.toml: cannot be read"),
    ] {
        let told = rustcoll(line).refused(code);
        assert!(told.contains(expected), "{line}: {told}");
    }
}

/// Measures all cells that the command asks for: each call takes 1 us, and 1 ns for each byte.
const MEASURING: &str = r#"for heat; do
  case $heat in */rustcoll:*) ;; *) continue ;; esac
  bytes=${heat#*:}
  for bytes in $(echo ${bytes%%/*} | tr , ' '); do
    printf '{"line":"measurement","collective":"%s","ranks":%d,"bytes":%d,"contestant":"%s","ran":"","late":0,"nanoseconds":[%d]}\n' \
      ${heat%%:*} $RANKS $bytes ${heat#*/} $((1000 + bytes))
  done
done"#;

/// Runs `rustcoll bench --for-fit` on 3 hosts with 2 ranks each. A job has hosts, ranks per host, and hosts found. It runs
/// `measuring`.
fn for_fit(folder: &Path, jobs: &[(usize, usize, usize)], measuring: &str) -> Run {
    for &(hosts, of_host, found) in jobs {
        let place = folder.join(format!("{hosts}-{of_host}"));
        fs::create_dir_all(&place).unwrap();
        let ranks = hosts * of_host;
        let job = format!(
            r#"{{"line":"job","ranks":{ranks},"nodes":{found},"ranks_per_node":{},"library":"Some MPI 1.0"}}"#,
            ranks / found
        );
        launcher(&place, &[job], &format!("RANKS={ranks}\n{measuring}"));
    }
    let at = folder.display();
    rustcoll(&format!(
        "bench --for-fit {at}/times.csv --ranks 6 --ranks-per-host 2 --program /bin/true \
         --launcher {at}/{{hosts}}-{{ranks_per_host}}/launcher"
    ))
}

#[test]
fn what_is_measured_for_a_fit_is_read_by_fit_and_validate() {
    let folder = folder("bench_for_fit");
    let output = for_fit(&folder, &[(1, 2, 1), (2, 1, 2), (3, 1, 3), (3, 2, 3)], MEASURING).right();
    assert!(output.contains("\n41 times for `rustcoll fit "), "{output}");
    let asked = fs::read_to_string(folder.join("3-1/asked")).unwrap();
    assert!(asked.ends_with(" alltoall:64/rustcoll:spread_out\n"), "{asked}");
    let text = fs::read_to_string(folder.join("times.csv")).unwrap();
    assert!(text.starts_with("# Made by `rustcoll bench --for-fit` of rustcoll "), "{text}");
    assert!(text.contains("; Some MPI 1.0\n"), "{text}");
    for row in ["bcast,binomial,2,1024,2.024,,1,,slowest", "alltoall,bruck,6,64,1.064,2,2,,slowest"] {
        assert!(text.lines().any(|line| line == row), "{row} is missing in\n{text}");
    }
    let file = folder.join("times.csv");
    let file = file.display();
    rustcoll(&format!("validate {file} --machine machines/infiniband-edr.toml")).right();
    let fitted = rustcoll(&format!("fit {file}")).right();
    assert!(fitted.contains("ranks_per_node = 2\n"), "{fitted}");
    // The nodes are the measured ones, not those of the machine where the search begins.
    let fitted = rustcoll(&format!("fit {file} --machine machines/infiniband-edr.toml")).right();
    assert!(fitted.contains("ranks_per_node = 2\n"), "{fitted}");
}

#[test]
fn ranks_that_are_not_where_a_fit_needs_them_are_told_of_and_earlier_jobs_are_kept() {
    let folder = folder("bench_for_fit_misplaced");
    let run = for_fit(&folder, &[(2, 1, 2), (1, 2, 2)], MEASURING);
    assert_eq!(run.code, Some(1));
    let expected = "the 2 ranks are on 2 hosts, at most 1 on one, not on 1 host of 2: --ranks-per-host says how many a host has, and \
                    --launcher puts them there\n";
    assert!(run.errors.contains(expected), "{}", run.errors);
    let text = fs::read_to_string(folder.join("times.csv")).unwrap();
    assert!(text.contains("\nbcast,binomial,2,8,1.008,,1,,slowest\n"), "{text}");
}

#[test]
fn a_fit_without_times_is_told_of_and_an_interruption_ends_it() {
    let all = [(1, 2, 1), (2, 1, 2), (3, 1, 3), (3, 2, 3)];
    for (name, then, code, told) in [
        ("bench_for_fit_nothing", "exit 1", 1, "nothing was measured, so "),
        (
            "bench_for_fit_interrupted",
            "kill -INT $PPID; sleep 60",
            128 + 2,
            "interrupted; nothing was measured\n",
        ),
    ] {
        let folder = folder(name);
        let run = for_fit(&folder, &all, then);
        assert_eq!(run.code, Some(code), "{}", run.errors);
        assert!(run.errors.contains(told), "{}", run.errors);
        assert!(!folder.join("times.csv").exists());
        let asked = |(hosts, of_host, _)| folder.join(format!("{hosts}-{of_host}/asked")).exists();
        let expected = if code == 1 { all.len() } else { 1 };
        assert_eq!(all.into_iter().filter(|&job| asked(job)).count(), expected);
    }
}

#[test]
fn what_a_fit_cannot_be_measured_with_is_refused() {
    for (line, expected) in [
        ("bench bcast --for-fit x.csv", "'--for-fit <FILE>'"),
        ("bench --for-fit x.csv --bytes 8", "cannot be used with '--bytes <BYTES>'"),
        ("bench --for-fit x.csv --contestants tuned", "cannot be used with '--contestants <CONTESTANTS>'"),
        ("bench --for-fit x.csv --csv y.csv", "cannot be used with '--csv <CSV>'"),
        ("bench --for-fit x.csv --json y.json", "cannot be used with '--json <JSON>'"),
        ("bench --for-fit x.csv --ranks 1", "1 rank cannot call a collective: at least 2 are needed"),
        ("bench --for-fit x.csv --ranks 6 --ranks-per-host 4", "6 ranks do not fill hosts of 4 each"),
        (
            "bench --for-fit x.csv --ranks 6 --ranks-per-host 3",
            "{ranks_per_host} or {hosts} must be in it, as in `mpirun -n {ranks} --map-by ppr:{ranks_per_host}:node`",
        ),
    ] {
        let told = rustcoll(line).refused(2);
        assert!(told.contains(expected), "{line}: {told}");
    }
}

/// Writes a plan with two other MPIs, of which one is there. The launchers note their turns.
fn plan_with_other_mpis(folder: &Path) -> String {
    let own = folder.join("own");
    let other = folder.join("other");
    for (place, contestant, times) in [(&own, "rustcoll", "1000"), (&other, "mpich", "2000,2000,2000")] {
        fs::create_dir_all(place).unwrap();
        let lines = [JOB.to_owned(), measurement("barrier", 0, contestant, times)];
        launcher(place, &lines, &format!("echo {contestant} >> {}/turns", folder.display()));
    }
    let at = folder.display();
    let text = format!(
        "at_least = 1\nat_most = 2\nbudget = 3\nlauncher = '{at}/own/launcher'\n\
         contestants = ['rustcoll', 'mpich', 'absent']\nbytes = {{ vector = [], block = [] }}\n\
         [mpi.mpich]\nlauncher = '{at}/other/launcher --ranks {{ranks}}'\nprogram = '/bin/true'\n\
         [mpi.absent]\nlauncher = 'false'\nprogram = '{at}/absent/measure'\n\
         [[experiment]]\nname = 'others'\ntitle = 'Others'\nlaunches = 2\nhot = true\nranks = [4]\n\
         collectives = ['barrier']\nlimit = [{{ each = 0.6 }}]\n"
    );
    fs::write(folder.join("plan.toml"), text).unwrap();
    format!("performance {at}/plan.toml --report {at}/report.md --program /bin/true")
}

#[test]
fn other_mpis_take_turns_in_jobs_of_their_own() {
    let folder = folder("performance_other_mpis");
    let run = rustcoll(&plan_with_other_mpis(&folder));
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(run.output.contains("| others | all | 1 | 0.60 | 0.50 |"), "{}", run.output);
    let turns = fs::read_to_string(folder.join("turns")).unwrap();
    assert_eq!(turns, "rustcoll\nmpich\nrustcoll\nmpich\n");
    let asked = fs::read_to_string(folder.join("other/asked")).unwrap();
    assert!(asked.starts_with("--ranks 4 /") && asked.contains(" --contestants mpich "), "{asked}");
    let measured = fs::read_to_string(folder.join("report/measured.csv")).unwrap();
    assert!(measured.contains("others,barrier,4,0,mpich,1,,0,2000 2000 2000\n"), "{measured}");
    // A missing MPI is reported.
    assert!(run.errors.contains("others: absent is not measured: there is no "), "{}", run.errors);
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("Not measured, and so not compared with: absent."), "{report}");
    assert!(report.contains("2 jobs of each MPI."), "{report}");
}

/// Writes a plan of one experiment with two cells, with a launcher that measures them.
fn plan(folder: &Path, limit: &str, remarks: &str) -> String {
    let lines = [
        JOB.to_owned(),
        measurement("bcast", 8, "rustcoll", "1000"),
        measurement("bcast", 8, "tuned", "2000"),
        measurement("bcast", 64, "rustcoll", "3000"),
        measurement("bcast", 64, "tuned", "2000"),
    ];
    let launcher = launcher(folder, &lines, "");
    let text = format!(
        "at_least = 1\nat_most = 2\nbudget = 3\ncontestants = ['rustcoll', 'tuned']\nlauncher = '{}'\n\
         bytes = {{ vector = ['8', '64'], block = [] }}\n\
         [[experiment]]\nname = 'one'\ntitle = 'Only one'\nplace = 'here'\nranks = [4]\ncollectives = ['bcast']\n\
         limit = [{limit}]\n{remarks}",
        launcher.display()
    );
    fs::write(folder.join("plan.toml"), text).unwrap();
    let at = folder.display();
    format!("performance {at}/plan.toml --report {at}/report.md --program /bin/true")
}

#[test]
fn a_plan_is_measured_and_reported() {
    let folder = folder("performance");
    let line = plan(&folder, "{ each = 1.6, mean = 0.9 }", "");
    let run = rustcoll(&line);
    assert_eq!(run.code, Some(0), "{}", run.errors);
    let expected = "| one | ranks | 8 | 64 |\n|---|--:|--:|--:|\n| bcast | 4 | 0.50 | 1.50 |\n\n";
    assert!(run.output.starts_with(expected), "{}", run.output);
    assert!(run.output.contains("| one | all | 2 | 1.60 | 1.50 | 0.90 | 0.87 | holds |"), "{}", run.output);
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    for part in [
        "Some MPI 1.0.\n",
        "## Only one",
        "# Performance\n",
        "\n\n| | blocking<br>here |\n|---|--:|\n| bcast | 0.87<br>**1.50** |\n| all | 0.87<br>**1.50** |\n",
        "\n| one | ranks | 8 | 64 |\n|---|--:|--:|--:|\n| bcast | 4 | 0.50 | 1.50 |\n",
    ] {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
    assert!(
        run.errors.contains("about 1 min left; one, 4 ranks, 2 cells: rustcoll, tuned"),
        "{}",
        run.errors
    );
    // The report can be made again without measuring.
    fs::remove_file(folder.join("asked")).unwrap();
    rustcoll(&format!("{line} --from {}/report/measured.csv", folder.display())).right();
    assert_eq!(fs::read_to_string(folder.join("report.md")).unwrap(), report);
    assert!(!folder.join("asked").exists());
}

#[test]
fn a_report_says_how_each_experiment_was_measured() {
    let folder = folder("performance_method");
    for (more, said, unsaid) in [
        (
            "",
            ["at one instant.", "send the same data in each call."],
            ["after a barrier.", "write what they send"],
        ),
        (
            "hot = true\nfresh = true\n",
            ["after a barrier.", "write what they send before each call."],
            ["at one instant", "send the same data"],
        ),
    ] {
        assert_eq!(rustcoll(&plan(&folder, "{ each = 9.0 }", more)).code, Some(0));
        let report = fs::read_to_string(folder.join("report.md")).unwrap();
        assert!(said.iter().all(|part| report.contains(part)), "{report}");
        assert!(unsaid.iter().all(|part| !report.contains(part)), "{report}");
    }
}

#[test]
fn times_are_compared_with_a_bound_that_messages_between_two_ranks_set() {
    let folder = folder("performance_bound");
    let plan = "at_least = 1\nat_most = 2\nbudget = 3\ncontestants = ['rustcoll']\nlauncher = 'false'\n\
        bytes = { vector = ['8', '16K', '1M'], block = [] }\n\
        [[experiment]]\nname = 'bound'\ntitle = 'The bound'\nagainst = 'bound'\nranks = [2, 4]\n\
        collectives = ['bcast', 'allreduce']\nlimit = [{ where = { bytes = '16K..' }, each = 1.25 }]\n";
    // Alpha is 1 ms, and beta 100 ns: pipelining, and doubling, take the least.
    let measured = "bound,bcast,2,8,rustcoll,0,,0,1000800\nbound,bcast,2,1048576,rustcoll,0,,0,105857600\n\
        bound,bcast,4,16384,rustcoll,0,binomial,0,5198400\nbound,allreduce,4,16384,rustcoll,0,ring,0,10553600\n";
    fs::write(folder.join("plan.toml"), plan).unwrap();
    fs::write(folder.join("measured.csv"), measured).unwrap();
    let at = folder.display();
    let line = format!("performance {at}/plan.toml --report {at}/report.md --from {at}/measured.csv");
    let run = rustcoll(&line);
    assert_eq!(run.code, Some(1), "{}", run.errors);
    assert!(run.output.contains("| bound | 16K.. bytes | 2 | 1.25 | 2.00 |"), "{}", run.output);
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    for part in [
        "| bound | ranks | 16KiB |\n|---|--:|--:|\n| bcast | 4 | 1.00 |\n| allreduce | 4 | 2.00 |\n",
        "alpha + n beta",
    ] {
        assert!(report.contains(part), "{part} is missing in\n{report}");
    }
}

#[test]
fn a_cell_beyond_its_limit_is_named_with_its_reason() {
    let folder = folder("performance_limit");
    let run = rustcoll(&plan(&folder, "{ each = 1.0 }", ""));
    assert_eq!(run.code, Some(1));
    let report = || fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(
        report().contains("- bcast, 4 ranks, 64 bytes: 1.50 by ``. The reason is not known."),
        "{}",
        report()
    );
    let remark = "[[remark]]\nwhere = { collectives = ['bcast'], bytes = '64' }\nreason = 'It waits.'\n";
    let run = rustcoll(&plan(&folder, "{ each = 1.0 }", &format!("{remark}up_to = 1.45\n")));
    assert_eq!(run.code, Some(1), "{}", run.errors);
    assert!(report().contains(": 1.50 by ``. The reason is not known."), "{}", report());
    let run = rustcoll(&plan(&folder, "{ each = 1.0 }", &format!("{remark}up_to = 1.55\n")));
    assert_eq!(run.code, Some(0), "{}", run.errors);
    assert!(run.output.contains("| 1 beyond it, with a reason |"), "{}", run.output);
    assert!(report().contains(": 1.50 by ``. It waits."), "{}", report());
}

/// Makes the launcher of a plan print other times from its second job on.
fn changes_its_mind(folder: &Path, times: &str) {
    let lines = [
        JOB.to_owned(),
        measurement("bcast", 64, "rustcoll", times),
        measurement("bcast", 64, "tuned", "2000"),
    ];
    fs::write(folder.join("again"), lines.join("\n") + "\n").unwrap();
    let path = folder.join("launcher");
    let script = fs::read_to_string(&path).unwrap();
    fs::write(path, format!("{script}cp {at}/again {at}/lines\n", at = folder.display())).unwrap();
}

#[test]
fn a_cell_beyond_its_limit_is_measured_again_and_fails_only_if_it_is_beyond_it_twice() {
    for (name, times, code, found) in [
        ("performance_twice_right", "2200", 0, "1 within it when measured again"),
        ("performance_twice_wrong", "4000", 1, "1 beyond it"),
    ] {
        let folder = folder(name);
        let line = plan(&folder, "{ each = 1.2 }", "twice = true\n");
        changes_its_mind(&folder, times);
        let run = rustcoll(&line);
        assert_eq!(run.code, Some(code), "{}", run.errors);
        assert!(
            run.errors.contains("one: beyond a limit, and so measured again: 1 cell\n"),
            "{}",
            run.errors
        );
        let asked = fs::read_to_string(folder.join("asked")).unwrap();
        assert!(asked.ends_with(" bcast:64\n") && asked.lines().count() == 2, "{asked}");
        // Only the first launch is in tables and means.
        assert!(run.output.contains("| one | all | 2 | 1.20 | 1.50 |  | 0.87 |"), "{}", run.output);
        assert!(run.output.contains("| bcast | 4 | 0.50 | 1.50 |"), "{}", run.output);
        assert!(run.output.contains(&format!("| {found} |")), "{}", run.output);
    }
}

#[test]
fn what_an_earlier_plan_measured_besides_does_not_count() {
    let row =
        |bytes, contestant, launch, time| format!("one,bcast,4,{bytes},{contestant},{launch},,0,{time}\n");
    let both =
        |bytes, launch, own, other| row(bytes, "rustcoll", launch, own) + &row(bytes, "tuned", launch, other);
    let planned = both(8, 0, 1000, 2000) + &both(64, 0, 3000, 2000);
    for (name, more) in [
        ("performance_earlier_contestant", row(8, "han", 0, 500) + &row(64, "han", 0, 500)),
        // Without `twice`, no launch is there to measure cells again.
        ("performance_earlier_launch", both(64, 1, 1000, 2000)),
    ] {
        let folder = folder(name);
        let line = plan(&folder, "{ each = 1.2 }", "");
        fs::write(folder.join("all.csv"), format!("{planned}{more}")).unwrap();
        let run = rustcoll(&format!("{line} --from {}/all.csv", folder.display()));
        assert_eq!(run.code, Some(1), "{}", run.output);
        assert!(run.output.contains("| bcast | 4 | 0.50 | 1.50 |"), "{}", run.output);
        let report = fs::read_to_string(folder.join("report.md")).unwrap();
        assert!(report.contains("- bcast, 4 ranks, 64 bytes: 1.50 by ``. "), "{report}");
    }
}

#[test]
fn an_interrupted_plan_goes_on_where_it_stopped() {
    let folder = folder("performance_interrupted");
    let line = plan(&folder, "{ each = 9.0 }", "");
    fs::create_dir(folder.join("report")).unwrap();
    let measured = "one,bcast,4,8,rustcoll,0,,0,100\none,bcast,4,8,tuned,0,,0,100\none,bcast,4,64,rust";
    fs::write(folder.join("report/measuring.csv"), measured).unwrap();
    // The job measures more than the command asks for. Only what the command asks for counts.
    assert_eq!(rustcoll(&line).code, Some(0));
    assert!(fs::read_to_string(folder.join("asked")).unwrap().ends_with(" bcast:64\n"));
    assert!(folder.join("report/measured.csv").exists());
    assert!(!folder.join("report/measuring.csv").exists());
}

#[test]
fn a_signal_interrupts_a_plan() {
    let folder = folder("performance_signal");
    let line = plan(&folder, "{ each = 9.0 }", "");
    let lines = [JOB.to_owned(), measurement("bcast", 8, "rustcoll", "1000")];
    launcher(&folder, &lines, "sleep 0.5; kill -INT $PPID; exec sleep 60");
    let run = rustcoll(&line);
    assert_eq!(run.code, Some(128 + 2), "{}", run.errors);
    assert!(
        run.errors.contains("report/measuring.csv, and the same command goes on from there"),
        "{}",
        run.errors
    );
    let kept = fs::read_to_string(folder.join("report/measuring.csv")).unwrap();
    assert!(kept.contains("\none,bcast,4,8,rustcoll,0,,0,1000\n# machine of one: "), "{kept}");
    assert!(!folder.join("report.md").exists());
}

#[test]
fn an_interrupted_plan_measures_anew_what_has_other_settings() {
    let folder = folder("performance_settings");
    let line = plan(&folder, "{ each = 9.0 }", "");
    let at = folder.display();
    let own_rules = format!("rustcoll@{at}/my.toml");
    // A contestant with rules of its own races instead of another component. Jobs read a folder of schedule files.
    let plan = |more: &str| {
        let schedules = format!("mca = {{ coll_rustcoll_schedules = '{at}/schedules' }}\n");
        plan(&folder, "{ each = 9.0 }", &(schedules + more));
        for file in ["plan.toml", "lines"] {
            let text = fs::read_to_string(folder.join(file)).unwrap();
            fs::write(folder.join(file), text.replace("tuned", &own_rules)).unwrap();
        }
    };
    fs::create_dir(folder.join("schedules")).unwrap();
    let lines = [
        JOB.to_owned(),
        measurement("bcast", 8, "rustcoll", "1000"),
        measurement("bcast", 8, &own_rules, "2000"),
    ];
    let line = line.replace("/bin/true", &format!("{at}/measure --component {at}"));
    // The launcher stays the same, as its content is one of the settings.
    let slow = format!("[ -e {at}/fast ] || {{ sleep 0.5; kill -INT $PPID; exec sleep 60; }}");
    let (same, anew) = (" bcast:64\n", " bcast:8,64\n");
    for (more, rebuilt, expected) in [
        ("", "fast", same),
        ("hot = true\n", "fast", anew),
        ("", "measure", anew),
        ("", "mca_coll_rustcoll.so", anew),
        ("", "my.toml", anew),
        ("", "schedules/my.sched", anew),
    ] {
        let write = |file: &str, content| fs::write(folder.join(file), content).unwrap();
        for file in ["measure", "mca_coll_rustcoll.so", "my.toml", "schedules/my.sched"] {
            write(file, "old");
        }
        let _ = fs::remove_file(folder.join("fast"));
        plan("");
        launcher(&folder, &lines, &slow);
        assert_eq!(rustcoll(&line).code, Some(128 + 2));
        plan(more);
        let all = fs::read_to_string(folder.join("lines")).unwrap();
        launcher(&folder, &[all.trim_end().to_owned()], &slow);
        write("fast", "");
        write(rebuilt, "new");
        let run = rustcoll(&line);
        assert_eq!(run.code, Some(0), "{}", run.errors);
        let asked = fs::read_to_string(folder.join("asked")).unwrap();
        assert!(asked.ends_with(expected), "{asked}");
        let told = "one: its settings, a file that its jobs use, the environment or the machine changed since the interruption, and so \
                    it is measured anew";
        let is_told = expected == anew;
        assert_eq!(run.errors.contains(told), is_told, "{}", run.errors);
    }
}

#[test]
fn experiments_that_are_not_asked_for_keep_their_results() {
    let folder = folder("performance_only");
    let two = "[[experiment]]\nname = 'two'\ntitle = 'Two'\nranks = [4]\ncollectives = ['bcast']\n";
    let line = format!("{} --only one", plan(&folder, "{ each = 9.0 }", two));
    let measured = "two,bcast,4,8,rustcoll,0,,0,500\ntwo,bcast,4,8,tuned,0,,0,1000\n";
    let begun = "two,bcast,4,8,rustcoll,0,,0,700\n";
    fs::create_dir(folder.join("report")).unwrap();
    fs::write(folder.join("report/measured.csv"), measured).unwrap();
    fs::write(folder.join("report/measuring.csv"), begun).unwrap();
    assert_eq!(rustcoll(&line).code, Some(0));
    let read = |name: &str| fs::read_to_string(folder.join("report").join(name)).unwrap();
    let all = read("measured.csv");
    assert!(
        all.contains("one,bcast,4,8,rustcoll") && all.contains("two,bcast,4,8,rustcoll,0,,0,500"),
        "{all}"
    );
    assert!(read("measuring.csv").ends_with(begun), "the run that measured `two` goes on");
    assert!(!read("measuring.csv").contains("one,"));
}

#[test]
fn results_of_several_machines_are_told_with_their_machines() {
    let folder = folder("performance_machines");
    let two = "[[experiment]]\nname = 'two'\ntitle = 'Two'\nranks = [4]\ncollectives = ['bcast']\n";
    let line = format!("{} --only one", plan(&folder, "{ each = 9.0 }", two));
    let rows = "two,bcast,4,8,rustcoll,0,,0,500\ntwo,bcast,4,8,tuned,0,,0,1000\n";
    fs::create_dir(folder.join("report")).unwrap();
    let measured = format!("# machine: 1 processors; Linux 2; Old MPI 3\n{rows}");
    fs::write(folder.join("report/measured.csv"), measured).unwrap();
    assert_eq!(rustcoll(&line).code, Some(0));
    let kept = fs::read_to_string(folder.join("report/measured.csv")).unwrap();
    assert!(kept.contains("# machine of two: 1 processors; Linux 2; Old MPI 3\n"), "{kept}");
    let report = fs::read_to_string(folder.join("report.md")).unwrap();
    assert!(report.contains("\n- 1 processors; Linux 2; Old MPI 3: two\n"), "{report}");
    assert!(report.contains("; Some MPI 1.0: one\n"), "{report}");
}

#[test]
fn a_file_without_all_cells_is_told_of() {
    let folder = folder("performance_incomplete");
    let line = plan(&folder, "{ each = 9.0 }", "launches = 2\n");
    let row = |bytes, contestant, launch| format!("one,bcast,4,{bytes},{contestant},{launch},,0,500\n");
    let both = |bytes, launch| row(bytes, "rustcoll", launch) + &row(bytes, "tuned", launch);
    let first = both(8, 0) + &both(8, 1);
    for (more, expected) in [
        (both(64, 0) + &both(64, 1), None),
        (both(64, 0), Some("one (1 of 2 cells)")),
        (String::new(), Some("one (1 of 2 cells)")),
    ] {
        fs::write(folder.join("part.csv"), format!("{first}{more}")).unwrap();
        let run = rustcoll(&format!("{line} --from {}/part.csv", folder.display()));
        assert_eq!(run.code, Some(i32::from(expected.is_some())), "{}", run.output);
        let last = run.output.lines().last().filter(|line| line.starts_with(&not_measured("")));
        assert_eq!(last, expected.map(not_measured).as_deref());
    }
}

#[test]
fn plans_and_files_that_make_no_sense_are_refused() {
    let folder = folder("performance_nonsense");
    let at = folder.display();
    for (number, (more, expected)) in [
        ("at_least = 3\n", "at_least = 3, at_most = 2: 1 is the least, and at_most is no less"),
        (
            "short_lived = 5\nevery = { forms = ['persistent'] }\nbytes = ['8']\n",
            "_init: calls on short-lived communicators",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        let line = plan(&folder, "{ each = 9.0 }", more);
        let told = rustcoll(&line).refused(1);
        assert!(told.contains(expected), "{number}: {told}");
    }
    let line = plan(&folder, "{ each = 9.0 }", "");
    let told = rustcoll(&line.replace("report.md", "report")).refused(2);
    assert!(told.contains("report: a name with an ending is expected, as report.md"), "{told}");
    fs::write(folder.join("other.csv"), "two,bcast,4,8,rustcoll,0,,0,500\n").unwrap();
    let told = rustcoll(&format!("{line} --from {at}/other.csv")).refused(1);
    assert!(told.contains("other.csv: no experiment of the plan is in it"), "{told}");
    assert!(!folder.join("report.md").exists());
}

/// Lets the plan in a folder measure in a lab that cannot be started.
fn take_a_lab_that_fails(folder: &Path) {
    let path = folder.join("plan.toml");
    let text = fs::read_to_string(&path).unwrap();
    let lab = "lab = { up = 'false {hosts}', set = 'true', run = 'true', down = 'true' }\n[[experiment]]";
    let network = "title = 'Only one'\nnetwork = { latency = '1ms', bandwidth = '1MB/s', gap = '0us' }";
    let text = text.replace("[[experiment]]", lab).replace("title = 'Only one'", network);
    fs::write(&path, text).unwrap();
}

/// Asserts that the run could not measure the experiment. Without root, the command does not even try.
fn assert_one_is_not_measured(run: &Run) {
    assert!(run.errors.starts_with("rustcoll: one is not measured: "), "{}", run.errors);
    let last = run.output.lines().last().unwrap_or_default();
    assert!(run.code == Some(1) && last.starts_with(&not_measured("one (")), "{:?}: {last}", run.code);
}

#[test]
fn a_lab_that_cannot_be_started_is_told_of() {
    let folder = folder("performance_lab");
    let line = plan(&folder, "{ each = 9.0 }", "");
    take_a_lab_that_fails(&folder);
    let run = rustcoll(&line);
    assert_one_is_not_measured(&run);
    assert!(run.output.contains("| not measured |"), "{}", run.output);
}

#[test]
fn earlier_results_are_not_those_of_a_run_that_could_not_measure() {
    let folder = folder("performance_lab_later");
    let line = plan(&folder, "{ each = 9.0 }", "");
    assert_eq!(rustcoll(&line).code, Some(0));
    take_a_lab_that_fails(&folder);
    assert_one_is_not_measured(&rustcoll(&line));
}

/// Returns the last line of a run that could not measure this.
fn not_measured(what: &str) -> String {
    format!("Not measured: {what}")
}

#[test]
fn limits_without_a_measurement_do_not_hold() {
    let folder = folder("performance_no_rival");
    let line = plan_with_other_mpis(&folder);
    let path = folder.join("plan.toml");
    let text = fs::read_to_string(&path).unwrap().replace("'mpich', 'absent'", "'absent'");
    fs::write(&path, text).unwrap();
    let run = rustcoll(&line);
    assert_eq!(
        (run.code, run.output.lines().last()),
        (Some(1), Some(&*not_measured("others (nothing to compare with)"))),
        "{}",
        run.errors
    );
}

#[test]
fn limits_on_cells_that_are_not_there_do_not_hold() {
    let folder = folder("performance_no_cell");
    let run = rustcoll(&plan(&folder, "{ each = 9.0 }, { where = { bytes = '1K..' }, each = 9.0 }", ""));
    let expected = not_measured("one (1K.. bytes)");
    assert_eq!((run.code, run.output.lines().last()), (Some(1), Some(&*expected)), "{}", run.errors);
}
