//! The method of Levenberg and Marquardt, over the logarithms of the parameters.

use super::observed::{Explained, Observed};
use super::parameters::Parameter;
use crate::failure::Failure;
use rustcoll::cost::Machine;

/// A difference of logarithms from which on a row counts less: it may be wrong.
const SCALE: f64 = 0.1;

/// How far a parameter is likely to be from where the search began, and from its neighbours; as differences of logarithms.
const FROM_START: f64 = 6.0;
const FROM_NEIGHBOUR: f64 = 1.5;

/// How many steps are taken at most.
pub const MOST_STEPS: u32 = 40;

/// After so many steps that make the loss less by no more than this part the search ends.
const MOST_LITTLE_GAINS: usize = 4;
const LITTLE: f64 = 1e-3;

/// A machine, and how well it fits.
pub struct Fitted {
    /// The machine.
    pub machine: Machine,
    /// What it says of each row.
    pub explained: Vec<Explained>,
    /// What is made small.
    pub loss: f64,
}

/// The machine near `start` that predicts the rows best.
pub fn descend(observed: &Observed, start: &Machine, observe: &dyn Fn()) -> Result<Fitted, Failure> {
    let parameters = Parameter::all(start);
    let priors = Priors::of(&parameters, start);
    let mut best = fitted(observed, start.clone(), &priors, &parameters)?;
    let (mut damping, mut little_gains) = (0.1, 0);
    for _ in 0..MOST_STEPS {
        observe();
        let step = step(observed, &best, &parameters, &priors, damping);
        let mut machine = best.machine.clone();
        for (parameter, step) in parameters.iter().zip(&step) {
            parameter.set(&mut machine, parameter.value(&best.machine) * step.clamp(-1.0, 1.0).exp());
        }
        let next = fitted(observed, machine, &priors, &parameters)?;
        let gain = best.loss - next.loss;
        little_gains = if gain < LITTLE * best.loss { little_gains + 1 } else { 0 };
        damping *= if gain > 0.0 { 0.3 } else { 6.0 };
        if gain > 0.0 {
            best = next;
        }
        if little_gains == MOST_LITTLE_GAINS {
            break;
        }
    }
    Ok(best)
}

fn fitted(
    observed: &Observed,
    machine: Machine,
    priors: &Priors,
    parameters: &[Parameter],
) -> Result<Fitted, Failure> {
    let explained = observed.explain(&machine)?;
    let residuals =
        explained.iter().zip(observed.rows).map(|(found, row)| (found.seconds / row.seconds).ln() / SCALE);
    let loss =
        residuals.map(|residual| residual.powi(2).ln_1p()).sum::<f64>() + priors.loss(parameters, &machine);
    Ok(Fitted { machine, explained, loss })
}

/// What is likely of the parameters beforehand: differences of their logarithms, which are likely to be small.
struct Priors {
    start: Vec<f64>,
    /// Pairs of neighbours, by position.
    neighbours: Vec<(usize, usize)>,
}

impl Priors {
    fn of(parameters: &[Parameter], start: &Machine) -> Priors {
        let position = |parameter| parameters.iter().position(|known| *known == parameter);
        let pairs = parameters.iter().enumerate().flat_map(|(number, parameter)| {
            parameter.neighbours().into_iter().filter_map(position).map(move |other| (number, other))
        });
        Priors {
            start: parameters.iter().map(|parameter| parameter.value(start).ln()).collect(),
            neighbours: pairs.collect(),
        }
    }

    fn loss(&self, parameters: &[Parameter], machine: &Machine) -> f64 {
        let values: Vec<f64> = parameters.iter().map(|parameter| parameter.value(machine).ln()).collect();
        let from_start =
            values.iter().zip(&self.start).map(|(value, start)| ((value - start) / FROM_START).powi(2));
        let apart = |&(one, other): &(usize, usize)| ((values[one] - values[other]) / FROM_NEIGHBOUR).powi(2);
        from_start.sum::<f64>() + self.neighbours.iter().map(apart).sum::<f64>()
    }
}

/// A parameter whose logarithm may be wrong by more than this is not determined by the rows.
const UNDETERMINED: f64 = 0.5;

