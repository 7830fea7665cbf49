//! The programs of all ranks, and what can be done with them.

use crate::pricing::{Described, collective, positive, priced};
use crate::program::Program;
use crate::wrong;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use rustcoll::algorithms::description::Description;
use rustcoll::algorithms::{Algorithm, Collective, Cut, Problem};
use rustcoll::atlas::{Candidate, Sweep};
use rustcoll::cost::Cost;
use rustcoll::schedule;
use rustcoll::schedule_file::{Title, file, file_of, prove};
use rustcoll::trace::Trace;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// An algorithm for one number of ranks: a program for each of them.
#[pyclass(module = "rustcoll")]
pub struct Schedule {
    collective: Collective,
    name: String,
    root: Option<String>,
    needs_commutative: bool,
    source: Option<String>,
    programs: Vec<Py<Program>>,
}

/// What errors call a schedule that has no file.
const TEXT: &str = "schedule";

#[pymethods]
impl Schedule {
    /// Empty programs of so many ranks. A vector has so many blocks; in collectives whose blocks belong to ranks, each rank has one. The programs are
    /// for the root 0; with "any", for every root: rank i then does for root r what they say of rank i - r.
    #[new]
    #[pyo3(signature = (collective, ranks, blocks = None, *, name = "mine".to_owned(), root = None, needs_commutative = false, source = None, slots = 0))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        collective: &str,
        ranks: usize,
        blocks: Option<usize>,
        name: String,
        root: Option<String>,
        needs_commutative: bool,
        source: Option<String>,
        slots: usize,
    ) -> PyResult<Schedule> {
        let (collective, ranks) = (self::collective(collective)?, positive(ranks, "ranks")?);
        let blocks = blocks.unwrap_or(if collective.cut() == Cut::Vector { 1 } else { ranks });
        let program = |rank| Py::new(py, Program::new(rank, ranks, blocks, slots));
        let programs = (0..ranks).map(program).collect::<PyResult<_>>()?;
        Ok(Schedule { collective, name, root, needs_commutative, source, programs })
    }

    /// The program of a rank, to be written.
    fn __getitem__(&self, py: Python<'_>, rank: usize) -> PyResult<Py<Program>> {
        let program = self.programs.get(rank);
        let missing =
            || PyIndexError::new_err(format!("there is no rank {rank} among {}", self.programs.len()));
        program.map(|program| program.clone_ref(py)).ok_or_else(missing)
    }

    fn __len__(&self) -> usize {
        self.programs.len()
    }

    /// The schedule file.
    fn __str__(&self, py: Python<'_>) -> String {
        let title = Title {
            collective: self.collective,
            name: &self.name,
            root: self.root.as_deref(),
            needs_commutative: self.needs_commutative,
            source: self.source.as_deref(),
        };
        file(&title, &self.schedules(py))
    }

    /// Proves it. Returns for how many problems: roots, in place and not. Raises `Wrong`, which says what is wrong and where.
    fn verify(&self, py: Python<'_>) -> PyResult<usize> {
        verify(py, &self.__str__(py))
    }

    /// Counts at the busiest rank. The result need not be right, but each program has to make sense by itself, and all together have to end.
    fn cost(&self, py: Python<'_>) -> PyResult<BTreeMap<&'static str, usize>> {
        let cost = Cost::count_unverified(self.collective, &self.problem(), &self.schedules(py));
        Ok(cost.map_err(wrong)?.fields().into_iter().collect())
    }

    /// Predicts how many seconds it takes on a machine. It must be right, and if it has a root, for any.
    #[pyo3(signature = (bytes, machine, ranks_per_node = None))]
    fn time(
        &self,
        py: Python<'_>,
        bytes: usize,
        machine: Described,
        ranks_per_node: Option<usize>,
    ) -> PyResult<f64> {
        let text = self.__str__(py);
        let algorithm = py.detach(|| proved(&text)).map_err(wrong)?;
        let candidate = Candidate::of(self.collective, algorithm, Sweep::Defaults);
        let prices = priced(py, &candidate, &machine.machine(ranks_per_node)?, self.programs.len(), bytes)?;
        prices.first().map(|(_, time)| *time).ok_or_else(|| wrong("it has no price on this machine"))
    }

    /// Draws what happens, step by step, as SVG. It need not be right.
    fn draw(&self, py: Python<'_>) -> PyResult<String> {
        let trace = Trace::new(self.collective, &self.problem(), &self.schedules(py));
        Ok(trace.map_err(wrong)?.svg(self.programs.len()))
    }

    /// Notebooks show the drawing.
    fn _repr_svg_(&self, py: Python<'_>) -> PyResult<String> {
        self.draw(py)
    }

    /// Writes the schedule file.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(fs::write(path, self.__str__(py))?)
    }
}

impl Schedule {
    fn problem(&self) -> Problem {
        Problem::new(self.programs.len())
    }

    fn schedules(&self, py: Python<'_>) -> Vec<schedule::Schedule> {
        self.programs.iter().map(|program| program.borrow(py).schedule()).collect()
    }
}

/// The algorithm of a text, once it is proved. Algorithms live as long as the process, so a text is made into one only once.
fn proved(text: &str) -> Result<&'static Algorithm, String> {
    static KNOWN: Mutex<BTreeMap<String, &'static Algorithm>> = Mutex::new(BTreeMap::new());
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(algorithm) = known().get(text) {
        return Ok(algorithm);
    }
    // Others may look while this takes its time.
    let algorithm = prove(TEXT, text)?.algorithm(TEXT)?;
    Ok(known().entry(text.to_owned()).or_insert(algorithm))
}

/// Proves the text of a schedule file. Returns for how many problems: numbers of ranks, roots, in place and not. Raises `Wrong`, which says what is wrong
/// and where.
#[pyfunction]
pub fn verify(py: Python<'_>, text: &str) -> PyResult<usize> {
    Ok(py.detach(|| prove(TEXT, text)).map_err(wrong)?.problems)
}

/// The schedule file of one of rustcoll's own algorithms.
#[pyfunction]
pub fn registered(collective: &str, algorithm: &str, ranks: usize) -> PyResult<String> {
    let collective = self::collective(collective)?;
    let unknown = || wrong(format!("{} has no algorithm `{algorithm}`", collective.name()));
    let algorithm = collective.algorithm(algorithm).ok_or_else(unknown)?;
    let problem = Description { ranks, ..Description::default() }.problem(algorithm).map_err(wrong)?;
    file_of(algorithm, collective, &problem).map_err(wrong)
}
