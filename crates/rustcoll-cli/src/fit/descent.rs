//! The method of Levenberg and Marquardt, over the logarithms of the parameters.
//!
//! A simulation says how many latencies and bytes a time consists of. From these sums follow the times on
//! machines that are not too far away, as long as ranks wait for the same. So the search takes steps by these
//! sums, and simulates anew after some steps.

use super::observed::{Explained, Observed};
use super::parameters::Parameter;
use crate::failure::Failure;
use rustcoll::cost::Machine;

/// A row with a greater difference of logarithms counts less, because the row may be wrong.
const SCALE: f64 = 0.1;

/// How far a parameter is likely to be from its neighbours, as a difference of logarithms.
const FROM_NEIGHBOUR: f64 = 0.8;

/// The search simulates all rows at most this often.
pub const MOST_SIMULATIONS: u32 = 20;

/// Between two simulations: the most steps, and the greatest change of a parameter's logarithm.
const MOST_STEPS: u32 = 30;
const FARTHEST: f64 = 1.0;

/// The search ends after this many simulations (or steps) in a row that each reduce the loss by less than this part.
const MOST_LITTLE_GAINS: usize = 2;
const LITTLE: f64 = 1e-3;

/// Where the search begins.
pub struct Start {
    pub machine: Machine,
    /// How far its parameters are likely to be from the wanted ones, as a difference of logarithms.
    pub distance: f64,
}

/// A machine, and how well it fits.
#[derive(Clone)]
pub struct Fitted {
    pub machine: Machine,
    /// The logarithms of its parameters.
    logarithms: Vec<f64>,
    /// The predicted time of each row, and its parts.
    explained: Vec<Explained>,
    /// What the search minimizes.
    loss: f64,
}

/// Returns the machine near `start` that predicts the rows best.
pub fn descend(observed: &Observed, start: &Start, observe: &dyn Fn()) -> Result<Fitted, Failure> {
    let priors = Priors::of(observed, start);
    let start = &start.machine;
    let mut best = simulated(observed, &priors, start, priors.start.clone())?;
    let (mut farthest, mut little_gains) = (FARTHEST, 0);
    for _ in 0..MOST_SIMULATIONS {
        observe();
        let next = without_simulation(observed, &priors, &best, farthest);
        let next = simulated(observed, &priors, start, next.logarithms)?;
        let gain = best.loss - next.loss;
        little_gains = if gain < LITTLE * best.loss { little_gains + 1 } else { 0 };
        if gain > 0.0 {
            best = next;
        } else {
            farthest /= 4.0;
        }
        if little_gains == MOST_LITTLE_GAINS {
            break;
        }
    }
    Ok(best)
}

/// Returns the best machine near `at`, as far as the parts of the times on `at` predict it.
fn without_simulation(observed: &Observed, priors: &Priors, at: &Fitted, farthest: f64) -> Fitted {
    let mut best = at.clone();
    let (mut damping, mut little_gains) = (0.1, 0);
    for _ in 0..MOST_STEPS {
        let step = equations(observed, &best, priors, SCALE).solve(damping);
        let bounded = |((now, step), known): ((&f64, f64), &f64)| {
            (now + step).clamp(known - farthest, known + farthest)
        };
        let logarithms: Vec<f64> =
            best.logarithms.iter().zip(step).zip(&at.logarithms).map(bounded).collect();
        let factors: Vec<f64> =
            logarithms.iter().zip(&at.logarithms).map(|(now, known)| (now - known).exp()).collect();
        let explained: Vec<Explained> =
            at.explained.iter().map(|explained| explained.scaled(&factors)).collect();
        let loss = loss(observed, &explained, priors, &logarithms);
        let gain = best.loss - loss;
        little_gains = if gain < LITTLE * best.loss { little_gains + 1 } else { 0 };
        damping *= if gain > 0.0 { 0.3 } else { 6.0 };
        if gain > 0.0 {
            best = Fitted { logarithms, explained, loss, ..best };
        }
        if little_gains == MOST_LITTLE_GAINS {
            break;
        }
    }
    best
}

/// Simulates the machine `like`, with these parameters in place of its own.
fn simulated(
    observed: &Observed,
    priors: &Priors,
    like: &Machine,
    logarithms: Vec<f64>,
) -> Result<Fitted, Failure> {
    let mut machine = like.clone();
    for (parameter, &number) in &observed.positions {
        parameter.set(&mut machine, logarithms[number].exp());
    }
    let explained = observed.explain(&machine)?;
    let loss = loss(observed, &explained, priors, &logarithms);
    Ok(Fitted { machine, logarithms, explained, loss })
}

fn loss(observed: &Observed, explained: &[Explained], priors: &Priors, logarithms: &[f64]) -> f64 {
    let residuals =
        explained.iter().zip(observed.rows).map(|(found, row)| (found.seconds / row.seconds).ln() / SCALE);
    residuals.map(|residual| residual.powi(2).ln_1p()).sum::<f64>() + priors.loss(logarithms)
}

