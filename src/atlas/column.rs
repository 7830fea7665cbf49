//! All candidates on one number of ranks, for all bytes.

use super::{Atlas, AtlasError, Candidate, Point};
use crate::algorithms::{Algorithm, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{Simulation, SimulationError};
use std::collections::BTreeMap;
use std::ptr;

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

/// Where in the atlas the times stand of candidates that solve the same problem, by bytes.
type Cells = BTreeMap<usize, Vec<usize>>;

/// What some of the candidates solve in the same way.
struct Task {
    algorithm: &'static Algorithm,
    problem: Problem,
    cells: Cells,
}

/// The same, about to be simulated.
struct Contender {
    algorithm: &'static Algorithm,
    simulation: Simulation,
    cells: Cells,
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
    pub fn times(&self, atlas: &Atlas, machine: &Machine, slowest: f64) -> Result<Found, AtlasError> {
        let mut contenders = self.contenders(atlas, machine)?;
        contenders.sort_by(|one, other| one.rank().total_cmp(&other.rank()));
        let mut found = Found::default();
        let mut fast: Vec<(&'static Algorithm, BTreeMap<usize, f64>)> = Vec::new();
        for mut contender in contenders {
            let mut times = BTreeMap::new();
            for (&bytes, cells) in &contender.cells {
                let rivals = fast.iter().filter(|(rival, _)| serves_where(rival, contender.algorithm));
                let best =
                    rivals.filter_map(|(_, times)| times.get(&bytes)).copied().fold(f64::INFINITY, f64::min);
                let limit = slowest * best;
                if contender.least[&bytes] > limit {
                    continue;
                }
                let prediction = match contender.simulation.predict_within(bytes, limit) {
                    Err(SimulationError::DoesNotServe(_)) => break,
                    Err(SimulationError::TooSlow) => continue,
                    Err(SimulationError::TooManyPosts { .. }) => {
                        found.too_large.push(contender.algorithm);
                        break;
                    }
                    other => other.map_err(|error| self.failed(atlas, contender.algorithm, bytes, error))?,
                };
                times.insert(bytes, prediction.time());
                found.times.extend(cells.iter().map(|&cell| (cell, prediction.time())));
            }
            fast.push((contender.algorithm, times));
        }
        Ok(found)
    }

    fn contenders(&self, atlas: &Atlas, machine: &Machine) -> Result<Vec<Contender>, AtlasError> {
        let mut contenders = Vec::new();
        for Task { algorithm, problem, cells } in self.tasks(atlas) {
            let mut simulation = match Simulation::new(atlas.collective, algorithm, &problem, machine) {
                Err(SimulationError::DoesNotServe(_)) => continue,
                other => other.map_err(|error| self.failed(atlas, algorithm, 0, error))?,
            };
            let least = cells.keys().map(|&bytes| (bytes, simulation.least_time(bytes))).collect();
            contenders.push(Contender { algorithm, simulation, cells, least });
        }
        Ok(contenders)
    }

    fn tasks(&self, atlas: &Atlas) -> Vec<Task> {
        let mut tasks: Vec<Task> = Vec::new();
        for (number, &Candidate { algorithm, .. }) in atlas.candidates.iter().enumerate() {
            for (position, &bytes) in atlas.bytes.iter().enumerate() {
                let Some(problem) = atlas.candidates[number].tried(self.size, bytes) else { continue };
                let is_same = |task: &Task| ptr::eq(task.algorithm, algorithm) && task.problem == problem;
                let known = tasks.iter().position(is_same).unwrap_or_else(|| {
                    tasks.push(Task { algorithm, problem, cells: Cells::new() });
                    tasks.len() - 1
                });
                let cell = atlas.cell(Point { ranks: self.ranks, bytes: position }, number);
                tasks[known].cells.entry(bytes).or_default().push(cell);
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
