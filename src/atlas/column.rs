//! All candidates on one number of ranks, for all bytes.

use super::{Atlas, AtlasError, Candidate, Point};
use crate::algorithms::{Algorithm, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{MOST_POSTS, Simulation, SimulationError};
use std::collections::BTreeMap;

/// All candidates on one number of ranks: the part of an atlas that is priced in one piece.
pub struct Column {
    /// Number of ranks.
    pub size: usize,
    /// Position of `size` in [`Atlas::ranks`].
    ranks: usize,
}

/// The result of pricing a column.
#[derive(Default)]
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
}

impl Contender {
    /// Returns the mean logarithm of the least times. Contenders are priced in ascending order of it.
    fn rank(&self) -> f64 {
        let logarithms: f64 = self.least.values().map(|least| least.max(f64::MIN_POSITIVE).ln()).sum();
        logarithms / self.least.len() as f64
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
    /// not be simulated to their ends.
    pub fn times(&self, atlas: &Atlas, pricing: &Pricing) -> Result<ColumnTimes, AtlasError> {
        let mut contenders = self.contenders(atlas, pricing)?;
        contenders.sort_by(|one, other| one.rank().total_cmp(&other.rank()));
        let mut found = ColumnTimes::default();
        let mut fast: Vec<(&'static Algorithm, BTreeMap<usize, f64>)> = Vec::new();
        for mut contender in contenders {
            let best = |bytes: &usize| {
                let rivals = fast.iter().filter(|(rival, _)| serves_where(rival, contender.algorithm));
                rivals.filter_map(|(_, times)| times.get(bytes)).copied().fold(f64::INFINITY, f64::min)
            };
            let limited = |(bytes, cells): (&usize, &Cells)| {
                let limit = if cells.is_needed { f64::INFINITY } else { pricing.slowest * best(bytes) };
                (contender.least[bytes] <= limit).then_some((*bytes, limit))
            };
            let calls: Vec<(usize, f64)> = contender.cells.iter().filter_map(limited).collect();
            let predictions = contender.simulation.predict_within(&calls, pricing.processors);
            let mut times = BTreeMap::new();
            for (&(bytes, _), prediction) in calls.iter().zip(predictions) {
                let prediction = match prediction {
                    Err(SimulationError::DoesNotServe(_)) => break,
                    Err(SimulationError::TooSlow) => continue,
                    Err(SimulationError::TooManyPosts { .. }) => {
                        found.too_large.push(contender.algorithm);
                        break;
                    }
                    other => other.map_err(|error| self.failed(atlas, contender.algorithm, bytes, error))?,
                };
                times.insert(bytes, prediction.time());
                let positions = contender.cells[&bytes].positions.iter();
                found.times.extend(positions.map(|&position| (position, prediction.time())));
            }
            fast.push((contender.algorithm, times));
        }
        Ok(found)
    }

    fn contenders(&self, atlas: &Atlas, pricing: &Pricing) -> Result<Vec<Contender>, AtlasError> {
        let mut contenders = Vec::new();
        for Task { candidate, problem, cells } in self.tasks(atlas, pricing) {
            let algorithm = candidate.algorithm;
            let mut simulation = match candidate.simulation(&problem, pricing.machine) {
                Err(SimulationError::DoesNotServe(_)) => continue,
                // The programs serve all numbers of bytes in turn and are dropped with the contender, so keep
                // all of them.
                other => other.map_err(|error| self.failed(atlas, algorithm, 0, error))?.keeping(MOST_POSTS),
            };
            let least = cells.keys().map(|&bytes| (bytes, simulation.least_time(bytes))).collect();
            contenders.push(Contender { algorithm, simulation, cells, least });
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
