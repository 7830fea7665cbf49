//! Runs the command. Not every test program uses all of it.

#![allow(dead_code)]

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// How a run ended, and what it printed.
#[derive(Debug)]
pub struct Run {
    pub code: Option<i32>,
    pub output: String,
    pub errors: String,
}

impl Run {
    /// Returns the output of a run that ended with 0 and without complaints.
    pub fn right(self) -> String {
        assert_eq!((self.code, &self.errors[..]), (Some(0), ""));
        self.output
    }

    /// Returns the output of a run that found something wrong.
    pub fn wrong(self) -> String {
        assert_eq!((self.code, &self.errors[..]), (Some(1), ""));
        self.output
    }

    /// Returns the message of a run that did nothing.
    pub fn refused(self, code: i32) -> String {
        assert_eq!((self.code, &self.output[..]), (Some(code), ""), "{}", self.errors);
        self.errors
    }
}

/// Runs `rustcoll` with words separated by spaces, in the repository's root.
pub fn rustcoll(line: &str) -> Run {
    rustcoll_reading(line, "")
}

/// Returns the command that runs `rustcoll` with words separated by spaces, in the repository's root.
pub fn command(line: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rustcoll"));
    command.args(line.split_whitespace()).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
    command
}

/// Runs `rustcoll` with `input` on its standard input.
pub fn rustcoll_reading(line: &str, input: &str) -> Run {
    let mut child =
        command(line).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // A command that reads nothing may have ended before.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let result = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run { code: result.status.code(), output: text(result.stdout), errors: text(result.stderr) }
}

/// Returns an empty folder for one test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// The first line of a job on 4 ranks.
pub const JOB: &str = r#"{"line":"job","ranks":4,"library":"Some MPI 1.0, made somewhere"}"#;

/// Returns the line with a contestant's times on 4 ranks.
pub fn measurement(collective: &str, bytes: usize, contestant: &str, nanoseconds: &str) -> String {
    format!(
        r#"{{"line":"measurement","collective":"{collective}","ranks":4,"bytes":{bytes},"contestant":"{contestant}","ran":"","late":0,"nanoseconds":[{nanoseconds}]}}"#
    )
}

/// Writes a launcher that prints these lines, then runs `then`. The file `asked` gets the launcher's arguments.
pub fn launcher(folder: &Path, lines: &[String], then: &str) -> PathBuf {
    fs::write(folder.join("lines"), lines.join("\n") + "\n").unwrap();
    let path = folder.join("launcher");
    let folder = folder.display();
    fs::write(&path, format!("#!/bin/sh\necho \"$@\" >> {folder}/asked\ncat {folder}/lines\n{then}\n"))
        .unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}
