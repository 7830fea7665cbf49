//! Finds the fastest algorithm for numbers of ranks and bytes by simulation, and derives rules from that.

#![forbid(unsafe_code)]

mod candidate;
mod column;
mod cover;
mod derive;
mod grid;
mod prices;
#[cfg(test)]
mod tests;

pub use candidate::{Candidate, Sweep};
pub use derive::{Derived, derive, to_native};
pub use grid::{numbers_of_bytes, numbers_of_ranks, sampled_numbers_of_ranks};
pub use prices::{Price, priceable, prices};

use crate::algorithms::{Algorithm, Collective};
use crate::cost::Machine;
use crate::cost::simulation::SimulationError;
use crate::parallel;
use column::{ColumnTimes, Pricing};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The times of all candidates on a grid of numbers of ranks and of bytes.
#[derive(Clone, Debug)]
pub struct Atlas {
    pub collective: Collective,
    /// Numbers of ranks, ascending.
    pub ranks: Vec<usize>,
    /// Bytes by the collective's [`Measure`](crate::selection::Measure), ascending.
    pub bytes: Vec<usize>,
    pub candidates: Vec<Candidate>,
    /// The least number of ranks on which an algorithm was too large to simulate, by its name.
    pub too_large: BTreeMap<&'static str, usize>,
    /// Seconds by ranks, bytes and candidates; infinite where a candidate has no time.
    times: Vec<f64>,
}

/// A point of an atlas: which of its numbers of ranks, and which of its numbers of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// Position in [`Atlas::ranks`].
    pub ranks: usize,
    /// Position in [`Atlas::bytes`].
    pub bytes: usize,
}

/// Why an atlas cannot be computed.
#[derive(Clone, Debug)]
pub struct AtlasError {
    collective: Collective,
    algorithm: &'static Algorithm,
    ranks: usize,
    bytes: usize,
    error: SimulationError,
}

impl fmt::Display for AtlasError {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let AtlasError { collective, algorithm, ranks, bytes, error } = self;
        let (collective, name) = (collective.name(), algorithm.name);
        write!(formatter, "{collective} {name} on {ranks} ranks, {bytes} bytes: {error}")
    }
}

impl std::error::Error for AtlasError {}

impl Atlas {
    /// Prices all candidates, which must be of one collective, at all points. Uses all processors and begins
    /// with the most ranks. Calls `observe` with the fraction of the work that is done.
    ///
    /// A candidate has no time where it cannot serve, where it is too large to simulate, and where it takes
    /// more than `slowest` times as long as the fastest. The last case does not need a full simulation.
    ///
    /// Panics if a grid is empty or there is no candidate.
    pub fn new(
        candidates: Vec<Candidate>,
        machine: &Machine,
        ranks: Vec<usize>,
        bytes: Vec<usize>,
        slowest: f64,
        observe: impl Fn(f64) + Sync,
    ) -> Result<Atlas, AtlasError> {
        Atlas::with(candidates, machine, ranks, bytes, slowest, &|_, _, _| false, observe)
    }

    /// As [`Atlas::new`], but prices candidates for which `is_needed` holds on some ranks and bytes however
    /// long they take. They have no time only where they cannot serve or are too large.
    pub fn with(
        candidates: Vec<Candidate>,
        machine: &Machine,
        ranks: Vec<usize>,
        bytes: Vec<usize>,
        slowest: f64,
        is_needed: &(dyn Fn(&Candidate, usize, usize) -> bool + Sync),
        observe: impl Fn(f64) + Sync,
    ) -> Result<Atlas, AtlasError> {
        let collective = candidates[0].collective;
        let mut atlas =
            Atlas { collective, ranks, bytes, candidates, too_large: BTreeMap::new(), times: Vec::new() };
        let cells = atlas.ranks.len() * atlas.bytes.len() * atlas.candidates.len();
        let found = Mutex::new((vec![f64::INFINITY; cells], BTreeMap::new()));
        let columns = atlas.columns();
        let work: usize = columns.iter().map(|column| column.size).sum();
        let done = AtomicUsize::new(0);
        // If there are fewer columns than processors, each column uses all processors.
        let processors = if columns.len() < parallel::processors() { parallel::processors() } else { 1 };
        let pricing = Pricing { machine, slowest, is_needed, processors };
        parallel::for_each(&columns, |column| {
            let ColumnTimes { times, too_large } = column.times(&atlas, &pricing)?;
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            times.into_iter().for_each(|(cell, time)| found.0[cell] = time);
            for algorithm in too_large {
                let least = found.1.entry(algorithm.name).or_insert(column.size);
                *least = column.size.min(*least);
            }
            drop(found);
            observe((done.fetch_add(column.size, Ordering::Relaxed) + column.size) as f64 / work as f64);
            Ok(())
        })?;
        (atlas.times, atlas.too_large) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(atlas)
    }

    /// All points, those of few ranks first.
    pub fn points(&self) -> impl Iterator<Item = Point> + use<> {
        points(self.ranks.len(), self.bytes.len())
    }

    /// Returns the time of each candidate at a point, in seconds; infinite if it has no time there.
    pub fn times(&self, point: Point) -> &[f64] {
        let first = self.cell(point, 0);
        &self.times[first..first + self.candidates.len()]
    }

    /// Position of a candidate's time in `times`.
    fn cell(&self, point: Point, candidate: usize) -> usize {
        (point.ranks * self.bytes.len() + point.bytes) * self.candidates.len() + candidate
    }

    /// Returns the position of the fastest candidate at a point, the first of several; `None` if none has a time there.
    pub fn winner(&self, point: Point) -> Option<usize> {
        let times = self.times(point).iter().enumerate().filter(|(_, time)| time.is_finite());
        times.min_by(|(_, one), (_, other)| one.total_cmp(other)).map(|(number, _)| number)
    }

    /// Returns how much slower than the fastest a candidate is at a point, as a fraction.
    pub fn regret(&self, point: Point, candidate: usize) -> f64 {
        self.excess(point, self.times(point)[candidate])
    }

    /// Returns by what fraction a time, in seconds, exceeds that of the fastest candidate at a point; infinite if none has a time.
    pub fn excess(&self, point: Point, time: f64) -> f64 {
        let Some(winner) = self.winner(point) else { return f64::INFINITY };
        let best = self.times(point)[winner];
        // All times are 0 where there is nothing to do.
        if time == best { 0.0 } else { time / best - 1.0 }
    }

    /// Returns the atlas of the wanted candidates; `None` if there are none.
    pub fn only(&self, is_wanted: impl Fn(&Candidate) -> bool) -> Option<Atlas> {
        let kept: Vec<usize> =
            (0..self.candidates.len()).filter(|&number| is_wanted(&self.candidates[number])).collect();
        let candidates: Vec<Candidate> = kept.iter().map(|&number| self.candidates[number]).collect();
        let times = self.points().flat_map(|point| kept.iter().map(move |&number| self.times(point)[number]));
        let times = times.collect();
        let is_empty = candidates.is_empty();
        (!is_empty).then(|| Atlas { candidates, times, ..self.clone() })
    }
}

fn points(ranks: usize, bytes: usize) -> impl Iterator<Item = Point> {
    (0..ranks).flat_map(move |ranks| (0..bytes).map(move |bytes| Point { ranks, bytes }))
}
