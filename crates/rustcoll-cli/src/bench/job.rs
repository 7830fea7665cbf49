//! Runs one job, and says how it ended.

use super::Race;
use super::launcher::Launcher;
use crate::interruption;
use crate::words::counted;
use measurements::{Fault, OutputLine};
use rustix::process::{Pid, Signal, kill_process};
use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read};
use std::mem;
use std::ops::ControlFlow;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// How long a job may take to clean up after it is asked to end.
const CLEANING_UP: Duration = Duration::from_secs(10);

/// How long to wait for the end of the messages of a job that has ended. Processes that it left behind keep them open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Errors show at most this many of the last lines of a job's messages.
const MOST_SHOWN: usize = 40;

/// How often to look whether the user has interrupted the command.
const TICK: Duration = Duration::from_millis(100);

/// How a job ended.
#[derive(Debug, Default)]
pub struct Ended {
    /// Why the job could not start.
    pub not_started: Option<String>,
    /// The MPI library's own description of itself.
    pub library: Option<String>,
    /// Contestants that were not measured, and why. A job with faults goes on, and then ends as a failed one.
    pub faults: Vec<Fault>,
    /// Why some contestants were not called.
    pub trouble: Option<String>,
    /// Whether the job has another number of ranks than planned.
    pub has_other_ranks: bool,
}

impl Ended {
    /// Returns all that went wrong in a job of this many ranks.
    pub fn complaints(&self, ranks: usize) -> Vec<String> {
        let faults = self.faults.iter().map(|fault| told(fault, ranks));
        faults.chain(self.trouble.clone()).collect()
    }
}

/// Returns a fault as a line.
pub fn told(fault: &Fault, ranks: usize) -> String {
    let Fault { collective, bytes, contestant, message, .. } = fault;
    format!("{collective} on {ranks} ranks, {bytes} bytes: {contestant}: {message}")
}

/// Receives what a job prints.
pub trait Hearer {
    /// Receives a line, and the part of the results that has come. Returns whether the job should go on.
    fn hear(&mut self, line: OutputLine, part: f64) -> ControlFlow<()>;
}

/// Runs a job, and passes on its lines as they come. Ends it if no line comes for too long, the hearer stops it, or the
/// user interrupts the command.
pub fn run(launcher: &Launcher, race: &Race, hearer: &mut impl Hearer) -> Ended {
    let mut command = launcher.command(race);
    let mut ended = Ended::default();
    match command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn() {
        Ok(child) => ended.follow(child, &command, launcher.patience, race, hearer),
        Err(error) => {
            let complaint = format!("{} cannot be started: {error}", name(&command));
            ended.trouble = Some(complaint.clone());
            ended.not_started = Some(complaint);
        }
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
        hearer: &mut impl Hearer,
    ) {
        let lines = lines_of(child.stdout.take().expect("it is a pipe"));
        let messages = LastLines::of(child.stderr.take().expect("it is a pipe"));
        let (mut count, all) = (0, race.results());
        let mut noise = VecDeque::new();
        let mut heard = Instant::now();
        let has_ended = loop {
            match lines.recv_timeout(TICK) {
                Ok(text) => match OutputLine::from_json(&text) {
                    Some(line) => {
                        heard = Instant::now();
                        count +=
                            usize::from(matches!(line, OutputLine::Measurement(_) | OutputLine::Fault(_)));
                        self.note(&line, race);
                        let is_enough = hearer.hear(line, count as f64 / all as f64).is_break();
                        if is_enough || self.has_other_ranks {
                            break false;
                        }
                    }
                    None => add(&mut noise, text),
                },
                Err(RecvTimeoutError::Disconnected) => break true,
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interruption::is_here() {
                break false;
            }
            if heard.elapsed() > patience {
                self.trouble = Some(format!("the job hung: nothing came for {} seconds", patience.as_secs()));
                break false;
            }
        };
        let ended_alone = has_ended.then(|| status_within(&mut child, patience)).flatten();
        let status = ended_alone.or_else(|| end(&mut child));
        let is_right = status.is_some_and(|status| status.success());
        if self.trouble.is_some() || (count >= all && !self.faults.is_empty()) {
            return;
        }
        if !is_right {
            noise.extend(messages.take());
            self.trouble = Some(format!("{} {}{}", name(command), how(status), shown(&noise)));
        } else if count < all {
            let missing = counted(all - count, "result");
            self.trouble =
                Some(format!("{} ended well, but {missing} did not come{}", name(command), shown(&noise)));
        }
    }

    fn note(&mut self, line: &OutputLine, race: &Race) {
        match line {
            OutputLine::Fault(fault) => self.faults.push(fault.clone()),
            OutputLine::Job(job) if job.ranks != race.ranks => {
                let asked = race.ranks;
                let found = counted(job.ranks, "rank");
                self.trouble = Some(format!("the job has {found}, not the {asked} asked for"));
                self.has_other_ranks = true;
            }
            OutputLine::Job(job) => self.library = Some(job.library.clone()),
            OutputLine::Hung(trial) => {
                self.trouble = Some(format!(
                    "{} on {} ranks, {} bytes: {}: a call did not end in time",
                    trial.collective, race.ranks, trial.bytes, trial.contestant
                ))
            }
            OutputLine::Measurement(_) | OutputLine::Trying(_) | OutputLine::Reference(_) => {}
        }
    }
}

/// Returns the lines of a stream as they come.
fn lines_of(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, receiver) = channel();
    // Stop reading when the receiver is gone.
    thread::spawn(move || lines(stream).try_for_each(|line| sender.send(line)));
    receiver
}

