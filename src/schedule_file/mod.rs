//! Algorithms from files: a head, then the programs of all ranks in the text form of schedules.
//!
//! ```text
//! rustcoll schedule, version 1
//! collective bcast
//! name my_bcast
//! root any
//!
//! rank 0 of 2, 1 blocks
//! 0: send to 1 from recv[0]
//! wait 0
//!
//! rank 1 of 2, 1 blocks
//! 0: receive from 0 into recv[0]
//! wait 0
//! ```
//!
//! A file may have programs for several numbers of ranks. Its claims hold only once they are proved
//! ([`ScheduleFile::prove`]).

#![forbid(unsafe_code)]

mod certificate;
mod general;
mod head;
mod loading;
mod proof;
mod writing;

pub use head::FIRST_LINE;
pub use loading::{Loaded, MOST_RANKS_AT_START, certify, files, prove, prove_at_start};
pub use proof::{Disproof, FaultyLine, Proved};
pub use writing::{Title, file, file_of, lack};

use crate::algorithms::{Collective, Listed, Problem, Root};
use crate::schedule::{Extents, Lines, Listing, ParseError, Schedule, content};
use crate::selection::Ranges;
use crate::verify;
use general::General;
use head::Head;
use std::collections::BTreeMap;
use std::fmt;

/// The most steps of all programs of a file together, so that they can be unrolled. A step in a loop counts
/// each time. Messages may have as many ranges of blocks, and waits as many posts.
pub const MOST_STEPS: usize = 1 << 22;

/// The most blocks of all ranks together, in buffers, scratch memory and slots: a proof tracks the content of
/// each.
pub const MOST_BLOCKS: usize = 1 << 22;

/// An algorithm from a file.
#[derive(Debug)]
pub struct ScheduleFile {
    /// Its name; no registered algorithm of the collective has the same.
    pub name: String,
    /// Who described it, according to the file.
    pub source: Option<String>,
    /// Whether its reductions need an operator that commutes.
    pub needs_commutative: bool,
    pub listed: Listed,
    /// Where the programs of all ranks are, by number of ranks.
    lines: BTreeMap<usize, Vec<Lines>>,
}

/// Why and where a text is not a schedule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misread {
    /// Number of the line, from 1.
    pub line: usize,
    /// Number of the character within the line, from 1.
    pub column: usize,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl ScheduleFile {
    /// Whether a text is meant to be a schedule file, rather than programs alone.
    pub fn is_begun(text: &str) -> bool {
        let mut lines = text.lines().map(|line| content(line).trim_start());
        lines.find(|line| !line.is_empty()).is_some_and(|line| line.starts_with("rustcoll"))
    }

    /// Reads a file. Does not check whether its programs are right.
    pub fn read(text: &str) -> Result<ScheduleFile, Misread> {
        let (head, lines) = Head::read(text)?;
        // Empty lines in place of the head, so that the rest keeps the numbers of its lines.
        let rest: String = (0..lines).map(|_| "\n").chain(text.split_inclusive('\n').skip(lines)).collect();
        let Head { collective, name, source, root, needs_commutative } = head;
        let (mut programs, mut lines) = (BTreeMap::new(), BTreeMap::new());
        let (general, rest) = General::cut_out(&rest)?;
        // A text without any program gets the error that one is missing.
        let is_listed = general.is_empty() || rest.lines().any(|line| !content(line).is_empty());
        let listed = if is_listed { Listing::parse_all(&rest)? } else { Vec::new() };
        let all = listed.into_iter().map(Ok).chain(general.iter().flat_map(General::listings));
        for (size, listings) in by_size(all)? {
            listings.iter().try_for_each(|listing| check_lengths(listing, collective))?;
            if let Root::Only(root) = root
                && root >= size
            {
                let message = format!("there is no root {root} among {size} ranks");
                return Err(Misread::of(&listings[0], message));
            }
            let (schedules, places) =
                listings.into_iter().map(|Listing { schedule, lines }| (schedule, lines)).unzip();
            programs.insert(size, schedules);
            lines.insert(size, places);
        }
        let listed = Listed { collective, root, programs };
        Ok(ScheduleFile { name, source, needs_commutative, listed, lines })
    }

    /// Whether its reductions keep the order of operands.
    pub fn keeps_order(&self) -> bool {
        self.listed.collective.reduces() && !self.needs_commutative
    }

    /// Returns the names of the collective and of the algorithm.
    pub fn title(&self) -> String {
        format!("{} {}", self.listed.collective.name(), self.name)
    }

    /// Returns for which numbers of ranks it has programs, as rules write them.
    pub fn ranks(&self) -> String {
        Ranges::new(self.sizes().map(|size| size..=size)).to_string()
    }

    /// Returns the numbers of ranks for which it has programs.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.listed.programs.keys().copied()
    }
}

