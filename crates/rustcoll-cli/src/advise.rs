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
use rustcoll::report::{Form, Kind};
use rustcoll::selection::Parameters;
use std::io::Write;
use things::Thing;
use tuning::words;

/// So many kinds of calls are listed and have advice, those that take the most time.
const LISTED: usize = 8;

/// All that is known of a job's collectives, and what to do about them.
struct Advice<'a> {
    /// What the profile is called.
    name: String,
    profile: &'a Profile,
    sums: Sums,
    /// Those that take the most time first.
    calls: Vec<Calls<'a>>,
    blame: Blame<'a>,
    things: Vec<Thing>,
    grown: Option<Grown>,
}

impl Advice<'_> {
    /// How large the job is, and how much of it collectives are.
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

    /// The name of the algorithm that served them.
    fn served(&self) -> &str {
        self.kind.served.split(", ").next().unwrap_or_default()
    }

    /// The number behind a word that the profile has of the algorithm, as 8 in `radix 8`.
    fn told(&self, name: &str) -> Option<usize> {
        let mut words = self.kind.served.split(", ").skip(1);
        words.find_map(|word| word.strip_prefix(name)?.trim_start().parse().ok())
    }

    /// Its parameters.
    fn parameters(&self) -> Parameters {
        let bytes = self.row.bytes_of_a_call();
        let of_segments =
            self.told("segments").filter(|&number| number > 1).map(|number| bytes.div_ceil(number));
        let mut parameters = Parameters::default();
        parameters.set(Parameter::Radix, self.told("radix"));
        parameters.set(Parameter::Segment, of_segments.or(self.told("segment")));
        parameters
    }

    fn name(&self) -> String {
        let Kind { collective, size, .. } = self.kind;
        format!("{} of {} on {size} ranks", collective.name(), words::bytes(self.row.bytes_of_a_call()))
    }

    /// Below the [`HEADINGS`].
    fn cells(&self) -> [String; HEADINGS.len()] {
        let Kind { collective, size, communicator, served, decided, .. } = self.kind;
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

/// What is said of some calls, in columns.
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

    /// What the time of collectives is made of.
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
    /// In one word.
    kind: &'static str,
    /// Of the mean rank.
    seconds: f64,
}

/// A part of a whole in percent.
fn share(part: f64, whole: f64) -> String {
    percent(part / whole.max(f64::MIN_POSITIVE))
}

/// The sum of no numbers is −0, which would be printed so.
fn total(seconds: impl Iterator<Item = f64>) -> f64 {
    seconds.sum::<f64>() + 0.0
}

/// Says where the time of a job's collectives goes, and what to do about it.
pub fn run(options: &AdviseOptions, output: &mut impl Write) -> Result<Outcome, Failure> {
    let Named { name, profile } = profiles::read(&options.profile)?;
    let setting = Setting::of(options, &profile)?;
    let calls = blocking_calls(&profile);
    let blame = Blame::of(&profile);
    let sums = Sums::of(&profile, &calls);
    let things = things::things(&calls, &blame, &setting, (&name, &sums))?;
    let grown = options.times_as_many.map(|times| setting.grown(&calls, times)).transpose()?;
    let advice = Advice { name, profile: &profile, sums, calls, blame, things, grown };
    text::write(&advice, output)?;
    if let Some(file) = &options.html {
        files::write(Some(file), page::page(&advice).as_bytes(), output)?;
    }
    Ok(Outcome::Right)
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
