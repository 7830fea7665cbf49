//! Measured times, and what the simulator says of them.

use super::parameters::{Parameter, Stages};
use crate::failure::Failure;
use crate::measured::{self, Row, Time};
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::{Charge, Charged, Simulation};
use rustcoll::parallel;
use std::collections::HashMap;
use std::sync::Mutex;

/// Rows with their simulations.
pub struct Observed<'rows> {
    /// The rows.
    pub rows: &'rows [Row],
    programs: Vec<Mutex<Program>>,
}

struct Program {
    simulation: Simulation,
    /// The rows that it stands for.
    rows: Vec<usize>,
}

/// A predicted time, and what makes it up.
#[derive(Clone, Debug, Default)]
pub struct Explained {
    /// In seconds.
    pub seconds: f64,
    /// Each parameter's part of it, in seconds.
    pub parts: Vec<(Parameter, f64)>,
}

impl<'rows> Observed<'rows> {
    /// Prepares the simulations; the machine says what takes time at all.
    pub fn new(rows: &'rows [Row], machine: &Machine) -> Result<Self, Failure> {
        let program = |alike: Vec<usize>| {
            let simulation = rows[alike[0]].simulation(machine).map_err(Failure::Input)?;
            Ok::<_, Failure>(Mutex::new(Program { simulation, rows: alike }))
        };
        let programs = measured::alike(rows).into_iter().map(program).collect::<Result<_, _>>()?;
        Ok(Observed { rows, programs })
    }

    /// What each row takes on a machine.
    pub fn explain(&self, machine: &Machine) -> Result<Vec<Explained>, Failure> {
        let explained = Mutex::new(vec![Explained::default(); self.rows.len()]);
        parallel::for_each(&self.programs, |program| {
            let mut program = program.lock().expect("nobody panics");
            let Program { simulation, rows } = &mut *program;
            let machine = self.rows[rows[0]].place(machine);
            simulation.on(&machine);
            for &number in rows.iter() {
                let found = explain(&self.rows[number], simulation, &machine)?;
                explained.lock().expect("nobody panics")[number] = found;
            }
            Ok(())
        })
        .map_err(Failure::Input)?;
        Ok(explained.into_inner().expect("nobody panics"))
    }
}

fn explain(row: &Row, simulation: &mut Simulation, machine: &Machine) -> Result<Explained, String> {
    let (prediction, charges) = simulation.explain(row.bytes).map_err(|error| error.to_string())?;
    let slowest =
        (0..charges.len()).max_by(|&one, &other| prediction.ranks[one].total_cmp(&prediction.ranks[other]));
    let slowest = slowest.unwrap_or(0);
    let (seconds, chosen) = match row.time {
        Time::Slowest => (prediction.time(), &charges[slowest..slowest + 1]),
        Time::Mean => (prediction.mean_time(), &charges[..]),
    };
    let stages = Stages::of(machine, row.ranks, machine.ranks_per_node.min(row.ranks));
    let mut amounts: HashMap<(Charged, u64), f64> = HashMap::new();
    for charge in chosen.iter().flatten() {
        *amounts.entry((charge.what, charge.bytes.to_bits())).or_default() += charge.amount;
    }
    let mut parts: HashMap<Parameter, f64> = HashMap::new();
    for ((what, bytes), amount) in amounts {
        let amount = amount / chosen.len() as f64;
        let charge = Charge { what, bytes: f64::from_bits(bytes), amount };
        for (parameter, seconds) in Parameter::of_charge(charge, machine, stages) {
            *parts.entry(parameter).or_default() += seconds;
        }
    }
    Ok(Explained { seconds, parts: parts.into_iter().collect() })
}
