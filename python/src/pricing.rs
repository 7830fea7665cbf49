//! What algorithms cost on a machine.

use crate::wrong;
use pyo3::prelude::*;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::atlas::{Candidate, Sweep, prices};
use rustcoll::cost::Machine;
use std::fs;
use std::path::Path;

/// A machine, by its file; or the three numbers of Hockney's model, in seconds and seconds for each byte that travels and that is reduced.
#[derive(FromPyObject)]
pub enum Described {
    Numbers((f64, f64, f64)),
    File(std::path::PathBuf),
}

impl Described {
    /// The machine, with so many ranks on each node, if that is said.
    pub fn machine(&self, ranks_per_node: Option<usize>) -> PyResult<Machine> {
        let machine = match self {
            Described::Numbers((alpha, beta, gamma)) => Machine::hockney(*alpha, *beta, *gamma),
            Described::File(path) => read(path)?,
        };
        let ranks_per_node = ranks_per_node.unwrap_or(machine.ranks_per_node).max(1);
        Ok(Machine { ranks_per_node, ..machine })
    }
}

fn read(path: &Path) -> PyResult<Machine> {
    let text = fs::read_to_string(path)?;
    Machine::parse(&path.display().to_string(), &text).map_err(wrong)
}

/// The collective of a name.
pub fn collective(name: &str) -> PyResult<Collective> {
    let known = || Collective::ALL.map(Collective::name).join(", ");
    Collective::named(name)
        .ok_or_else(|| wrong(format!("unknown collective `{name}`; known are {}", known())))
}

/// What these candidates cost, the cheapest first: names and seconds. Who cannot serve is left out.
pub fn priced(
    candidates: &[Candidate],
    machine: &Machine,
    ranks: usize,
    bytes: usize,
) -> PyResult<Vec<(String, f64)>> {
    let prices = prices(candidates, machine, &Problem::new(ranks), bytes, |_| {}).map_err(wrong)?;
    let known = prices.into_iter().filter(|price| price.time().is_finite());
    Ok(known.map(|price| (price.candidate.to_string(), price.time())).collect())
}

/// What rustcoll's own algorithms of a collective cost on a machine, the cheapest first: pairs of a name and seconds.
#[pyfunction]
#[pyo3(signature = (collective, ranks, bytes, machine, ranks_per_node = None))]
pub fn compare(
    collective: &str,
    ranks: usize,
    bytes: usize,
    machine: Described,
    ranks_per_node: Option<usize>,
) -> PyResult<Vec<(String, f64)>> {
    let candidates = Candidate::all(self::collective(collective)?, Sweep::Parameters);
    priced(&candidates, &machine.machine(ranks_per_node)?, ranks, bytes)
}
