//! The machine that a command line names.

use crate::command_line::MachineOption;
use crate::failure::Failure;
use crate::files;
use rustcoll::cost::Machine;
use std::path::Path;

const HOCKNEY: &str = "hockney:";

impl MachineOption {
    /// Reads the machine's file, or its three numbers.
    pub fn read(&self) -> Result<Machine, Failure> {
        let machine = self.named()?;
        let ranks_per_node = self.ranks_per_node.unwrap_or(machine.ranks_per_node);
        Ok(Machine { ranks_per_node, ..machine })
    }

    /// What the machine is called in titles: its file's name without the folders.
    pub fn title(&self) -> &str {
        self.machine.rsplit('/').next().unwrap_or_default()
    }

    fn named(&self) -> Result<Machine, Failure> {
        match self.machine.strip_prefix(HOCKNEY) {
            Some(numbers) => hockney(numbers).ok_or_else(|| {
                let expected = "expected three numbers, as in hockney:1e-6,1e-9,1e-10";
                Failure::Usage(format!("--machine {}: {expected}", self.machine))
            }),
            None => {
                let path = Path::new(&self.machine);
                let machine = Machine::parse(&files::name(path), &files::text(path)?);
                machine.map_err(|faults| Failure::Input(faults.to_string()))
            }
        }
    }
}

fn hockney(numbers: &str) -> Option<Machine> {
    let read =
        |text: &str| text.trim().parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
    let numbers: Option<Vec<f64>> = numbers.split(',').map(read).collect();
    match numbers?[..] {
        [alpha, beta, gamma] => Some(Machine::hockney(alpha, beta, gamma)),
        _ => None,
    }
}