/// How well the rows determine a parameter.
pub struct Certainty {
    /// Which one.
    pub parameter: Parameter,
    /// By which part of its value it may be wrong (standard deviation); `None` if the rows hardly determine it.
    pub deviation: Option<f64>,
}

/// How well the rows determine each parameter.
pub fn certainties(observed: &Observed, at: &Fitted) -> Vec<Certainty> {
    let parameters = Parameter::all(&at.machine);
    let priors = Priors::of(&parameters, &at.machine);
    let equations = equations(observed, at, &parameters, &priors);
    let certainty = |(number, &parameter): (usize, &Parameter)| {
        let deviation = equations.clone().with_unit(number).solve(0.0)[number].sqrt();
        Certainty { parameter, deviation: (deviation < UNDETERMINED).then_some(deviation) }
    };
    parameters.iter().enumerate().map(certainty).collect()
}

/// By how much the logarithm of each parameter changes.
fn step(
    observed: &Observed,
    at: &Fitted,
    parameters: &[Parameter],
    priors: &Priors,
    damping: f64,
) -> Vec<f64> {
    equations(observed, at, parameters, priors).solve(damping)
}

/// What is to be solved for the next step.
fn equations(observed: &Observed, at: &Fitted, parameters: &[Parameter], priors: &Priors) -> Equations {
    let mut equations = Equations::new(parameters.len());
    let values: Vec<f64> = parameters.iter().map(|parameter| parameter.value(&at.machine).ln()).collect();
    for (explained, row) in at.explained.iter().zip(observed.rows) {
        let residual = (explained.seconds / row.seconds).ln() / SCALE;
        let weight = 1.0 / (1.0 + residual.powi(2));
        let terms: Vec<(usize, f64)> = explained
            .parts
            .iter()
            .filter_map(|(parameter, seconds)| {
                let position = parameters.iter().position(|known| known == parameter)?;
                Some((position, seconds / explained.seconds / SCALE))
            })
            .collect();
        equations.add(&terms, residual, weight);
    }
    for (number, (value, start)) in values.iter().zip(&priors.start).enumerate() {
        equations.add(&[(number, 1.0)], value - start, FROM_START.powi(-2));
    }
    for &(one, other) in &priors.neighbours {
        equations.add(&[(one, 1.0), (other, -1.0)], values[one] - values[other], FROM_NEIGHBOUR.powi(-2));
    }
    equations
}

/// Linear equations for the smallest sum of squares.
#[derive(Clone)]
struct Equations {
    matrix: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl Equations {
    /// Of so many unknowns.
    fn new(unknowns: usize) -> Equations {
        Equations { matrix: vec![vec![0.0; unknowns]; unknowns], right: vec![0.0; unknowns] }
    }

    /// The square of `residual` plus the terms, each an unknown times a factor, is to be small.
    fn add(&mut self, terms: &[(usize, f64)], residual: f64, weight: f64) {
        for &(row, factor) in terms {
            self.right[row] -= weight * factor * residual;
            for &(column, other) in terms {
                self.matrix[row][column] += weight * factor * other;
            }
        }
    }

    /// Those whose solution is a column of the inverse of the matrix.
    fn with_unit(mut self, number: usize) -> Equations {
        self.right.fill(0.0);
        self.right[number] = 1.0;
        self
    }

    /// The unknowns, by Cholesky's method, with the diagonal longer by a part.
    fn solve(mut self, damping: f64) -> Vec<f64> {
        let size = self.right.len();
        for row in 0..size {
            self.matrix[row][row] *= 1.0 + damping;
            self.matrix[row][row] += 1e-9;
            for column in 0..=row {
                let known: f64 = (0..column).map(|k| self.matrix[row][k] * self.matrix[column][k]).sum();
                let rest = self.matrix[row][column] - known;
                self.matrix[row][column] =
                    if row == column { rest.max(1e-12).sqrt() } else { rest / self.matrix[column][column] };
            }
        }
        let mut found = self.right;
        for row in 0..size {
            let known: f64 = (0..row).map(|k| self.matrix[row][k] * found[k]).sum();
            found[row] = (found[row] - known) / self.matrix[row][row];
        }
        for row in (0..size).rev() {
            let known: f64 = (row + 1..size).map(|k| self.matrix[k][row] * found[k]).sum();
            found[row] = (found[row] - known) / self.matrix[row][row];
        }
        found
    }
}
