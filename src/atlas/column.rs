//! All candidates on one number of ranks, for all bytes.

use super::{Atlas, AtlasError, Candidate, Point};
use crate::algorithms::{Algorithm, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{LOWER_BOUNDS, MOST_POSTS, Simulation, SimulationError};
use crate::parallel::{self, Room};
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// All candidates on one number of ranks: the part of an atlas that is priced in one piece.
pub struct Column {
    /// Number of ranks.
    pub size: usize,
    /// Position of `size` in [`Atlas::ranks`].
    ranks: usize,
}

/// The result of pricing a column.
pub struct ColumnTimes {
    /// Times in seconds, each with its position in the atlas's list of times.
    pub times: Vec<(usize, f64)>,
    /// Algorithms that are too large to simulate.
    pub too_large: Vec<&'static Algorithm>,
}

/// How a column is priced.
pub struct Pricing<'a> {
    pub machine: &'a Machine,
    /// A candidate has no time where it takes more than `slowest` times as long as the fastest.
    pub slowest: f64,
    /// Whether a candidate gets a time however slow it is, on this number of ranks, for this number of bytes.
    pub is_needed: &'a (dyn Fn(&Candidate, usize, usize) -> bool + Sync),
    /// How many processors price one column.
    pub processors: usize,
}

/// The atlas's times of candidates that solve the same problem for one number of bytes.
#[derive(Default)]
struct Cells {
    /// Positions in the atlas's list of times.
    positions: Vec<usize>,
    /// Whether one of the candidates gets a time even if it is far from the fastest.
    is_needed: bool,
}

/// A problem that several candidates solve in the same way, and the times that it yields, by bytes.
struct Task {
    /// One of these candidates.
    candidate: Candidate,
    problem: Problem,
    cells: BTreeMap<usize, Cells>,
}

/// A task with its simulation.
struct Contender {
    algorithm: &'static Algorithm,
    simulation: Simulation,
    cells: BTreeMap<usize, Cells>,
    /// Lower bounds of the predicted times, in seconds, by bytes.
    least: BTreeMap<usize, f64>,
    /// How many of the [`LOWER_BOUNDS`] are known.
    bounds: usize,
}

/// A contender that has been simulated.
struct Priced {
    algorithm: &'static Algorithm,
    cells: BTreeMap<usize, Cells>,
    /// Seconds by bytes, where it is not too slow.
    times: BTreeMap<usize, f64>,
}

/// The contenders of a column, which processors take in turn.
#[derive(Default)]
struct Contest {
    waiting: Vec<Contender>,
    priced: Vec<Priced>,
    too_large: Vec<&'static Algorithm>,
}

impl Contender {
    /// Raises the lower bounds of these calls.
    fn bound(&mut self, calls: &[(usize, f64)]) {
        for ((bytes, _), bound) in calls.iter().zip(LOWER_BOUNDS[self.bounds](&self.simulation, calls)) {
            self.least.entry(*bytes).and_modify(|least| *least = least.max(bound));
        }
        self.bounds += 1;
    }

    /// Returns about how many sends, receives and flags are simulated for the longest of these calls.
    fn posts(&self, calls: &[(usize, f64)]) -> usize {
        calls.iter().map(|call| call.0).max().map_or(0, |longest| self.simulation.posts(longest))
    }

    /// Returns the mean logarithm of the least times. Contenders are priced in ascending order of it.
    fn rank(&self) -> f64 {
        let logarithms: f64 = self.least.values().map(|least| least.max(f64::MIN_POSITIVE).ln()).sum();
        logarithms / self.least.len() as f64
    }
}

impl Contest {
    /// Takes the contender that is likely the fastest, with its calls that may be fast enough, and their limits.
    fn take(&mut self, slowest: f64) -> Option<(Contender, Vec<(usize, f64)>)> {
        let rank = |position: &usize| self.waiting[*position].rank();
        let next = (0..self.waiting.len()).min_by(|one, other| rank(one).total_cmp(&rank(other)))?;
        let contender = self.waiting.swap_remove(next);
        let limited = |(bytes, cells): (&usize, &Cells)| {
            let limit = self.limit(contender.algorithm, *bytes, cells, slowest);
            (contender.least[bytes] <= limit).then_some((*bytes, limit))
        };
        let calls = contender.cells.iter().filter_map(limited).collect();
        Some((contender, calls))
    }

    /// Returns the longest time that an algorithm gets.
    fn limit(&self, algorithm: &Algorithm, bytes: usize, cells: &Cells, slowest: f64) -> f64 {
        let rivals = self.priced.iter().filter(|rival| serves_where(rival.algorithm, algorithm));
        let best = rivals.filter_map(|rival| rival.times.get(&bytes)).copied().fold(f64::INFINITY, f64::min);
        if cells.is_needed { f64::INFINITY } else { slowest * best }
    }

    /// Returns the times that are short enough, whatever the order was in which they were found.
    fn times(self, slowest: f64) -> ColumnTimes {
        let mut times = Vec::new();
        for Priced { algorithm, cells, times: found } in &self.priced {
            let is_fast = |(bytes, time): &(&usize, &f64)| {
                **time <= self.limit(algorithm, **bytes, &cells[bytes], slowest)
            };
            for (bytes, &time) in found.iter().filter(is_fast) {
                times.extend(cells[bytes].positions.iter().map(|&position| (position, time)));
            }
        }
        ColumnTimes { times, too_large: self.too_large }
    }
}

