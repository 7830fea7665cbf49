//! `rustcoll advise`

mod gain;
mod late;

use crate::command_line::AdviseOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::table;
use crate::words::{counted, percent};
use gain::{Gain, Setting};
use late::Blame;
use rustcoll::report::profile::{Profile, Row};
use rustcoll::report::{Form, Kind, NO_SHARED_MEMORY_YET};
use std::io::{self, Write};
use std::path::Path;
use tuning::words;

/// So many kinds of calls are listed, those that take the most time.
const LISTED: usize = 8;

/// So many things to do are named.
const MOST_THINGS: usize = 3;

/// A gain of this part of the job is worth a word.
const WORTH: f64 = 0.005;

/// Waiting of this part of the time of collectives is worth a word.
const LATE: f64 = 0.2;

/// If collectives take less of the job than this, no change of them can matter.
const MATTERS: f64 = 0.02;

/// The calls of a row, in seconds of the mean rank.
pub struct Calls<'a> {
    kind: &'a Kind,
    row: &'a Row,
    seconds: f64,
    /// Those in which it waited for ranks that came late; `None` if that is not known.
    waiting: Option<f64>,
}

impl Calls<'_> {
    /// Seconds in which data moved, as far as it is known.
    fn moving(&self) -> f64 {
        self.seconds - self.waiting.unwrap_or(0.0)
    }

    /// How many of the calls a rank made.
    fn calls_of_a_rank(&self) -> f64 {
        self.row.calls as f64 / self.row.ranks.max(1) as f64
    }

    fn name(&self) -> String {
        let Kind { collective, size, .. } = self.kind;
        format!("{} of {} on {size} ranks", collective.name(), words::bytes(self.row.bytes_of_a_call()))
    }
}

/// A thing to do, and how many seconds of the mean rank it saves.
struct Thing {
    seconds: f64,
    text: String,
}

/// Seconds of the mean rank.
struct Sums {
    /// From the start of the job to its end.
    job: f64,
    /// In blocking collectives.
    collectives: f64,
    /// Of these, waiting for ranks that came late.
    waiting: f64,
    /// Of these, waiting or moving data: it is not known.
    unknown: f64,
}

impl Sums {
    fn of(profile: &Profile, calls: &[Calls]) -> Sums {
        let unknown = calls.iter().filter(|calls| calls.waiting.is_none());
        Sums {
            job: profile.mean_seconds(),
            collectives: total(calls.iter().map(|calls| calls.seconds)),
            waiting: total(calls.iter().filter_map(|calls| calls.waiting)),
            unknown: total(unknown.map(|calls| calls.seconds)),
        }
    }
}

/// The sum of no numbers is −0, which would be printed so.
fn total(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.sum::<f64>() + 0.0
}

/// Says where the time of a job's collectives goes, and what to do about it.
pub fn run(options: &AdviseOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let name = files::name(&options.profile);
    let profile = profile(&options.profile)?;
    let setting = Setting::of(options, &profile)?;
    let calls = blocking_calls(&profile);
    let blame = Blame::of(&profile);
    let sums = Sums::of(&profile, &calls);
    summary(&name, &profile, &sums, output)?;
    let things = things(&calls, &blame, &setting, (options, &sums))?;
    list(&calls, output)?;
    advice(things, output)?;
    if let Some(times) = options.times_as_many {
        setting.grown(&calls, times, output)?;
    }
    Ok(Outcome::Right)
}

/// Reads the profile of a job; `-` is the standard input.
pub fn profile(file: &Path) -> Result<Profile, Failure> {
    let fault = |fault| Failure::Input(format!("{}: {fault}", files::name(file)));
    let profile = Profile::of_json(&files::long_text(file)?).map_err(fault)?;
    match profile.ranks() {
        0 => Err(fault("there are no ranks in this profile".into())),
        _ => Ok(profile),
    }
}

/// The user's calls that block, those that take the most time first.
fn blocking_calls(profile: &Profile) -> Vec<Calls<'_>> {
    let ranks = profile.ranks() as f64;
    let mut calls: Vec<Calls> = profile
        .rows
        .iter()
        .filter(|(kind, _)| kind.form == Form::Blocking)
        .map(|(kind, row)| {
            let waiting = row.waiting().map(|waiting| waiting / ranks);
            Calls { kind, row, seconds: row.all_seconds() / ranks, waiting }
        })
        .collect();
    calls.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    calls
}

/// A part of a whole in percent.
fn share(part: f64, whole: f64) -> String {
    percent(part / whole.max(f64::MIN_POSITIVE))
}

fn summary(name: &str, profile: &Profile, sums: &Sums, output: &mut impl Write) -> io::Result<()> {
    let &Sums { job, collectives, waiting, unknown } = sums;
    let (ranks, nodes) = (counted(profile.ranks(), "rank"), counted(profile.nodes.len(), "node"));
    writeln!(output, "{name}: {ranks} on {nodes}, {job:.3} s")?;
    let part = share(collectives, job);
    writeln!(output, "blocking collectives take {part} of that, {collectives:.3} s of the mean rank:")?;
    let mut parts =
        vec![("waiting for ranks that came late", waiting), ("moving data", collectives - waiting - unknown)];
    if unknown > 0.01 * collectives {
        parts.push(("not known which of the two", unknown));
    }
    for (part, seconds) in parts {
        writeln!(output, "  {part:<32}  {seconds:>10.3} s  {:>7}", share(seconds, collectives))?;
    }
    Ok(())
}