fn lines(stream: impl Read) -> impl Iterator<Item = String> {
    let lines = BufReader::new(stream).split(b'\n').map_while(Result::ok);
    lines.map(|line| String::from_utf8_lossy(&line).into_owned())
}

/// Adds a line to the last ones that are kept.
fn add(last: &mut VecDeque<String>, line: String) {
    last.push_back(line);
    last.drain(..last.len().saturating_sub(MOST_SHOWN));
}

/// The last lines of a stream that a thread reads.
struct LastLines {
    lines: Arc<Mutex<VecDeque<String>>>,
    /// Hears nothing, but the sender is gone when the stream has ended.
    end: Receiver<()>,
}

impl LastLines {
    fn of(stream: impl Read + Send + 'static) -> LastLines {
        let (sender, end) = channel();
        let kept = Arc::default();
        let last = LastLines { lines: Arc::clone(&kept), end };
        thread::spawn(move || {
            let _sender = sender;
            lines(stream).for_each(|line| add(&mut kept.lock().expect("no thread panics with it"), line));
        });
        last
    }

    /// Returns the lines, once the stream has ended or [`LAST_WORDS`] are over.
    fn take(&self) -> VecDeque<String> {
        let _ = self.end.recv_timeout(LAST_WORDS);
        mem::take(&mut self.lines.lock().expect("no thread panics with it"))
    }
}

/// Asks a job to end, and kills it if it does not.
fn end(child: &mut Child) -> Option<ExitStatus> {
    // A launcher that is killed at once would leave the ranks behind.
    let _ = kill_process(Pid::from_child(child), Signal::TERM);
    status_within(child, CLEANING_UP).or_else(|| {
        let _ = child.kill();
        child.wait().ok()
    })
}

/// Waits until a job has ended, or the time is over.
fn status_within(child: &mut Child, time: Duration) -> Option<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < time {
        if let Ok(Some(status)) = child.try_wait() {
            return Some(status);
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

fn how(status: Option<ExitStatus>) -> String {
    match status {
        Some(status) => format!("failed ({status})"),
        None => "ended in an unknown way".into(),
    }
}

fn shown(lines: &VecDeque<String>) -> String {
    let lines: Vec<&String> = lines.iter().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_SHOWN)..];
    last.iter().map(|line| format!("\n  {line}")).collect()
}
