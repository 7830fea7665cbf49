//! In simulated jobs, every call must return the right result or a justified error, and no call may hang.

use std::process::Command;

/// Most seconds for a run of the program, even on a machine that is busy with other work. The limit only ends one that hangs.
const PATIENCE: &str = "1800";

/// Runs the program. `log` is the library's log level, for a single seed.
fn simulated_jobs(seeds: &str, log: &str) -> (bool, String) {
    let mut command = Command::new("timeout");
    command.args(["--kill-after=10", PATIENCE, env!("CARGO_BIN_EXE_simulated-jobs"), seeds]);
    let output = command.env("RUSTCOLL_LOG", log).output().expect("timeout is there");
    assert_ne!(output.status.code(), Some(124), "seeds {seeds} did not end within {PATIENCE} seconds");
    (output.status.success(), String::from_utf8_lossy(&output.stdout).into_owned())
}

fn assert_right(seeds: std::ops::Range<u32>) {
    let (is_right, shown) = simulated_jobs(&format!("{}..{}", seeds.start, seeds.end), "off");
    assert!(is_right, "{shown}");
    assert!(shown.starts_with(&format!("{} histories", seeds.len())), "{shown}");
}

#[test]
fn five_thousand_histories() {
    assert_right(0..5_000);
}

#[test]
#[ignore = "takes a minute"]
fn fifteen_thousand_more_histories() {
    assert_right(5_000..20_000);
}

#[test]
fn histories_that_were_wrong_once() {
    let (is_right, shown) = simulated_jobs("found", "off");
    assert!(is_right, "{shown}");
}

#[test]
fn a_seed_shows_its_history_and_all_that_happens_in_it_is_the_same_each_time() {
    for seed in ["7", "12", "165"] {
        let (is_right, shown) = simulated_jobs(seed, "trace");
        assert!(is_right && shown.starts_with("A job of"), "{shown}");
        assert!(
            shown.contains("step 0: make communicator 0") && shown.contains(" sends to rank "),
            "{shown}"
        );
        let without_time = |shown: &str| shown.lines().rev().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(without_time(&shown), without_time(&simulated_jobs(seed, "trace").1));
    }
}

#[test]
fn what_is_no_seed_is_refused() {
    assert!(!simulated_jobs("x", "off").0);
}
