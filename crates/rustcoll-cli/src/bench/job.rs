//! One job, from its start to its end, whatever that is.

use super::Race;
use super::launcher::Launcher;
use crate::progress::Progress;
use crate::words::counted;
use measurements::{Line, Measurement};
use rustix::process::{Pid, Signal, kill_process};
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// How long a job that is ended may take to clean up.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// How long to wait for the next message of a job that has ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

/// So many of the last lines of a job's messages are shown.
const MOST_SHOWN: usize = 40;

/// How a job ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// What the MPI library calls itself.
    pub library: Option<String>,
    /// What went wrong.
    pub complaints: Vec<String>,
}

/// Runs a job, hands on what it measures as it comes, and ends it if nothing comes for too long.
pub fn run(launcher: &Launcher, race: &Race, measured: &mut impl FnMut(Measurement)) -> Ended {
    let mut command = launcher.command(race);
    let mut ended = Ended::default();
    match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => ended.follow(child, &command, launcher.patience, race, measured),
        Err(error) => ended.complaints.push(format!("{} cannot be started: {error}", name(&command))),
    }
    ended
}

fn name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

impl Ended {
    fn follow(
        &mut self,
        mut child: Child,
        command: &Command,
        patience: Duration,
        race: &Race,
        measured: &mut impl FnMut(Measurement),
    ) {
        let lines = lines_of(child.stdout.take().expect("it is a pipe"));
        let messages = lines_of(child.stderr.take().expect("it is a pipe"));
        let progress = Progress::new(&format!("{} ranks", race.ranks));
        let (mut count, all) = (0, race.cells() * race.contestants.len());
        let mut noise = Vec::new();
        let has_ended = loop {
            match lines.recv_timeout(patience) {
                Ok(text) => {
                    let Some(line) = Line::from_json(&text) else {
                        noise.push(text);
                        continue;
                    };
                    count += usize::from(matches!(line, Line::Measurement(_) | Line::Fault(_)));
                    progress.show(count as f64 / all as f64);
                    if !self.take(line, race, measured) {
                        break false;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => {
                    self.complaints
                        .push(format!("the job hung: nothing came for {} seconds", patience.as_secs()));
                    break false;
                }
            }
        };
        drop(progress);
        let status = if has_ended { child.wait().ok() } else { end(&mut child) };
        let is_explained = !self.complaints.is_empty();
        if !is_explained && !status.is_some_and(|status| status.success()) {
            noise.extend(std::iter::from_fn(|| messages.recv_timeout(LAST_WORDS).ok()));
            self.complaints.push(format!("{} {}{}", name(command), how(status), shown(&noise)));
        } else if !is_explained && count < all {
            let missing = counted(all - count, "result");
            self.complaints.push(format!(
                "{} ended well, but {missing} did not come{}",
                name(command),
                shown(&noise)
            ));
        }
    }

    /// Returns whether it makes sense to go on.
    fn take(&mut self, line: Line, race: &Race, measured: &mut impl FnMut(Measurement)) -> bool {
        match line {
            Line::Measurement(measurement) => measured(measurement),
            Line::Fault(fault) => self.complaints.push(format!(
                "{} on {} ranks, {} bytes: {}: {}",
                fault.collective, race.ranks, fault.bytes, fault.contestant, fault.message
            )),
            Line::Job(job) if job.ranks != race.ranks => {
                let asked = race.ranks;
                self.complaints
                    .push(format!("the job has {}, not the {asked} asked for", counted(job.ranks, "rank")));
                return false;
            }
            Line::Job(job) => self.library = Some(job.library),
            Line::Hung(trial) => self.complaints.push(format!(
                "{} on {} ranks, {} bytes: {}: a call did not end in time",
                trial.collective, race.ranks, trial.bytes, trial.contestant
            )),
            Line::Trying(_) | Line::Reference(_) => {}
        }
        true
    }
}

/// The lines of a stream as they come.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        // Whoever is not asked any more need not read on.
        let _ = BufReader::new(stream)
            .split(b'\n')
            .map_while(Result::ok)
            .try_for_each(|line| sender.send(String::from_utf8_lossy(&line).into_owned()));
    });
    receiver
}

/// Asks a job to end, and makes it end if it does not.
fn end(child: &mut Child) -> Option<ExitStatus> {
    // A launcher that is ended at once would leave the ranks behind.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    let begin = Instant::now();
    while begin.elapsed() < CLEANING_UP {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    let _ = child.kill();
    child.wait().ok()
}

fn how(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("failed ({status})"),
        None => "ended in an unknown way".into(),
    }
}

fn shown(lines: &[String]) -> String {
    let lines: Vec<&String> = lines.iter().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_SHOWN)..];
    last.iter().map(|line| format!("\n  {line}")).collect()
}
