//! Buffers of elements that MPI knows by handles.

use std::rc::Rc;

use crate::datatype::Datatype;

/// A buffer.
pub type Image = expected_results::image::Image<Rc<Datatype>>;
