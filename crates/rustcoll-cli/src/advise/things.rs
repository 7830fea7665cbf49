//! Decides what to do about a job's collectives.

use super::gain::{Gain, Known, Setting};
use super::late::Blame;
use super::{Calls, LISTED, Sums, share};
use crate::failure::Failure;
use crate::words::percent;
use rustcoll::algorithms::{Parameter, legal_radix};
use rustcoll::report::{CallKind, NO_SHARED_MEMORY_YET};
use rustcoll::selection::keys;

/// Advice names at most this many things to do.
const MOST_THINGS: usize = 3;

/// Advice names a gain only above this part of the job's time.
const WORTH: f64 = 0.005;

/// Advice names waiting only above this part of the time of collectives.
const LATE: f64 = 0.2;

/// If collectives take less of the job than this, no change of them can matter.
const MATTERS: f64 = 0.02;

/// One thing to do.
pub struct Thing {
    /// Seconds of the mean rank that it saves.
    seconds: f64,
    pub text: String,
    /// A line that the user can copy.
    pub line: Option<String>,
}

impl Thing {
    /// Returns the advice to do nothing.
    fn nothing(why: &str) -> Vec<Thing> {
        vec![Thing { seconds: 0.0, text: format!("Nothing: {why}"), line: None }]
    }
}

/// Returns what to do for the profile `name`. The thing that saves most comes first.
pub fn things(
    calls: &[Calls],
    blame: &Blame,
    setting: &Setting,
    (profile, sums): (&str, &Sums),
) -> Result<Vec<Thing>, Failure> {
    let &Sums { job, collectives, waiting, .. } = sums;
    if collectives < MATTERS * job {
        let limit = percent(MATTERS);
        return Ok(Thing::nothing(&format!(
            "blocking collectives take less than {limit} of the time. Look elsewhere."
        )));
    }
    let mut things = Vec::new();
    if waiting > LATE * collectives && waiting > WORTH * job {
        things.push(Thing { seconds: waiting, text: blame.advice(share(waiting, job)), line: None });
    }
    let mut others = 0.0;
    for calls in calls.iter().take(LISTED) {
        let is_worth_it = calls.moving() > WORTH * job && !calls.kind.decided.ends_with(NO_SHARED_MEMORY_YET);
        let known = if is_worth_it { setting.known(calls)? } else { Known::Unknown };
        match known {
            Known::Gain(gain) if gain.is_one() && gain.seconds(calls) > WORTH * job => {
                things.push(gain.advice(calls, job));
            }
            Known::Gain(Gain { is_measured: true, .. }) | Known::Nothing => {}
            _ => others += calls.moving(),
        }
    }
    things.sort_by(|one, other| other.seconds.total_cmp(&one.seconds));
    if others > MATTERS * job {
        things.truncate(MOST_THINGS - 1);
        things.push(measure(profile, share(others, job)));
    }
    things.truncate(MOST_THINGS);
    Ok(match things.is_empty() {
        true => Thing::nothing("no call has a better algorithm that is known, and ranks do not come late."),
        false => things,
    })
}

/// Returns the advice to measure the rest of the calls, which take `part` of the time. `profile` is a word of a command.
fn measure(profile: &str, part: String) -> Thing {
    let text = format!(
        "Calls that move data for {part} of the time have no better algorithm by the prediction. Measure whether that is so on your machine:"
    );
    Thing { seconds: 0.0, text, line: Some(format!("rustcoll tune --profile {profile} --output tuned")) }
}

/// Whether a rule of a user's file decided, FILE:LINE. Otherwise a default rule or a trial decided.
fn is_of_a_file(decided: &str) -> bool {
    let place = decided.split(", ").next().unwrap_or_default();
    let line = place.rsplit_once(':').filter(|(file, _)| *file != "default").map(|(_, line)| line);
    line.is_some_and(|line| !line.is_empty() && line.bytes().all(|digit| digit.is_ascii_digit()))
}

impl Gain {
    /// Returns the seconds of the mean rank that the better algorithm saves.
    fn seconds(&self, calls: &Calls) -> f64 {
        calls.moving() * (1.0 - self.ratio)
    }

    fn advice(&self, calls: &Calls, job: f64) -> Thing {
        let CallKind { collective, served, decided, .. } = calls.kind;
        let collective = collective.name();
        let seconds = self.seconds(calls);
        let to_blame = if decided.starts_with("forced") {
            format!(" Do not force an algorithm: coll_rustcoll_{collective}_algorithm goes before all rules.")
        } else if is_of_a_file(decided) {
            format!(" The rule {decided} is to blame: without it, other rules or the default ones decide.")
        } else {
            String::new()
        };
        let text = format!(
            "{}: {} takes {:.2} of the time of {served} ({decided}) {}. That saves {seconds:.3} s, {} of the time.{to_blame}",
            calls.name(),
            self.best,
            self.ratio,
            self.known_by,
            share(seconds, job),
        );
        Thing { seconds, text, line: Some(self.line(calls.kind)) }
    }

    /// Returns the command line that starts the job with the better algorithm.
    fn line(&self, kind: &CallKind) -> String {
        let CallKind { collective, size, bytes_from, .. } = kind;
        let to = (2 * bytes_from).saturating_sub(1);
        // All ranks must know what a rule asks for.
        let bytes = match keys(*collective).any(|key| key == "bytes") {
            true => format!(" bytes={bytes_from}..{to}"),
            false => String::new(),
        };
        let given = self.best.parameters.given().map(|(parameter, value)| match parameter {
            Parameter::Radix => format!(" radix={}", legal_radix(value, *size)),
            _ => format!(" {}={value}", parameter.name()),
        });
        format!(
            "mpirun --mca coll_rustcoll_{}_rules \"ranks={size}{bytes} -> {}{}\" ...",
            collective.name(),
            self.best.algorithm.name,
            given.collect::<String>()
        )
    }
}
