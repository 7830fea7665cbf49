//! Whether the programs of a file do what its head says.

use super::{Root, ScheduleFile};
use crate::algorithms::{Collective, Cut, Problem};
use crate::schedule::{Listing, Schedule};
use crate::verify::{self, Violation};
use std::fmt;

/// What is wrong with the programs of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disproof {
    /// The number of ranks.
    pub size: usize,
    /// The root, where the collective has one.
    pub root: Option<usize>,
    /// What is wrong.
    pub violation: Violation,
    /// The steps that are at fault, or the header of the program that is. The first one is that of the violation.
    pub places: Vec<Place>,
}

/// A line of a file, and what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The line's number, from 1.
    pub line: usize,
    /// Which rank's program it is in.
    pub rank: usize,
    /// What stands there: a step, with its number in the program without loops.
    pub step: Option<(usize, String)>,
}

impl ScheduleFile {
    /// Proves the programs for all their numbers of ranks and roots. Returns how many problems these are.
    pub fn prove(&self) -> Result<usize, Box<Disproof>> {
        let mut problems = 0;
        for (&size, listings) in &self.programs {
            let roots = match self.root {
                Root::Any => 0..size,
                Root::Only(root) => root..root + 1,
            };
            problems += roots.len();
            for root in roots {
                self.prove_one(size, root, listings)?;
            }
        }
        Ok(problems)
    }

    fn prove_one(&self, size: usize, root: usize, listings: &[Listing]) -> Result<(), Box<Disproof>> {
        let collective = self.collective;
        let problem = Problem { root, ..Problem::new(size) };
        let is_ordered = collective.reduces() && !self.needs_commutative;
        let by = if self.root == Root::Any { root } else { 0 };
        let programs: Vec<Schedule> = (0..size)
            .map(|rank| renumbered(&listings[(rank + size - by) % size].schedule, by, collective))
            .collect();
        let proved = verify::verify_schedules(collective, &problem, is_ordered, &programs);
        proved.map_err(|violation| {
            let steps = [(violation.rank, violation.step)].into_iter();
            let steps =
                steps.chain(violation.fault.others().into_iter().map(|(rank, step)| (rank, Some(step))));
            let place =
                |(rank, step)| place(&listings[(rank + size - by) % size], &programs[rank], rank, step, by);
            let places = steps.map(place).collect();
            let root = collective.is_rooted().then_some(root);
            Box::new(Disproof { size, root, violation, places })
        })
    }
}

/// The program for another root, where it was written for rank 0.
fn renumbered(program: &Schedule, by: usize, collective: Collective) -> Schedule {
    match (by, collective.cut()) {
        (0, _) => program.clone(),
        (_, Cut::Vector) => program.clone().relabel(by),
        _ => program.clone().relabel(by).relabel_blocks(by),
    }
}

/// Where a step stands. Steps of programs for another root may be cut into several: then it is the program's header.
fn place(listing: &Listing, program: &Schedule, rank: usize, step: Option<usize>, by: usize) -> Place {
    let step = step.filter(|_| by == 0 || program.length() == listing.schedule.length());
    let Some(step) = step else { return Place { line: listing.header, rank, step: None } };
    let line = listing.lines[listing.schedule.origin(step)];
    let text = program.clone().unrolled().steps[step].to_string();
    Place { line, rank, step: Some((step, text)) }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let Place { line, rank, step } = self;
        match step {
            Some((step, text)) => write!(formatter, "line {line} (rank {rank}, step {step}): {text}"),
            None => write!(formatter, "line {line}: the program of rank {rank}"),
        }
    }
}
