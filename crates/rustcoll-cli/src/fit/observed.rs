//! Measured times, and their simulations.

use super::parameters::Parameter;
use crate::failure::Failure;
use crate::measured::left_out::without_price;
use crate::measured::{self, Row, Time};
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::{Explanation, Simulation};
use rustcoll::parallel;
use std::collections::HashMap;
use std::convert::Infallible;
use std::fmt;
use std::sync::Mutex;

/// Calls with more sends and receives are left out: simulating one takes as long as hundreds of others.
const MOST_POSTS: usize = 1 << 19;

/// Why a row cannot be fitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unfit {
    /// It would take too long to simulate.
    Long,
    /// Its call does nothing, so its predicted time is 0 on every machine. Relative errors of that are infinite.
    Idle,
    /// It cannot be simulated; the simulation's error.
    Unpriced(String),
}

impl fmt::Display for Unfit {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Unfit::Long => formatter.write_str("they take long to simulate"),
            Unfit::Idle => formatter.write_str("they are predicted to take no time"),
            Unfit::Unpriced(error) => formatter.write_str(&without_price(error)),
        }
    }
}

/// Returns, for each row, why it cannot be fitted from this machine on; `None` if it can.
pub fn unfit(rows: &[Row], machine: &Machine) -> Vec<Option<Unfit>> {
    let found = Mutex::new(vec![None; rows.len()]);
    let Ok(()) = parallel::for_each(&measured::alike(rows), |alike| {
        let first = &rows[alike[0]];
        let mut simulation = first.simulation(machine).map(|simulation| simulation.keeping(2 * MOST_POSTS));
        let is_long = simulation.as_ref().is_ok_and(|known| known.posts(first.bytes) > MOST_POSTS);
        for &number in alike {
            let unfit = match &mut simulation {
                Err(error) => Some(Unfit::Unpriced(error.clone())),
                Ok(_) if is_long => Some(Unfit::Long),
                Ok(simulation) => match rows[number].predicted(simulation) {
                    Err(error) => Some(Unfit::Unpriced(error)),
                    Ok(seconds) => (seconds <= 0.0).then_some(Unfit::Idle),
                },
            };
            found.lock().expect("nobody panics")[number] = unfit;
        }
        Ok::<_, Infallible>(())
    });
    found.into_inner().expect("nobody panics")
}

/// Rows with their simulations.
pub struct Observed<'rows> {
    pub rows: &'rows [Row],
    /// The parameters to find.
    pub parameters: Vec<Parameter>,
    /// The index of each parameter. Parameters of stages that do not differ where the search begins have the same.
    pub positions: HashMap<Parameter, usize>,
    programs: Vec<Mutex<Program>>,
}

struct Program {
    simulation: Simulation,
    /// Indices of the rows that this simulation predicts.
    rows: Vec<usize>,
}

/// A predicted time, and its parts.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// In seconds.
    pub seconds: f64,
    /// Index in [`Observed::parameters`], and the seconds that this parameter contributes.
    pub parts: Vec<(usize, f64)>,
}

impl<'rows> Observed<'rows> {
    /// Prepares the simulations. The parameters to find are those above 0 on this machine.
    pub fn new(rows: &'rows [Row], machine: &Machine) -> Result<Self, Failure> {
        let program = |alike: Vec<usize>| {
            let first = &rows[alike[0]];
            let simulation = first.simulation(machine);
            let simulation = simulation.map_err(|error| Failure::Input(named(first, &error)))?;
            Ok::<_, Failure>(Mutex::new(Program {
                simulation: simulation.keeping(2 * MOST_POSTS),
                rows: alike,
            }))
        };
        let programs = measured::alike(rows).into_iter().map(program).collect::<Result<_, _>>()?;
        let all = Parameter::all(machine);
        let parameters: Vec<Parameter> =
            all.iter().copied().filter(|parameter| parameter.first_alike(machine) == *parameter).collect();
        let position = |parameter: &Parameter| {
            let first = parameter.first_alike(machine);
            parameters.iter().position(|known| *known == first).expect("it is above 0, too")
        };
        let positions = all.iter().map(|parameter| (*parameter, position(parameter))).collect();
        Ok(Observed { rows, parameters, positions, programs })
    }

    /// Returns the prediction of each row on a machine.
    pub fn explain(&self, machine: &Machine) -> Result<Vec<Explained>, Failure> {
        let explained = Mutex::new(vec![Explained::default(); self.rows.len()]);
        parallel::for_each(&self.programs, |program| {
            let mut program = program.lock().expect("nobody panics");
            let Program { simulation, rows } = &mut *program;
            let machine = self.rows[rows[0]].place(machine);
            simulation.on(&machine);
            for &number in rows.iter() {
                let row = &self.rows[number];
                let explanation = simulation.explain(row.bytes);
                let explanation = explanation.map_err(|error| named(row, &error.to_string()))?;
                let found = explain(row, &explanation, &machine, &self.positions);
                explained.lock().expect("nobody panics")[number] = found;
            }
            Ok(())
        })
        .map_err(Failure::Input)?;
        Ok(explained.into_inner().expect("nobody panics"))
    }
}

/// Returns the error with the row's place.
fn named(row: &Row, error: &str) -> String {
    format!("line {}: {error}", row.line)
}

fn explain(
    row: &Row,
    explanation: &Explanation,
    machine: &Machine,
    positions: &HashMap<Parameter, usize>,
) -> Explained {
    let (seconds, charges) = match row.time {
        Time::Slowest => (explanation.prediction.time(), explanation.of_slowest()),
        Time::Mean => (explanation.prediction.mean_time(), explanation.of_mean()),
    };
    let stages = machine.stages(row.ranks);
    let mut parts: Vec<(usize, f64)> = Vec::new();
    for (parameter, seconds) in
        charges.into_iter().flat_map(|charge| Parameter::of_charge(charge, machine, stages))
    {
        let number = positions[&parameter];
        match parts.iter_mut().find(|(known, _)| *known == number) {
            Some((_, sum)) => *sum += seconds,
            None => parts.push((number, seconds)),
        }
    }
    Explained { seconds, parts }
}

impl Explained {
    /// Returns the prediction with each parameter multiplied by its factor, if ranks still wait for the same.
    pub fn scaled(&self, factors: &[f64]) -> Explained {
        let parts: Vec<(usize, f64)> =
            self.parts.iter().map(|&(number, seconds)| (number, seconds * factors[number])).collect();
        let known: f64 = self.parts.iter().map(|(_, seconds)| seconds).sum();
        let sum: f64 = parts.iter().map(|(_, seconds)| seconds).sum();
        Explained { seconds: self.seconds - known + sum, parts }
    }
}
