//! Schedules that a user has written.

use crate::catalog::has_grids;
use crate::failure::{Failure, TextPlace};
use crate::problem::{self, ShownProblem, drawn, whole};
use crate::trace::{Subjects, Trace, Verdict};
use rustcoll::algorithms::description::below;
use rustcoll::algorithms::{Collective, Cut, Dimension, Graph, Problem, Root};
use rustcoll::schedule::{Extents, Listing, Schedule};
use rustcoll::schedule_file::{Misread, ScheduleFile, complete};
use rustcoll::verify::{Violation, check_lengths, check_programs, verify_schedules};
use serde::Deserialize;
use ts_rs::TS;

/// A user's schedules of all ranks, in any order, and the collective that they should perform.
#[derive(Clone, Debug, Deserialize, TS)]
#[serde(deny_unknown_fields)]
#[ts(optional_fields)]
pub struct OwnSchedule {
    pub collective: String,
    /// A program of each rank, or a schedule file.
    pub text: String,
    /// The default is 0. Collectives without a root refuse a root.
    pub root: Option<f64>,
    /// Whether the input is in the receive buffer.
    pub in_place: Option<bool>,
    /// Whether the schedules must combine operands in the order of their ranks.
    pub ordered: Option<bool>,
}

/// Drawing a longer text would take too long while the user waits.
pub const MOST_CHARACTERS: usize = 1 << 18;

/// The page draws no buffer with more blocks, and no rank with more slots.
const MOST_BLOCKS: usize = 1024;

/// The page draws no rank with more steps, nor with more of what these hold; each iteration of a loop counts.
const MOST_STEPS: usize = 1 << 14;

/// The page draws no run in which the steps of all ranks use blocks more often: it remembers each use.
const MOST_USES: usize = 1 << 18;

/// Returns the run of the schedules, and whether they are right.
pub fn trace(own: &OwnSchedule) -> Result<Trace, Failure> {
    let collective = problem::collective(&own.collective)?;
    let characters = own.text.len();
    if characters > MOST_CHARACTERS {
        let message = format!("the text has {characters} characters; at most {MOST_CHARACTERS} can be drawn");
        return Err(Failure::of("text", message));
    }
    let asked = match ScheduleFile::is_begun(&own.text) {
        true => own.of_file(collective)?,
        false => own.of_programs(collective)?,
    };
    let Asked { problem, ordered, schedules, .. } = &asked;
    let verified = verified(collective, problem, *ordered, schedules);
    let line = verified.as_ref().err().map(|violation| asked.line(violation));
    let verdict = Verdict { line, ..Verdict::of(verified) };
    let shown = ShownProblem {
        ranks: problem.size,
        root: collective.is_rooted().then_some(problem.root),
        in_place: collective.has_in_place().then_some(problem.in_place),
        ..ShownProblem::default()
    };
    let subjects = Subjects { collective, algorithm: None, problem, schedules };
    Ok(Trace::drawn(&subjects, shown, verdict))
}

/// Verifies schedules, whose ranks must know the lengths of all blocks that they move by their arguments.
fn verified(
    collective: Collective,
    problem: &Problem,
    ordered: bool,
    schedules: &[Schedule],
) -> Result<(), Violation> {
    verify_schedules(collective, problem, ordered, schedules)?;
    // On a ring of neighbours, calls with one count have blocks of equal length.
    if has_grids(collective) {
        return Ok(());
    }
    schedules.iter().try_for_each(|schedule| check_lengths(collective, problem, schedule))
}

/// Schedules to draw, and the problem that they should solve.
struct Asked {
    problem: Problem,
    ordered: bool,
    /// Without loops, in the order of ranks.
    schedules: Vec<Schedule>,
    source: Source,
}

/// A text that was read, which knows the lines of its programs.
enum Source {
    /// In the order of ranks.
    Programs(Vec<Listing>),
    File(ScheduleFile),
}

impl Asked {
    /// Returns the line at fault.
    fn line(&self, &Violation { rank, step, .. }: &Violation) -> usize {
        match &self.source {
            Source::Programs(listings) => listings[rank].lines.of(&listings[rank].schedule, step),
            Source::File(file) => file.line(&self.problem, &self.schedules[rank], rank, step).line,
        }
    }
}

