//! What algorithms cost on a machine.

use crate::wrong;
use pyo3::prelude::*;
use rustcoll::algorithms::description::at_least;
use rustcoll::algorithms::{Collective, Problem};
use rustcoll::atlas::{Candidate, Sweep, priceable, prices};
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
            Described::Numbers(numbers) => hockney(*numbers)?,
            Described::File(path) => read(path)?,
        };
        let ranks_per_node = match ranks_per_node {
            Some(number) => positive(number, "ranks_per_node")?,
            None => machine.ranks_per_node,
        };
        Ok(Machine { ranks_per_node, ..machine })
    }
}

fn hockney((alpha, beta, gamma): (f64, f64, f64)) -> PyResult<Machine> {
    let is_time = |seconds: f64| seconds.is_finite() && seconds >= 0.0;
    match [alpha, beta, gamma].into_iter().all(is_time) {
        true => Ok(Machine::hockney(alpha, beta, gamma)),
        false => Err(wrong(format!(
            "machine ({alpha}, {beta}, {gamma}): expected three finite numbers of seconds, from 0 up"
        ))),
    }
}

fn read(path: &Path) -> PyResult<Machine> {
    let text = fs::read_to_string(path)?;
    Machine::parse(&path.display().to_string(), &text).map_err(wrong)
}

/// The argument `name`, which counts ranks.
pub fn positive(number: usize, name: &'static str) -> PyResult<usize> {
    at_least(1, number, name).map_err(wrong)
}

/// The collective of a name.
pub fn collective(name: &str) -> PyResult<Collective> {
    let known = || Collective::ALL.map(Collective::name).join(", ");
    Collective::named(name)
        .ok_or_else(|| wrong(format!("unknown collective `{name}`; known are {}", known())))
}

/// What these candidates cost, the cheapest first: names and seconds. Who cannot serve is left out. Other threads of Python go on meanwhile.
pub fn priced(
    py: Python<'_>,
    candidates: &[Candidate],
    machine: &Machine,
    ranks: usize,
    bytes: usize,
) -> PyResult<Vec<(String, f64)>> {
    let prices = py.detach(|| prices(candidates, machine, &Problem::new(ranks), bytes, |_| {}));
    let known = prices.map_err(wrong)?.into_iter().filter(|price| price.time().is_finite());
    Ok(known.map(|price| (price.candidate.to_string(), price.time())).collect())
}

/// What rustcoll's own algorithms of a collective cost on a machine, the cheapest first: pairs of a name and seconds.
#[pyfunction]
#[pyo3(signature = (collective, ranks, bytes, machine, ranks_per_node = None))]
pub fn compare(
    py: Python<'_>,
    collective: &str,
    ranks: usize,
    bytes: usize,
    machine: Described,
    ranks_per_node: Option<usize>,
) -> PyResult<Vec<(String, f64)>> {
    let collective = priceable(self::collective(collective)?).map_err(wrong)?;
    let candidates = Candidate::all(collective, Sweep::Parameters);
    priced(py, &candidates, &machine.machine(ranks_per_node)?, positive(ranks, "ranks")?, bytes)
}