/// What is known about the parameters beforehand: some differences of their logarithms are likely to be small.
struct Priors {
    /// The logarithms of the parameters where the search begins.
    start: Vec<f64>,
    distance: f64,
    /// Pairs of neighbours, as indices of parameters.
    neighbours: Vec<(usize, usize)>,
}

impl Priors {
    fn of(observed: &Observed, start: &Start) -> Priors {
        let Observed { parameters, positions, .. } = observed;
        let pairs = parameters.iter().enumerate().flat_map(|(number, parameter)| {
            let others = parameter.neighbours().filter_map(|other| positions.get(&other));
            others.map(move |&other| (number, other))
        });
        Priors {
            start: parameters.iter().map(|parameter| parameter.value(&start.machine).ln()).collect(),
            distance: start.distance,
            neighbours: pairs.collect(),
        }
    }

    fn loss(&self, values: &[f64]) -> f64 {
        let from_start =
            values.iter().zip(&self.start).map(|(value, start)| ((value - start) / self.distance).powi(2));
        let apart = |&(one, other): &(usize, usize)| ((values[one] - values[other]) / FROM_NEIGHBOUR).powi(2);
        from_start.sum::<f64>() + self.neighbours.iter().map(apart).sum::<f64>()
    }
}

/// A parameter whose logarithm may be wrong by more than this is not determined by the rows.
const UNDETERMINED: f64 = 0.5;

/// The standard deviation of a normal distribution, as a multiple of its median distance from the mean.
const DEVIATIONS_OF_MEDIAN: f64 = 1.4826;

/// How well the rows determine a parameter.
pub struct Certainty {
    pub parameter: Parameter,
    /// Standard deviation, as a part of the parameter's value; `None` if the rows hardly determine the parameter.
    pub deviation: Option<f64>,
}

/// Returns how well the rows determine each parameter.
pub fn certainties(observed: &Observed, start: &Start, at: &Fitted) -> Vec<Certainty> {
    let priors = Priors::of(observed, start);
    let equations = equations(observed, at, &priors, spread(observed, at));
    let certainty = |(number, &parameter): (usize, &Parameter)| {
        let deviation = equations.clone().with_unit(number).solve(0.0)[number].sqrt();
        Certainty { parameter, deviation: (deviation < UNDETERMINED).then_some(deviation) }
    };
    observed.parameters.iter().enumerate().map(certainty).collect()
}

/// Returns how far the differences of logarithms are spread, at least [`SCALE`]. It is the standard deviation of normally distributed
/// ones, from their median: a few rows that are far off do not change it.
fn spread(observed: &Observed, at: &Fitted) -> f64 {
    let differences = at.explained.iter().zip(observed.rows);
    let differences = differences.map(|(found, row)| (found.seconds / row.seconds).ln().abs());
    let mut differences: Vec<f64> = differences.collect();
    differences.sort_by(f64::total_cmp);
    (DEVIATIONS_OF_MEDIAN * differences[differences.len() / 2]).max(SCALE)
}

/// Returns the equations of the next step. Their solution is the change of each parameter's logarithm. `scale` is how far rows are
/// likely to be off.
fn equations(observed: &Observed, at: &Fitted, priors: &Priors, scale: f64) -> Equations {
    let mut equations = Equations::new(observed.parameters.len());
    for (explained, row) in at.explained.iter().zip(observed.rows) {
        let residual = (explained.seconds / row.seconds).ln() / scale;
        let weight = 1.0 / (1.0 + residual.powi(2));
        let term = |&(number, seconds): &(usize, f64)| (number, seconds / explained.seconds / scale);
        let terms: Vec<(usize, f64)> = explained.parts.iter().map(term).collect();
        equations.add(&terms, residual, weight);
    }
    let values = &at.logarithms;
    for (number, (value, start)) in values.iter().zip(&priors.start).enumerate() {
        equations.add(&[(number, 1.0)], value - start, priors.distance.powi(-2));
    }
    for &(one, other) in &priors.neighbours {
        equations.add(&[(one, 1.0), (other, -1.0)], values[one] - values[other], FROM_NEIGHBOUR.powi(-2));
    }
    equations
}

/// Linear equations whose solution has the smallest sum of squares.
#[derive(Clone)]
struct Equations {
    matrix: Vec<Vec<f64>>,
    right: Vec<f64>,
}

impl Equations {
    fn new(unknowns: usize) -> Equations {
        Equations { matrix: vec![vec![0.0; unknowns]; unknowns], right: vec![0.0; unknowns] }
    }

    /// Adds a square to the sum, with a weight: `residual` plus the terms. Each term is an unknown times a factor.
    fn add(&mut self, terms: &[(usize, f64)], residual: f64, weight: f64) {
        for &(row, factor) in terms {
            self.right[row] -= weight * factor * residual;
            for &(column, other) in terms {
                self.matrix[row][column] += weight * factor * other;
            }
        }
    }

    /// Returns the equations whose solution is a column of the inverse of the matrix.
    fn with_unit(mut self, number: usize) -> Equations {
        self.right.fill(0.0);
        self.right[number] = 1.0;
        self
    }

    /// Returns the unknowns, by Cholesky's method. First enlarges the diagonal by the part `damping`.
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