/// Fails if a rank would need the lengths of other ranks' blocks in a collective in which each knows only its
/// own.
fn check_lengths(listing: &Listing, collective: Collective) -> Result<(), Misread> {
    let problem = Problem::new(listing.schedule.size);
    verify::check_lengths(collective, &problem, &listing.schedule)
        .map_err(|violation| Misread::of(listing, violation.fault.to_string()))
}

/// What programs have together.
#[derive(Default)]
struct Totals {
    extents: Extents,
    blocks: usize,
}

impl Totals {
    /// Adds a program. Returns of which things there are now too many, and the most that there may be.
    fn add(&mut self, program: &Schedule) -> Option<(usize, &'static str)> {
        self.extents.add(program);
        self.blocks += 2 * program.blocks + program.scratch_blocks() + program.slots;
        let too_many_blocks = (self.blocks > MOST_BLOCKS).then_some((MOST_BLOCKS, "blocks"));
        self.extents.beyond(MOST_STEPS).map(|(_, things)| (MOST_STEPS, things)).or(too_many_blocks)
    }
}

/// Groups the listings by number of ranks. Each group must be complete.
fn by_size(
    listings: impl Iterator<Item = Result<Listing, Misread>>,
) -> Result<BTreeMap<usize, Vec<Listing>>, Misread> {
    let mut by_size: BTreeMap<usize, Vec<Listing>> = BTreeMap::new();
    let mut totals = Totals::default();
    for listing in listings {
        let listing = listing?;
        if let Some((most, things)) = totals.add(&listing.schedule) {
            let message = format!("with this program, all of them have more than {most} {things} together");
            return Err(Misread::of(&listing, message));
        }
        by_size.entry(listing.schedule.size).or_default().push(listing);
    }
    let complete = |(size, listings)| Ok((size, complete(size, listings)?));
    by_size.into_iter().map(complete).collect()
}

/// Returns one program for each of `size` ranks, rank 0's first. Fails if one is missing or there are others.
pub fn complete(size: usize, mut listings: Vec<Listing>) -> Result<Vec<Listing>, Misread> {
    listings.sort_by_key(|listing| listing.schedule.rank);
    for (rank, listing) in listings.iter().enumerate() {
        let found = listing.schedule.rank;
        let message = match found {
            _ if found >= size => format!("there is no rank {found} among {size} ranks"),
            _ if found == rank => continue,
            _ if found < rank => format!("this is a second program of rank {found} of {size}"),
            _ => format!("the program of rank {rank} of {size} is missing"),
        };
        return Err(Misread::of(listing, message));
    }
    match listings.last() {
        Some(last) if listings.len() < size => {
            let message = format!("the program of rank {} of {size} is missing", listings.len());
            Err(Misread::of(last, message))
        }
        _ => Ok(listings),
    }
}

impl Misread {
    /// Returns an error about a program as a whole.
    fn of(listing: &Listing, message: String) -> Misread {
        Misread { line: listing.lines.header, column: 1, message }
    }
}

impl From<ParseError> for Misread {
    fn from(error: ParseError) -> Misread {
        Misread { line: error.line, column: error.column, message: error.message() }
    }
}

impl fmt::Display for Misread {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "line {}, column {}: {}", self.line, self.column, self.message)
    }
}

impl std::error::Error for Misread {}

#[cfg(test)]
mod tests;
