//! One algorithm on one number of ranks, for all parameters and bytes.

use super::{Atlas, AtlasError, Point};
use crate::algorithms::{Algorithm, Problem};
use crate::cost::Machine;
use crate::cost::simulation::{Simulation, SimulationError};
use std::collections::{BTreeMap, HashMap};
use std::ptr;

/// A part of an atlas that one processor prices.
pub struct Column {
    /// The number of ranks.
    pub size: usize,
    /// Its position.
    ranks: usize,
    algorithm: &'static Algorithm,
}

/// Where in the atlas the times stand of candidates that solve the same problem, by bytes.
type Cells = BTreeMap<usize, Vec<usize>>;

impl Atlas {
    /// What there is to be priced, the most ranks first.
    pub(super) fn columns(&self) -> Vec<Column> {
        let is_first = |&number: &usize| {
            let before = &self.candidates[..number];
            !before.iter().any(|other| ptr::eq(other.algorithm, self.candidates[number].algorithm))
        };
        let algorithms: Vec<&'static Algorithm> = (0..self.candidates.len())
            .filter(is_first)
            .map(|number| self.candidates[number].algorithm)
            .collect();
        let of = |(ranks, &size): (usize, &usize)| {
            algorithms.iter().map(move |&algorithm| Column { size, ranks, algorithm }).collect::<Vec<_>>()
        };
        self.ranks.iter().enumerate().rev().flat_map(of).collect()
    }
}

impl Column {
    /// The times of the candidates that can serve, and where they stand in the atlas. What several candidates have in
    /// common is simulated once.
    pub fn times(&self, atlas: &Atlas, machine: &Machine) -> Result<Vec<(usize, f64)>, AtlasError> {
        let mut times = Vec::new();
        for (problem, cells) in self.problems(atlas) {
            let failed = |bytes, error| {
                let (collective, algorithm) = (atlas.collective, self.algorithm);
                AtlasError { collective, algorithm, ranks: self.size, bytes, error }
            };
            let mut simulation = match Simulation::new(atlas.collective, self.algorithm, &problem, machine) {
                Err(SimulationError::DoesNotServe(_)) => continue,
                other => other.map_err(|error| failed(0, error))?,
            };
            for (bytes, cells) in cells {
                let prediction = match simulation.predict(bytes) {
                    Err(SimulationError::DoesNotServe(_)) => break,
                    other => other.map_err(|error| failed(bytes, error))?,
                };
                times.extend(cells.into_iter().map(|cell| (cell, prediction.time())));
            }
        }
        Ok(times)
    }

    fn problems(&self, atlas: &Atlas) -> HashMap<Problem, Cells> {
        let mut problems: HashMap<Problem, Cells> = HashMap::new();
        for (number, candidate) in atlas.candidates.iter().enumerate() {
            if !ptr::eq(candidate.algorithm, self.algorithm) {
                continue;
            }
            for (position, &bytes) in atlas.bytes.iter().enumerate() {
                let Some(problem) = candidate.tried(self.size, bytes) else { continue };
                let cell = atlas.cell(Point { ranks: self.ranks, bytes: position }, number);
                problems.entry(problem).or_default().entry(bytes).or_default().push(cell);
            }
        }
        problems
    }
}
