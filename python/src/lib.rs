//! The Python module `rustcoll`: schedules are written, proved, priced and drawn by the library's own code.

mod blocks;
mod pricing;
mod program;
mod schedule;

use pyo3::prelude::*;

pyo3::create_exception!(
    rustcoll,
    Wrong,
    pyo3::exceptions::PyValueError,
    "A schedule that is not right, or a text that is none."
);

/// The exception that says a reason.
fn wrong(reason: impl ToString) -> PyErr {
    Wrong::new_err(reason.to_string())
}

/// Collective algorithms as data: written, proved, priced and drawn.
#[pymodule]
#[pyo3(name = "rustcoll")]
fn contents(exports: &Bound<'_, PyModule>) -> PyResult<()> {
    exports.add("__version__", env!("CARGO_PKG_VERSION"))?;
    exports.add("Wrong", exports.py().get_type::<Wrong>())?;
    exports.add_class::<blocks::Blocks>()?;
    exports.add_class::<blocks::Buffer>()?;
    exports.add_class::<program::Program>()?;
    exports.add_class::<schedule::Schedule>()?;
    blocks::add_buffers(exports)?;
    exports.add_function(wrap_pyfunction!(pricing::compare, exports)?)?;
    exports.add_function(wrap_pyfunction!(schedule::registered, exports)?)?;
    exports.add_function(wrap_pyfunction!(schedule::verify, exports)?)
}
