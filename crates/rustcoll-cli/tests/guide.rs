//! `rustcoll guide`: the command's side. `make check-guide` tests the page in a browser.
//!
//! A command that was built without the page must say so. Nothing else is tested of such a command.

mod common;
#[path = "../../mpi-programs/tests/common/notes.rs"]
mod notes;

use common::{folder, rustcoll};
use notes::skipped;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::LazyLock;

/// Whether the command has the page. If not, it has said what is missing, and a note says that tests are skipped.
fn has_page() -> bool {
    static HAS_PAGE: LazyLock<bool> = LazyLock::new(|| {
        let has_page = exports_a_page();
        if !has_page {
            skipped(
                "tests of `rustcoll guide`: the command was built without the guide's page, which needs Node.js",
            );
        }
        has_page
    });
    *HAS_PAGE
}

fn exports_a_page() -> bool {
    let folder = folder("guide-is-built");
    let run = rustcoll(&format!("guide --export {}", folder.display()));
    if run.code == Some(0) {
        return true;
    }
    let message = run.refused(1);
    assert!(message.contains("`make guide` builds it, which needs Node.js 20.19 or later"), "{message}");
    assert_eq!(fs::read_dir(folder).unwrap().count(), 0);
    false
}

/// A guide that is served until this is dropped, and the address that the command printed.
struct Served {
    process: Child,
    url: String,
}

impl Served {
    fn with(options: &[&str]) -> Served {
        let process = Command::new(env!("CARGO_BIN_EXE_rustcoll"))
            .args(["guide", "--no-open"])
            .args(options)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut served = Served { process, url: String::new() };
        let mut line = String::new();
        BufReader::new(served.process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let url = line.strip_prefix("The guide is at ");
        let url = url.and_then(|rest| rest.strip_suffix(" until Ctrl-C.\n"));
        served.url = url.unwrap_or_else(|| panic!("{line}")).to_owned();
        served
    }

    fn host(&self) -> &str {
        self.url.strip_prefix("http://").unwrap().split('/').next().unwrap()
    }

    /// Returns the whole answer to a request for a path.
    fn answer(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(self.host()).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.host()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    }

    /// Sends a signal, and returns the code with which the command ends.
    fn ended_by(mut self, signal: Signal) -> Option<i32> {
        kill_process(Pid::from_child(&self.process), signal).unwrap();
        self.process.wait().unwrap().code()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_guide_is_served_until_a_signal_ends_it() {
    if !has_page() {
        return;
    }
    for signal in [Signal::INT, Signal::TERM] {
        let served = Served::with(&["--port", "0", "alltoall/bruck?p=8"]);
        assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
        assert!(served.url.ends_with("/alltoall/bruck?p=8"), "{}", served.url);
        let page = served.answer("/alltoall/bruck?p=8");
        assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page:.200}");
        assert!(page.contains(r#"<meta name="routing" content="history">"#));
        assert!(served.answer("/style.css").starts_with("HTTP/1.1 404 "));
        assert_eq!(served.ended_by(signal), Some(0));
    }
}

#[test]
fn a_port_that_is_taken_is_refused_if_it_was_named() {
    if !has_page() {
        return;
    }
    let one = Served::with(&["--port", "0"]);
    let port = one.host().rsplit(':').next().unwrap();
    let refusal = rustcoll(&format!("guide --no-open --port {port}")).refused(1);
    assert!(refusal.starts_with(&format!("rustcoll: --port {port}: ")), "{refusal}");
    let [first, second] = [Served::with(&[]), Served::with(&[])];
    assert_ne!(first.url, second.url);
}

#[test]
fn an_export_replaces_earlier_exports_and_nothing_else() {
    if !has_page() {
        return;
    }
    let folder = folder("guide-export").join("made/here");
    let line = format!("guide --export {}", folder.display());
    let said = rustcoll(&line).right();
    assert!(said.starts_with(&format!("{}/index.html  ", folder.display())), "{said}");
    let page = fs::read_to_string(folder.join("index.html")).unwrap();
    assert!(!page.contains(r#"<meta name="routing""#));
    let licences = fs::read_to_string(folder.join("licences.md")).unwrap();
    assert!(["## vuetify - ", "## jsonc-parser - "].iter().all(|name| licences.contains(name)));
    let size: u64 =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    assert!(size < 10_000_000, "{size}");
    rustcoll(&line).right();

    fs::write(folder.join("index.html"), "somebody's own").unwrap();
    let refusal = rustcoll(&line).refused(1);
    assert!(refusal.contains("the folder holds something else than an earlier export"), "{refusal}");
    assert_eq!(fs::read_to_string(folder.join("index.html")).unwrap(), "somebody's own");
    let refusal = rustcoll(&format!("{line}/index.html")).refused(1);
    assert!(refusal.contains("Not a directory"), "{refusal}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    for (line, expected) in [
        ("guide altoall", "unknown collective `altoall`; the nearest known one is `alltoall`"),
        ("guide alltoall/brook", "unknown alltoall algorithm `brook`; the nearest known one is `bruck`"),
        ("guide --port 65536", "invalid value '65536' for '--port <PORT>'"),
        ("guide --export folder --no-open", "cannot be used with '--no-open'"),
    ] {
        let refusal = rustcoll(line).refused(2);
        assert!(refusal.contains(expected), "{refusal}");
    }
}
