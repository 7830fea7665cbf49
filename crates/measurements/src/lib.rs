//! The measuring program's arguments and the lines that it prints. The program needs an MPI library. The
//! command that starts it and reads its output needs none.

#![forbid(unsafe_code)]

mod contestant;
mod form;
mod heat;
mod line;
mod operation;
mod series;
mod shape;

pub use contestant::Contestant;
pub use form::Form;
pub use heat::Heat;
pub use line::{Cause, Fault, Job, Measurement, OutputLine, Reference, Trial};
pub use operation::Operation;
pub use series::Series;
pub use shape::Shape;