/// Fails if a schedule is too large to draw.
fn check_room<'a>(schedules: impl Iterator<Item = &'a Schedule>) -> Result<(), Failure> {
    let wrong = |message: String| Err(Failure::of("text", message));
    let mut uses: usize = 0;
    for schedule in schedules {
        let Schedule { rank, blocks, slots, .. } = *schedule;
        let mut extents = Extents::default();
        extents.add(schedule);
        if let Some((count, things)) = extents.beyond(MOST_STEPS) {
            return wrong(format!("rank {rank} has {count} {things}; at most {MOST_STEPS} can be drawn"));
        }
        let scratch = schedule.scratch_blocks();
        for (what, count) in [("blocks", blocks), ("slots", slots), ("scratch blocks", scratch)] {
            if count > MOST_BLOCKS {
                return wrong(format!("rank {rank} has {count} {what}; at most {MOST_BLOCKS} can be drawn"));
            }
        }
        uses = uses.saturating_add(schedule.uses());
    }
    match uses > MOST_USES {
        true => wrong(format!("the ranks use blocks {uses} times; at most {MOST_USES} uses can be drawn")),
        false => Ok(()),
    }
}

impl OwnSchedule {
    /// Reads a text that has only programs, one for each rank.
    fn of_programs(&self, collective: Collective) -> Result<Asked, Failure> {
        let listings = Listing::parse_all(&self.text).map_err(misread)?;
        let size = listings[0].schedule.size;
        drawn("ranks", size, 1..=*problem::DRAWN_RANKS.end())?;
        check_room(listings.iter().map(|listing| &listing.schedule))?;
        if let Some(Schedule { rank, size: other, .. }) =
            listings.iter().map(|listing| &listing.schedule).find(|schedule| schedule.size != size)
        {
            let message = format!("rank {rank} is said to be one of {other}; others are of {size}");
            return Err(Failure::of("text", message));
        }
        let listings = complete(size, listings).map_err(misread)?;
        let schedules = listings.iter().map(|listing| listing.schedule.clone().unrolled()).collect();
        let problem = self.problem(collective, size)?;
        let ordered = self.ordered.unwrap_or(false);
        Ok(Asked { problem, ordered, schedules, source: Source::Programs(listings) })
    }

    /// Reads a schedule file.
    fn of_file(&self, collective: Collective) -> Result<Asked, Failure> {
        let file = ScheduleFile::read(&self.text).map_err(misread)?;
        let listed = &file.listed;
        let wrong = |message: String| Err(Failure::of("text", message));
        if listed.collective != collective {
            let (file, page) = (listed.collective.name(), collective.name());
            return wrong(format!("this file is of {file}, and this page of {page}"));
        }
        let sizes: Vec<usize> = file.sizes().collect();
        let [size] = sizes[..] else {
            return wrong(format!(
                "this file has programs for {} ranks; leave those for one number, which are drawn",
                file.ranks()
            ));
        };
        drawn("ranks", size, 1..=*problem::DRAWN_RANKS.end())?;
        let problem = self.problem(collective, size)?;
        if let Root::Only(root) = listed.root
            && root != problem.root
        {
            return Err(Failure::of("root", format!("the programs of this file are for root {root}")));
        }
        let programs = &listed.programs[&size];
        check_room(programs.iter())?;
        if listed.renumbers_blocks(&problem) {
            // Only blocks that exist can be renumbered.
            let for_root_0 = Problem { root: 0, in_place: false, ..problem.clone() };
            check_programs(collective, &for_root_0, programs).map_err(|violation| {
                let Violation { rank, step, .. } = violation;
                let line = file.line(&for_root_0, &programs[rank], rank, step).line;
                misread(Misread { line, column: 1, message: format!("for root 0: {violation}") })
            })?;
        }
        let schedules = (0..size).map(|rank| listed.schedule(&problem, rank).unrolled()).collect();
        let ordered = self.ordered.unwrap_or(false) || file.keeps_order();
        Ok(Asked { problem, ordered, schedules, source: Source::File(file) })
    }

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
