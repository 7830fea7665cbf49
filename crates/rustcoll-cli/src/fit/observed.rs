//! Measured times, and what the simulator says of them.

use super::parameters::{Parameter, Stages};
use crate::failure::Failure;
use crate::measured::{Row, Time};
use rustcoll::cost::Machine;
use rustcoll::cost::simulation::{Charge, Charged, Simulation};
use rustcoll::parallel;
use std::collections::HashMap;
use std::sync::Mutex;

/// Rows with their simulations, those of one program together.
pub struct Observed<'rows> {
    /// The rows.
    pub rows: &'rows [Row],
    programs: Vec<Mutex<Program>>,
}

struct Program {
    simulation: Simulation,
    ranks_per_node: usize,
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
        let mut places: HashMap<(String, usize, usize, String), usize> = HashMap::new();
        let mut programs: Vec<Program> = Vec::new();
        for (number, row) in rows.iter().enumerate() {
            let ranks_per_node = row.ranks_per_node.unwrap_or(machine.ranks_per_node);
            let name = format!("{} {}", row.candidate.collective.name(), row.candidate);
            let key = (name, row.ranks, ranks_per_node, row.run.clone());
            if let Some(&place) = places.get(&key) {
                programs[place].rows.push(number);
                continue;
            }
            let simulation = row.simulation(machine).map_err(Failure::Input)?;
            places.insert(key, programs.len());
            programs.push(Program { simulation, ranks_per_node, rows: vec![number] });
        }
        // Those that take longest come first, so that no processor is left alone with one.
        programs.sort_by_key(|program| std::cmp::Reverse(rows[program.rows[0]].ranks));
        Ok(Observed { rows, programs: programs.into_iter().map(Mutex::new).collect() })
    }

    /// What each row takes on a machine.
    pub fn explain(&self, machine: &Machine) -> Result<Vec<Explained>, Failure> {
        let explained = Mutex::new(vec![Explained::default(); self.rows.len()]);
        parallel::for_each(&self.programs, |program| {
            let mut program = program.lock().expect("nobody panics");
            let Program { simulation, ranks_per_node, rows } = &mut *program;
            let machine = Machine { ranks_per_node: *ranks_per_node, ..machine.clone() };
            simulation.on(&machine);
            for &number in rows.iter() {
                let found = explain(&self.rows[number], simulation, &machine).map_err(Failure::Input)?;
                explained.lock().expect("nobody panics")[number] = found;
            }
            Ok::<(), Failure>(())
        })?;
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
