//! `rustcoll advise`

mod gain;
mod late;

use crate::command_line::AdviseOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::table;
use crate::words::counted;
use gain::{Gain, Setting};
use late::Blame;
use rustcoll::report::profile::{Profile, Row};
use rustcoll::report::{Form, Kind};
use std::io::{self, Write};
use std::path::Path;
use tuning::words;

/// So many kinds of calls are listed, those that take the most time.
const LISTED: usize = 8;

/// So many things to do are named.
const MOST_THINGS: usize = 3;

/// A gain of this part of the job is worth a word.
const WORTH: f64 = 0.005;

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

    /// Bytes of one call, by the collective's measure.
    fn bytes(&self) -> usize {
        (self.row.bytes / self.row.calls.max(1)) as usize
    }

    fn name(&self) -> String {
        let Kind { collective, size, .. } = self.kind;
        format!("{} of {} on {size} ranks", collective.name(), words::bytes(self.bytes()))
    }
}

/// A thing to do, and how many seconds of the mean rank it saves.
struct Thing {
    seconds: f64,
    text: String,
}

/// Says where the time of a job's collectives goes, and what to do about it.
pub fn run(options: &AdviseOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let name = files::name(&options.profile);
    let profile = profile(&options.profile)?;
    let setting = Setting::of(options, &profile)?;
    let calls = blocking_calls(&profile);
    let blame = Blame::of(&profile);
    let seconds = profile.seconds.sum / profile.ranks() as f64;
    summary(&name, &profile, &calls, seconds, output)?;
    let things = things(&calls, &blame, &setting, (options, seconds))?;
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
            let seconds = row.seconds.map_or(0.0, |seconds| seconds.sum) / ranks;
            Calls { kind, row, seconds, waiting: row.waiting().map(|waiting| waiting / ranks) }
        })
        .collect();
    calls.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    calls
}

fn percent(part: f64, of: f64) -> String {
    format!("{:.1} %", 100.0 * part / of.max(f64::MIN_POSITIVE))
}

fn summary(
    name: &str,
    profile: &Profile,
    calls: &[Calls],
    seconds: f64,
    output: &mut impl Write,
) -> io::Result<()> {
    let (ranks, nodes) = (counted(profile.ranks(), "rank"), counted(profile.nodes.len(), "node"));
    let collectives: f64 = calls.iter().map(|calls| calls.seconds).sum();
    let waiting: f64 = calls.iter().filter_map(|calls| calls.waiting).sum();
    let unknown: f64 = calls.iter().filter(|calls| calls.waiting.is_none()).map(|calls| calls.seconds).sum();
    writeln!(output, "{name}: {ranks} on {nodes}, {seconds:.3} s")?;
    writeln!(
        output,
        "blocking collectives take {} of that, {collectives:.3} s of the mean rank:",
        percent(collectives, seconds)
    )?;
    writeln!(
        output,
        "  waiting for ranks that came late  {waiting:>10.3} s  {:>7}",
        percent(waiting, collectives)
    )?;
    let moving = collectives - waiting - unknown;
    writeln!(
        output,
        "  moving data                       {moving:>10.3} s  {:>7}",
        percent(moving, collectives)
    )?;
    if unknown > 0.01 * collectives {
        writeln!(
            output,
            "  not known which of the two        {unknown:>10.3} s  {:>7}",
            percent(unknown, collectives)
        )?;
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
                words::bytes(calls.bytes()),
                format!("{count:.0}"),
                format!("{:.3}", calls.seconds),
                calls.waiting.map_or("unknown".into(), |waiting| percent(waiting, calls.seconds)),
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
    (options, seconds): (&AdviseOptions, f64),
) -> Result<Vec<Thing>, Failure> {
    let mut things = Vec::new();
    let collectives: f64 = calls.iter().map(|calls| calls.seconds).sum();
    if collectives < MATTERS * seconds {
        let text = format!(
            "Nothing: blocking collectives take less than {} of the time. Look elsewhere.",
            percent(MATTERS, 1.0)
        );
        return Ok(vec![Thing { seconds: 0.0, text }]);
    }
    let waiting: f64 = calls.iter().filter_map(|calls| calls.waiting).sum();
    if waiting > 0.2 * collectives && waiting > WORTH * seconds {
        let text = blame.advice(percent(waiting, seconds));
        things.push(Thing { seconds: waiting, text });
    }
    let mut is_tuning_worth_it = 0.0;
    for calls in calls.iter().take(LISTED) {
        match setting.gain(calls)? {
            Some(gain) if gain.seconds(calls) > WORTH * seconds => {
                things
                    .push(Thing { seconds: gain.seconds(calls), text: gain.advice(calls, setting, seconds) });
            }
            _ => is_tuning_worth_it += calls.moving(),
        }
    }
    things.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    if is_tuning_worth_it > MATTERS * seconds {
        things.truncate(MOST_THINGS - 1);
        let text = format!(
            "Calls that move data for {} of the time have no better algorithm by the prediction. Measure whether that is so on your machine:\n\
             \x20      rustcoll tune --profile {} --output tuned",
            percent(is_tuning_worth_it, seconds),
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

impl Gain {
    /// Seconds of the mean rank that it saves.
    fn seconds(&self, calls: &Calls) -> f64 {
        calls.moving() * (1.0 - self.ratio)
    }

    fn advice(&self, calls: &Calls, setting: &Setting, seconds: f64) -> String {
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
        let forced = match decided.starts_with("forced") {
            true => format!(
                " Do not force an algorithm: coll_rustcoll_{collective}_algorithm goes before all rules."
            ),
            false => String::new(),
        };
        format!(
            "{}: {} takes {:.2} of the time of {served} ({decided}) by the prediction for {}. That saves {saved:.3} s, {} of the time.{forced}\n\
             \x20      mpirun --mca {rule} ...",
            calls.name(),
            self.best,
            self.ratio,
            setting.machine,
            percent(saved, seconds),
        )
    }
}
