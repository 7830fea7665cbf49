//! All candidates on one number of ranks, for all bytes.

use super::{Atlas, AtlasError, Candidate, Point};
use crate::algorithms::{Algorithm, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{MOST_POSTS, Simulation, SimulationError};
use std::collections::BTreeMap;

/// A part of an atlas that one processor prices.
pub struct Column {
    /// The number of ranks.
    pub size: usize,
    /// Its position.
    ranks: usize,
}

/// What a column holds.
#[derive(Default)]
pub struct Found {
    /// The times, each with its position in the atlas.
    pub times: Vec<(usize, f64)>,
    /// Algorithms that are too large to be simulated.
    pub too_large: Vec<&'static Algorithm>,
}

/// How a column is priced.
pub struct Pricing<'a> {
    pub machine: &'a Machine,
    /// What takes so many times as long as the fastest has no time.
    pub slowest: f64,
    /// Whether a candidate has a time all the same, on so many ranks, for so many bytes.
    pub is_needed: &'a (dyn Fn(&Candidate, usize, usize) -> bool + Sync),
    /// On so many.
    pub processors: usize,
}

/// Candidates that solve the same problem for some number of bytes.
#[derive(Default)]
struct Cells {
    /// Where in the atlas their times stand.
    positions: Vec<usize>,
    /// Whether one of them has a time even if it is far from the fastest.
    is_needed: bool,
}

/// What some of the candidates solve in the same way.
struct Task {
    /// One of these.
    candidate: Candidate,
    problem: Problem,
    cells: BTreeMap<usize, Cells>,
}

/// The same, about to be simulated.
struct Contender {
    algorithm: &'static Algorithm,
    simulation: Simulation,
    cells: BTreeMap<usize, Cells>,
    /// A time, in seconds, that no prediction undercuts, by bytes.
    least: BTreeMap<usize, f64>,
}

impl Contender {
    /// The geometric mean of its least times: how it ranks among the others, the best first.
    fn rank(&self) -> f64 {
        let logarithms: f64 = self.least.values().map(|least| least.max(f64::MIN_POSITIVE).ln()).sum();
        logarithms / self.least.len() as f64
    }
}

impl Atlas {
    /// What there is to be priced, the most ranks first.
    pub(super) fn columns(&self) -> Vec<Column> {
        let column = |(ranks, &size)| Column { size, ranks };
        self.ranks.iter().enumerate().rev().map(column).collect()
    }
}

impl Column {
    /// The times of the candidates that can serve, up to `slowest` times that of the fastest. What several candidates have in common is simulated once. Those that
    /// are likely to be fast come first, so that the others need not be simulated.
    pub fn times(&self, atlas: &Atlas, pricing: &Pricing) -> Result<Found, AtlasError> {
        let mut contenders = self.contenders(atlas, pricing)?;
        contenders.sort_by(|one, other| one.rank().total_cmp(&other.rank()));
        let mut found = Found::default();
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
                // Its programs serve one number of bytes after the other, and then are dropped.
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

/// Whether an algorithm serves all calls that another one does on this number of ranks, as far as rules can tell.
fn serves_where(rival: &Algorithm, other: &Algorithm) -> bool {
    (other.takes_shared_memory() || !rival.takes_shared_memory())
        && (rival.keeps_order() || !other.keeps_order())
}