impl Atlas {
    /// Returns the columns, the one with the most ranks first.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |(ranks, &size)| Column { size, ranks };
        self.ranks.iter().enumerate().rev().map(column).collect()
    }
}

impl Column {
    /// Returns the times of the candidates that can serve. A time over `slowest` times that of the fastest is
    /// left out; only rivals that serve the same calls count as the fastest. Candidates that solve the same
    /// problem in the same way are simulated once. The likely fast ones come first, so that the others need
    /// not be simulated to their ends, or not even be bounded well.
    pub fn times(&self, atlas: &Atlas, pricing: &Pricing) -> Result<ColumnTimes, AtlasError> {
        let waiting = self.contenders(atlas, pricing)?;
        let contest = Mutex::new(Contest { waiting, ..Contest::default() });
        let room = Room::new(MOST_POSTS);
        // A processor that finds no contender leaves: those that are in work go on where they are.
        parallel::for_each_on(pricing.processors, &vec![(); pricing.processors], |()| {
            let contest = || contest.lock().unwrap_or_else(PoisonError::into_inner);
            loop {
                let Some((mut contender, calls)) = contest().take(pricing.slowest) else { return Ok(()) };
                if contender.bounds < LOWER_BOUNDS.len() {
                    contender.bound(&calls);
                    contest().waiting.push(contender);
                    continue;
                }
                // Alone, a contender has all the room: counting would only write programs again.
                let posts = if pricing.processors > 1 { contender.posts(&calls) } else { 0 };
                let priced = room.hold(posts, || self.price(atlas, contender, &calls));
                let (priced, is_too_large) = priced?;
                let mut contest = contest();
                contest.too_large.extend(is_too_large.then_some(priced.algorithm));
                contest.priced.push(priced);
            }
        })?;
        let contest = contest.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(contest.times(pricing.slowest))
    }

    /// Simulates calls of a contender, and says whether one is too large for that.
    fn price(
        &self,
        atlas: &Atlas,
        contender: Contender,
        calls: &[(usize, f64)],
    ) -> Result<(Priced, bool), AtlasError> {
        let Contender { algorithm, mut simulation, cells, .. } = contender;
        let mut times = BTreeMap::new();
        for &(bytes, limit) in calls {
            match simulation.predict_within(bytes, limit) {
                Ok(prediction) => drop(times.insert(bytes, prediction.time())),
                Err(SimulationError::TooSlow) => {}
                Err(SimulationError::DoesNotServe(_)) => break,
                Err(SimulationError::TooManyPosts { .. }) => {
                    return Ok((Priced { algorithm, cells, times }, true));
                }
                Err(error) => return Err(self.failed(atlas, algorithm, bytes, error)),
            }
        }
        Ok((Priced { algorithm, cells, times }, false))
    }

    fn contenders(&self, atlas: &Atlas, pricing: &Pricing) -> Result<Vec<Contender>, AtlasError> {
        let mut contenders = Vec::new();
        for Task { candidate, problem, cells } in self.tasks(atlas, pricing) {
            let algorithm = candidate.algorithm;
            let simulation = match candidate.simulation(&problem, pricing.machine) {
                Err(SimulationError::DoesNotServe(_)) => continue,
                // The programs serve all numbers of bytes in turn and are dropped with the contender, so keep
                // all of them.
                other => other.map_err(|error| self.failed(atlas, algorithm, 0, error))?.keeping(MOST_POSTS),
            };
            let least = cells.keys().map(|&bytes| (bytes, 0.0)).collect();
            contenders.push(Contender { algorithm, simulation, cells, least, bounds: 0 });
        }
        Ok(contenders)
    }

    fn tasks(&self, atlas: &Atlas, pricing: &Pricing) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (number, candidate) in atlas.candidates.iter().enumerate() {
            for (position, &bytes) in atlas.bytes.iter().enumerate() {
                let is_needed = (pricing.is_needed)(candidate, self.size, bytes);
                let is_tried = is_needed || candidate.is_tried(bytes);
                let Some(problem) = candidate.served(self.size, bytes).filter(|_| is_tried) else { continue };
                let is_same = |task: &Task| candidate.is_alike(&task.candidate) && task.problem == problem;
                let known = tasks.iter().position(is_same).unwrap_or_else(|| {
                    tasks.push(Task { candidate: *candidate, problem, cells: BTreeMap::new() });
                    tasks.len() - 1
                });
                let cells = tasks[known].cells.entry(bytes).or_default();
                cells.positions.push(atlas.cell(Point { ranks: self.ranks, bytes: position }, number));
                cells.is_needed |= is_needed;
            }
        }
        tasks
    }

    fn failed(
        &self,
        atlas: &Atlas,
        algorithm: &'static Algorithm,
        bytes: usize,
        error: SimulationError,
    ) -> AtlasError {
        AtlasError { collective: atlas.collective, algorithm, ranks: self.size, bytes, error }
    }
}

/// Whether `rival` serves all calls that `other` serves on this number of ranks, as far as rules can tell.
fn serves_where(rival: &Algorithm, other: &Algorithm) -> bool {
    (other.takes_shared_memory() || !rival.takes_shared_memory())
        && (rival.keeps_order() || !other.keeps_order())
}
