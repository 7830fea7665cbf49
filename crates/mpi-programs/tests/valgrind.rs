//! The component under valgrind: no invalid access, and no leak that grows with calls or communicators.

mod common;

use common::{mpirun, run_alone};
use std::path::{Path, PathBuf};

/// Runs the conformance program under valgrind and returns the reports in which the component appears.
fn reports(name: &str, options: &[&str]) -> Vec<String> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir_all(&directory).unwrap();
    let mut command = mpirun(3);
    command.env("OMPI_MCA_coll", "rustcoll");
    command.args([
        "valgrind",
        "--leak-check=full",
        "--show-leak-kinds=definite,indirect",
        "--num-callers=30",
    ]);
    command.args(suppressions().iter().map(|file| format!("--suppressions={}", file.display())));
    command.arg(format!("--log-file={}/%p", directory.display()));
    let job = run_alone(3600, command.arg(env!("CARGO_BIN_EXE_conformance")).args(options));
    job.assert(job.success, "conformance fails under valgrind");
    let logs: Vec<PathBuf> =
        std::fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert_eq!(logs.len(), 3, "a log for each rank");
    logs.iter().flat_map(|log| reports_in(&std::fs::read_to_string(log).unwrap())).collect()
}

/// Returns the reports about the component. Lines with nothing but the process number separate valgrind's reports.
fn reports_in(log: &str) -> Vec<String> {
    assert!(log.contains("ERROR SUMMARY"), "valgrind did not come to its end");
    let lines =
        log.lines().map(|line| line.trim_start_matches(|c: char| c == '=' || c.is_ascii_digit()).trim());
    let text = lines.collect::<Vec<_>>().join("\n");
    // The component has no constructors. Reports with a constructor concern another plug-in that was unloaded
    // before the component got its addresses.
    let concerns_component = |report: &&str| report.contains("rustcoll") && !report.contains("call_init");
    let is_command_line = |report: &&str| report.contains("Command:");
    text.split("\n\n")
        .filter(concerns_component)
        .filter(|report| !is_command_line(report))
        .map(str::to_owned)
        .collect()
}

/// Returns Open MPI's own suppressions for what it does on purpose.
fn suppressions() -> Vec<PathBuf> {
    let known =
        ["/usr/share/openmpi/openmpi-valgrind.supp", "/usr/local/share/openmpi/openmpi-valgrind.supp"];
    known.iter().map(PathBuf::from).filter(|file| file.exists()).collect()
}

#[test]
#[ignore = "needs valgrind; make check-valgrind"]
fn no_invalid_access_and_no_leak_in_the_component() {
    let found = reports("valgrind", &["--sizes", "3", "--budget-seconds", "60"]);
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}
