//! `rustcoll advise`

mod gain;
mod late;
mod measured;
mod page;
mod text;
mod things;

use crate::command_line::AdviseOptions;
use crate::failure::{Failure, Outcome};
use crate::files;
use crate::profiles::{self, Named};
use crate::words::{counted, percent};
use gain::{Grown, Setting};
use late::Blame;
use rustcoll::algorithms::Parameter;
use rustcoll::report::profile::{Profile, Row};
use rustcoll::report::{CallKind, Form};
use rustcoll::selection::{Call, Parameters};
use std::io::Write;
use things::Thing;
use tuning::words;

/// The table and the advice have at most this many kinds of calls: those that take the most time.
const LISTED: usize = 8;

/// What is known of a job's collectives, and advice about them.
struct Advice<'a> {
    name: String,
    profile: &'a Profile,
    sums: Sums,
    /// In descending order of time.
    calls: Vec<Calls<'a>>,
    blame: Blame<'a>,
    things: Vec<Thing>,
    grown: Option<Grown>,
}

impl Advice<'_> {
    /// Returns two lines: the size of the job, and the part of its time that collectives take.
    fn heading(&self) -> [String; 2] {
        let Advice { name, profile, sums: Sums { job, collectives, .. }, .. } = self;
        let (ranks, nodes) = (counted(profile.ranks(), "rank"), counted(profile.nodes.len(), "node"));
        let part = share(*collectives, *job);
        [
            format!("{name}: {ranks} on {nodes}, {job:.3} s"),
            format!("blocking collectives take {part} of that, {collectives:.3} s of the mean rank:"),
        ]
    }
}

/// The calls of one row of a profile. Times are seconds of the mean rank.
pub struct Calls<'a> {
    kind: &'a CallKind,
    row: &'a Row,
    seconds: f64,
    /// Seconds of waiting for ranks that came late; `None` if unknown.
    waiting: Option<f64>,
}

impl Calls<'_> {
    /// Returns the seconds in which data moved. If the waiting is unknown, it counts as moving.
    fn moving(&self) -> f64 {
        self.seconds - self.waiting.unwrap_or(0.0)
    }

    /// Returns how many of the calls a rank made.
    fn calls_of_a_rank(&self) -> f64 {
        self.row.calls as f64 / self.row.ranks.max(1) as f64
    }

    /// Returns the name of the algorithm that served the calls.
    fn served(&self) -> &str {
        self.kind.served.split(", ").next().unwrap_or_default()
    }

    /// Returns the number after a word in the profile's text about the algorithm, as 8 in `radix 8`.
    fn told(&self, name: &str) -> Option<usize> {
        let mut words = self.kind.served.split(", ").skip(1);
        words.find_map(|word| word.strip_prefix(name)?.trim_start().parse().ok())
    }

    /// Returns the parameters of the algorithm that served the calls.
    fn parameters(&self) -> Parameters {
        let bytes = self.row.bytes_of_a_call();
        let of_segments =
            self.told("segments").filter(|&number| number > 1).map(|number| bytes.div_ceil(number));
        let mut parameters = Parameters::default();
        parameters.set(Parameter::Radix, self.told("radix"));
        parameters.set(Parameter::Window, self.told("window"));
        parameters.set(Parameter::Segment, of_segments.or(self.told("segment")));
        parameters
    }

    /// Returns a call with the properties of these calls' operator. An operator that is none of MPI's own may not commute.
    fn with_operator(&self, call: Call) -> Call {
        let is_known = self.kind.operator.is_empty() || self.kind.operator.starts_with("MPI_");
        Call { predefined: call.predefined.map(|_| is_known), commutative: is_known, ..call }
    }

    fn name(&self) -> String {
        let CallKind { collective, size, .. } = self.kind;
        format!("{} of {} on {size} ranks", collective.name(), words::bytes(self.row.bytes_of_a_call()))
    }

    /// Returns the texts below the [`HEADINGS`].
    fn cells(&self) -> [String; HEADINGS.len()] {
        let CallKind { collective, size, communicator, served, decided, .. } = self.kind;
        [
            collective.name().into(),
            size.to_string(),
            words::bytes(self.row.bytes_of_a_call()),
            format!("{:.0}", self.calls_of_a_rank()),
            format!("{:.3}", self.seconds),
            self.waiting.map_or("unknown".into(), |waiting| share(waiting, self.seconds)),
            served.clone(),
            decided.clone(),
            communicator.clone(),
        ]
    }
}

/// The columns of the table of calls.
const HEADINGS: [&str; 9] = [
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

/// Sums, in seconds of the mean rank.
struct Sums {
    /// From the start of the job to its end.
    job: f64,
    /// In blocking collectives.
    collectives: f64,
    /// The part of `collectives` in which ranks waited for ranks that came late.
    waiting: f64,
    /// The part of `collectives` for which it is unknown whether ranks waited or moved data.
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

    /// Returns the parts that make up the time of collectives.
    fn parts(&self) -> Vec<Part> {
        let &Sums { collectives, waiting, unknown, .. } = self;
        let mut parts = vec![
            Part { name: "waiting for ranks that came late", kind: "waiting", seconds: waiting },
            Part { name: "moving data", kind: "moving", seconds: collectives - waiting - unknown },
        ];
        if unknown > 0.01 * collectives {
            parts.push(Part { name: "not known which of the two", kind: "unknown", seconds: unknown });
        }
        parts
    }
}

/// A part of the time of collectives.
struct Part {
    name: &'static str,
    /// Class in the page's style sheet.
    kind: &'static str,
    /// Seconds of the mean rank.
    seconds: f64,
}

/// Returns a part of a whole in percent.
fn share(part: f64, whole: f64) -> String {
    percent(part / whole.max(f64::MIN_POSITIVE))
}

/// Returns the sum. `+ 0.0` avoids −0, the sum of no numbers, which would be printed with its sign.
fn total(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.sum::<f64>() + 0.0
}

/// Prints where the time of a job's collectives goes, and what to do about it.
pub fn run(options: &AdviseOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let Named { name, profile } = profiles::read(&options.profile)?;
    let setting = Setting::of(options, &profile)?;
    let calls = blocking_calls(&profile);
    let blame = Blame::of(&profile);
    let sums = Sums::of(&profile, &calls);
    let things = things::things(&calls, &blame, &setting, (&profiles::word(&options.profile), &sums))?;
    let grown = options.times_as_many.map(|times| setting.grown(&calls, times)).transpose()?;
    let advice = Advice { name, profile: &profile, sums, calls, blame, things, grown };
    text::write(&advice, output)?;
    if let Some(file) = &options.html {
        files::write(Some(file), page::page(&advice).as_bytes(), output)?;
    }
    Ok(Outcome::Right)
}

/// Returns the user's blocking calls, those that take the most time first.
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
