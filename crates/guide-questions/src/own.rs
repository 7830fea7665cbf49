//! Schedules that a user has written.

use crate::failure::{Failure, TextPlace};
use crate::problem::{self, ShownProblem, drawn, whole};
use crate::trace::{Subjects, Trace, Verdict};
use rustcoll::algorithms::description::below;
use rustcoll::algorithms::{Collective, Cut, Dimension, Graph, Problem};
use rustcoll::schedule::{Listing, Schedule};
use rustcoll::schedule_file::{Misread, complete};
use rustcoll::verify::verify_schedules;
use serde::Deserialize;
use ts_rs::TS;

/// The schedules of all ranks in the text form, in any order, and what they are to perform.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct OwnSchedule {
    /// The collective's name.
    pub collective: String,
    /// The schedules of all ranks.
    pub text: String,
    /// The root, where there is one; 0 unless given.
    pub root: Option<f64>,
    /// Whether the input stands in the receive buffer.
    pub in_place: Option<bool>,
    /// Whether operands must be combined in the order of their ranks.
    pub ordered: Option<bool>,
}

/// Longer texts would not be drawn while somebody waits.
const MOST_CHARACTERS: usize = 1 << 18;

/// No buffer that is drawn has more blocks, and no rank more slots.
const MOST_BLOCKS: usize = 1024;

/// No rank does more steps, each time of a loop counted.
const MOST_STEPS: usize = 1 << 14;

/// Follows the schedules, and says whether they are right.
pub fn trace(own: &OwnSchedule) -> Result<Trace, Failure> {
    let collective = problem::collective(&own.collective)?;
    let characters = own.text.len();
    if characters > MOST_CHARACTERS {
        let message = format!("the text has {characters} characters; at most {MOST_CHARACTERS} can be drawn");
        return Err(Failure::of("text", message));
    }
    let schedules = in_order(Listing::parse_all(&own.text).map_err(misread)?)?;
    let problem = own.problem(collective, schedules.len())?;
    let ordered = own.ordered.unwrap_or(false);
    let verdict = Verdict::of(verify_schedules(collective, &problem, ordered, &schedules));
    let shown = ShownProblem {
        ranks: problem.size,
        root: collective.is_rooted().then_some(problem.root),
        in_place: collective.has_in_place().then_some(problem.in_place),
        ..ShownProblem::default()
    };
    let subjects = Subjects { collective, algorithm: None, problem: &problem, schedules: &schedules };
    Ok(Trace::drawn(&subjects, shown, verdict))
}

/// One schedule for each rank, rank 0's first, none of which is too large.
fn in_order(listings: Vec<Listing>) -> Result<Vec<Schedule>, Failure> {
    let size = listings[0].schedule.size;
    drawn("ranks", size, 1..=*problem::DRAWN_RANKS.end())?;
    let wrong = |message: String| Err(Failure::of("text", message));
    for Listing { schedule, .. } in &listings {
        let Schedule { rank, size: other, blocks, slots, .. } = *schedule;
        if other != size {
            return wrong(format!("rank {rank} is said to be one of {other}; others are of {size}"));
        }
        let (scratch, steps) = (schedule.scratch_blocks(), schedule.length());
        if steps > MOST_STEPS {
            return wrong(format!("rank {rank} does {steps} steps; at most {MOST_STEPS} can be drawn"));
        }
        for (what, count) in [("blocks", blocks), ("slots", slots), ("scratch blocks", scratch)] {
            if count > MOST_BLOCKS {
                return wrong(format!("rank {rank} has {count} {what}; at most {MOST_BLOCKS} can be drawn"));
            }
        }
    }
    let listings = complete(size, listings).map_err(misread)?;
    Ok(listings.into_iter().map(|listing| listing.schedule.unrolled()).collect())
}

impl OwnSchedule {
    fn problem(&self, collective: Collective, size: usize) -> Result<Problem, Failure> {
        for (field, is_given, has_effect) in [
            ("root", self.root.is_some(), collective.is_rooted()),
            ("in_place", self.in_place == Some(true), collective.has_in_place()),
            ("ordered", self.ordered == Some(true), collective.reduces()),
        ] {
            if is_given && !has_effect {
                return Err(Failure::of(field, format!("{field} has no effect on {}", collective.name())));
            }
        }
        let root = below(whole("root", self.root)?.unwrap_or(0), size, "root")?;
        let graph = match collective.cut() {
            Cut::Edges => Graph::grid(&[Dimension { length: size, periodic: true }]),
            _ => Graph::default(),
        };
        Ok(Problem { root, in_place: self.in_place.unwrap_or(false), graph, ..Problem::new(size) })
    }
}

fn misread(misread: impl Into<Misread>) -> Failure {
    let misread = misread.into();
    let failure = Failure::of("text", misread.to_string());
    let Misread { line, column, message } = misread;
    Failure { places: vec![TextPlace { line, column, message }], ..failure }
}
