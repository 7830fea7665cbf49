//! Runs one job, and says how it ended.

use super::Race;
use super::launcher::Launcher;
use crate::interruption;
use crate::words::counted;
use measurements::{Fault, OutputLine, Trial};
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

/// What is known of a job after its end.
#[derive(Debug, Default)]
pub struct Ended {
    /// Whether another job would end in the same way: it cannot start, or has another number of ranks than planned.
    pub is_hopeless: bool,
    /// The MPI library's own description of itself.
    pub library: Option<String>,
    /// Contestants that were not measured, and why. A job with faults goes on, and then ends as a failed one.
    pub faults: Vec<Fault>,
    /// Why some contestants were not called, and the last lines that the job printed.
    pub trouble: Option<String>,
}

/// How a job ended.
enum End {
    /// By itself, perhaps without all results.
    Alone { missing: usize },
    /// The hearer had enough, or the user interrupted the command.
    Stopped,
    /// It has another number of ranks than planned.
    OtherRanks { found: usize, asked: usize },
    /// The call with this description did not end in time.
    Hung(String),
    /// No line came for so many seconds, or none at all.
    Silent { seconds: u64, has_begun: bool },
}

/// What a job has printed so far.
#[derive(Default)]
struct Printed {
    has_begun: bool,
    results: usize,
    /// The last lines of the output that are not from the measuring program.
    noise: VecDeque<String>,
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
            ended.trouble = Some(format!("{} cannot be started: {error}", name(&command)));
            ended.is_hopeless = true;
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
        let output = lines_of(child.stdout.take().expect("it is a pipe"));
        let messages = LastLines::of(child.stderr.take().expect("it is a pipe"));
        let mut printed = Printed::default();
        let end = self.listen(&output, patience, race, hearer, &mut printed);
        let ends_alone = matches!(end, End::Alone { .. } | End::Hung(_));
        let ended_alone = ends_alone.then(|| status_within(&mut child, patience)).flatten();
        let status = ended_alone.or_else(|| stop(&mut child));
        self.is_hopeless = matches!(end, End::OtherRanks { .. });
        let trouble = self.trouble_of(&end, &name(command), status);
        self.trouble = trouble.map(|trouble| trouble + &last_words(printed.noise, &messages));
    }

    /// Passes on the lines of a job as they come. Returns how it ended, or why it should.
    fn listen(
        &mut self,
        output: &Receiver<String>,
        patience: Duration,
        race: &Race,
        hearer: &mut impl Hearer,
        printed: &mut Printed,
    ) -> End {
        let all = race.results();
        let mut heard = Instant::now();
        loop {
            match output.recv_timeout(TICK) {
                Ok(text) => match OutputLine::from_json(&text) {
                    Some(line) => {
                        heard = Instant::now();
                        printed.note(&line);
                        let end = self.note(&line, race);
                        let is_enough = hearer.hear(line, printed.results as f64 / all as f64).is_break();
                        if let Some(end) = end.or(is_enough.then_some(End::Stopped)) {
                            return end;
                        }
                    }
                    None => add(&mut printed.noise, text),
                },
                Err(RecvTimeoutError::Disconnected) => {
                    return End::Alone { missing: all.saturating_sub(printed.results) };
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
            if interruption::is_here() {
                return End::Stopped;
            }
            if heard.elapsed() > patience {
                return End::Silent { seconds: patience.as_secs(), has_begun: printed.has_begun };
            }
        }
    }

    /// Notes what a line says. Returns how the job ends by that, if it does.
    fn note(&mut self, line: &OutputLine, race: &Race) -> Option<End> {
        match line {
            OutputLine::Fault(fault) => self.faults.push(fault.clone()),
            OutputLine::Job(job) if job.ranks != race.ranks => {
                return Some(End::OtherRanks { found: job.ranks, asked: race.ranks });
            }
            OutputLine::Job(job) => self.library = Some(job.library.clone()),
            OutputLine::Hung(Trial { collective, bytes, contestant }) => {
                let ranks = race.ranks;
                return Some(End::Hung(format!(
                    "{collective} on {ranks} ranks, {bytes} bytes: {contestant}"
                )));
            }
            OutputLine::Measurement(_) | OutputLine::Trying(_) | OutputLine::Reference(_) => {}
        }
        None
    }

    /// Returns what is wrong with the end of a job.
    fn trouble_of(&self, end: &End, name: &str, status: Option<ExitStatus>) -> Option<String> {
        let is_right = status.is_some_and(|status| status.success());
        match end {
            End::Stopped => None,
            // A job with faults ends as a failed one.
            End::Alone { missing: 0 } if is_right || !self.faults.is_empty() => None,
            End::Alone { missing } if is_right => {
                Some(format!("{name} ended well, but {} did not come", counted(*missing, "result")))
            }
            End::Alone { .. } => Some(format!("{name} {}", how(status))),
            End::OtherRanks { found, asked } => {
                Some(format!("the job has {}, not the {asked} asked for", counted(*found, "rank")))
            }
            End::Hung(call) => Some(format!("{call}: a call did not end in time")),
            End::Silent { seconds, has_begun } => {
                let what = if *has_begun { "the job hung" } else { "the job has not started" };
                Some(format!("{what}: nothing came for {seconds} seconds"))
            }
        }
    }
}

impl Printed {
    fn note(&mut self, line: &OutputLine) {
        self.has_begun = true;
        self.results += usize::from(matches!(line, OutputLine::Measurement(_) | OutputLine::Fault(_)));
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
fn stop(child: &mut Child) -> Option<ExitStatus> {
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

/// Returns the last lines that a job printed, on new lines.
fn last_words(mut noise: VecDeque<String>, messages: &LastLines) -> String {
    noise.extend(messages.take());
    let lines: Vec<&String> = noise.iter().filter(|line| !line.trim().is_empty()).collect();
    let last = &lines[lines.len().saturating_sub(MOST_SHOWN)..];
    last.iter().map(|line| format!("\n  {line}")).collect()
}
