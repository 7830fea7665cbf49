//! Buffers, and blocks of them: `recv[0]`, `scratch[2:4]`.

use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use rustcoll::schedule::{self, Run};

/// Blocks of a buffer that follow each other.
#[pyclass(frozen, module = "rustcoll")]
#[derive(Clone)]
pub struct Blocks(pub Run);

#[pymethods]
impl Blocks {
    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// A buffer of a rank. Its blocks are numbered from 0.
#[pyclass(frozen, module = "rustcoll")]
pub struct Buffer(schedule::Buffer);

#[pymethods]
impl Buffer {
    /// A block, or several that follow each other: `recv[0]`, `recv[2:4]`.
    fn __getitem__(&self, index: &Bound<'_, PyAny>) -> PyResult<Blocks> {
        let range = match index.cast::<PySlice>() {
            Ok(slice) => {
                let bound = |name: &str| slice.getattr(name)?.extract::<u32>();
                if !slice.getattr("step")?.is_none() {
                    return Err(PyIndexError::new_err(
                        "blocks follow each other: a slice of them has no step",
                    ));
                }
                bound("start")?..bound("stop")?
            }
            Err(_) => {
                let block: u32 = index.extract()?;
                block..block.checked_add(1).ok_or_else(|| PyIndexError::new_err("there is no such block"))?
            }
        };
        if range.is_empty() {
            return Err(PyIndexError::new_err(format!("{}..{} has no blocks", range.start, range.end)));
        }
        Ok(Blocks(self.0.blocks(range.start as usize..range.end as usize)))
    }

    fn __repr__(&self) -> String {
        self.0.to_string()
    }
}

/// The slots of a rank, which it alone writes and the others of its node read: `shared(2)[0]`.
#[pyfunction]
fn shared(rank: u32) -> Buffer {
    Buffer(schedule::Buffer::Shared(rank))
}

/// Adds the buffers that every rank has.
pub fn add_buffers(module: &Bound<'_, PyModule>) -> PyResult<()> {
    for buffer in schedule::Buffer::PRIVATE {
        module.add(buffer.to_string(), Buffer(buffer))?;
    }
    module.add_function(wrap_pyfunction!(shared, module)?)
}