fn list(calls: &[Calls], output: &mut impl Write) -> io::Result<()> {
    let rows: Vec<[String; 9]> = calls
        .iter()
        .take(LISTED)
        .map(|calls| {
            let Kind { collective, size, communicator, served, decided, .. } = calls.kind;
            let count = calls.calls_of_a_rank();
            [
                collective.name().into(),
                size.to_string(),
                words::bytes(calls.row.bytes_of_a_call()),
                format!("{count:.0}"),
                format!("{:.3}", calls.seconds),
                calls.waiting.map_or("unknown".into(), |waiting| share(waiting, calls.seconds)),
                served.clone(),
                decided.clone(),
                communicator.clone(),
            ]
        })
        .collect();
    writeln!(output, "\nThe calls that take the most time, for the mean rank:")?;
    let head = [
        "collective",
        "ranks",
        "bytes",
        "calls",
        "seconds",
        "waiting",
        "algorithm",
        "decided by",
        "communicator",
    ];
    table::write(head, &rows, output)
}

/// What to do, what saves most first.
fn things(
    calls: &[Calls],
    blame: &Blame,
    setting: &Setting,
    (options, sums): (&AdviseOptions, &Sums),
) -> Result<Vec<Thing>, Failure> {
    let &Sums { job, collectives, waiting, .. } = sums;
    if collectives < MATTERS * job {
        let text = format!(
            "Nothing: blocking collectives take less than {} of the time. Look elsewhere.",
            percent(MATTERS)
        );
        return Ok(vec![Thing { seconds: 0.0, text }]);
    }
    let mut things = Vec::new();
    if waiting > LATE * collectives && waiting > WORTH * job {
        things.push(Thing { seconds: waiting, text: blame.advice(share(waiting, job)) });
    }
    let mut others = 0.0;
    for calls in calls.iter().take(LISTED) {
        let is_worth_it = calls.moving() > WORTH * job && !calls.kind.decided.ends_with(NO_SHARED_MEMORY_YET);
        let gain = if is_worth_it { setting.gain(calls)? } else { None };
        match gain.filter(|gain| gain.seconds(calls) > WORTH * job) {
            Some(gain) => {
                things.push(Thing { seconds: gain.seconds(calls), text: gain.advice(calls, setting, job) })
            }
            None => others += calls.moving(),
        }
    }
    things.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    if others > MATTERS * job {
        things.truncate(MOST_THINGS - 1);
        let text = format!(
            "Calls that move data for {} of the time have no better algorithm by the prediction. Measure whether that is so on your machine:\n\
             \x20      rustcoll tune --profile {} --output tuned",
            share(others, job),
            files::name(&options.profile),
        );
        things.push(Thing { seconds: 0.0, text });
    }
    Ok(things)
}

fn advice(mut things: Vec<Thing>, output: &mut impl Write) -> io::Result<()> {
    writeln!(output, "\nWhat to do:")?;
    if things.is_empty() {
        let text =
            "Nothing: no call has a better algorithm by the prediction, and ranks do not come late.".into();
        things.push(Thing { seconds: 0.0, text });
    }
    for (thing, number) in things.iter().take(MOST_THINGS).zip(1..) {
        writeln!(output, "  {number}. {}", thing.text)?;
    }
    Ok(())
}

/// Whether a rule that somebody wrote made the decision, FILE:LINE, not a default rule or what was tried.
fn is_of_a_file(decided: &str) -> bool {
    let place = decided.split(", ").next().unwrap_or_default();
    let line = place.rsplit_once(':').filter(|(file, _)| *file != "default").map(|(_, line)| line);
    line.is_some_and(|line| !line.is_empty() && line.bytes().all(|digit| digit.is_ascii_digit()))
}

impl Gain {
    /// Seconds of the mean rank that it saves.
    fn seconds(&self, calls: &Calls) -> f64 {
        calls.moving() * (1.0 - self.ratio)
    }

    fn advice(&self, calls: &Calls, setting: &Setting, job: f64) -> String {
        let Kind { collective, size, served, decided, bytes_from, .. } = calls.kind;
        let collective = collective.name();
        let saved = self.seconds(calls);
        let to = (2 * bytes_from).saturating_sub(1);
        let given: String = self
            .best
            .parameters
            .given()
            .map(|(parameter, value)| format!(" {}={value}", parameter.name()))
            .collect();
        let rule = format!(
            "coll_rustcoll_{collective}_rules \"ranks={size} bytes={bytes_from}..{to} -> {}{given}\"",
            self.best.algorithm.name
        );
        let to_blame = if decided.starts_with("forced") {
            format!(" Do not force an algorithm: coll_rustcoll_{collective}_algorithm goes before all rules.")
        } else if is_of_a_file(decided) {
            format!(" The rule {decided} is to blame: without it, other rules or the default ones decide.")
        } else {
            String::new()
        };
        format!(
            "{}: {} takes {:.2} of the time of {served} ({decided}) by the prediction for {}. That saves {saved:.3} s, {} of the time.{to_blame}\n\
             \x20      mpirun --mca {rule} ...",
            calls.name(),
            self.best,
            self.ratio,
            setting.machine,
            share(saved, job),
        )
    }
}
