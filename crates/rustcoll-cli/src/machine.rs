//! The machine that a command line names.

use crate::command_line::MachineOption;
use crate::failure::Failure;
use crate::files;
use rustcoll::cost::Machine;
use rustcoll::cost::machine::{SHIPPED, Shipped};
use std::path::Path;

const HOCKNEY: &str = "hockney:";

/// The machine for predictions if the user names none. The proportions of its messages and shared memory are common.
pub const USUAL: &str = "infiniband-edr";

/// Returns the machine of that name, or the usual one, with this many ranks on a node.
pub fn named_or_usual(name: Option<&str>, ranks_per_node: usize) -> Result<Machine, Failure> {
    match name {
        Some(name) => MachineOption { machine: name.to_owned(), ranks_per_node: Some(ranks_per_node) }.read(),
        None => {
            let machine = Shipped::named(USUAL).expect("it comes with rustcoll").machine();
            Ok(Machine { ranks_per_node, ..machine })
        }
    }
}

impl MachineOption {
    /// Returns a machine that comes with rustcoll, or reads its file, or its three numbers.
    pub fn read(&self) -> Result<Machine, Failure> {
        let machine = self.named()?;
        let ranks_per_node = self.ranks_per_node.unwrap_or(machine.ranks_per_node);
        Ok(Machine { ranks_per_node, ..machine })
    }

    /// Returns the machine's name for titles: its file's name without the folders.
    pub fn title(&self) -> &str {
        title(&self.machine)
    }

    fn named(&self) -> Result<Machine, Failure> {
        match self.machine.strip_prefix(HOCKNEY) {
            Some(numbers) => hockney(numbers).ok_or_else(|| {
                let expected = "expected three numbers, as in hockney:1e-6,1e-9,1e-10";
                Failure::Usage(format!("--machine {}: {expected}", self.machine))
            }),
            None => match Shipped::named(&self.machine) {
                Some(shipped) => Ok(shipped.machine()),
                None => of_file(Path::new(&self.machine)),
            },
        }
    }
}

fn of_file(path: &Path) -> Result<Machine, Failure> {
    let name = files::name(path);
    let text = files::text(path).map_err(|failure| match failure {
        Failure::Input(fault) if !path.exists() => {
            let known = SHIPPED.map(|shipped| shipped.name).join(", ");
            Failure::Input(format!("{fault}; machines that come with rustcoll are {known}"))
        }
        other => other,
    })?;
    Machine::parse(&name, &text).map_err(|faults| Failure::Input(faults.to_string()))
}

/// Returns the name of a machine's file without the folders.
pub fn title(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or_default()
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
