//! Buffers of elements with MPI datatypes.

use std::rc::Rc;

use crate::datatype::Datatype;

pub type Image = expected_results::image::Image<Rc<Datatype>>;
