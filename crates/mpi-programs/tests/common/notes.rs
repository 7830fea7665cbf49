//! What tests tell even if they pass.

use std::env;
use std::fs::OpenOptions;
use std::io::{Write, stderr};

/// The variable that names the file of all notes. `make check` prints the file at its end.
const FILE: &str = "NOTES_OF_TESTS";

/// Tells that a test, or a part of it, cannot run here.
pub fn skipped(what: &str) {
    note(&format!("SKIPPED: {what}"));
}

/// Writes a line past what `cargo test` captures.
pub fn note(line: &str) {
    let line = format!("{line}\n");
    let _ = stderr().write_all(line.as_bytes());
    if let Some(name) = env::var_os(FILE) {
        let file = OpenOptions::new().create(true).append(true).open(name);
        file.and_then(|mut file| file.write_all(line.as_bytes())).expect("notes can be written");
    }
}
