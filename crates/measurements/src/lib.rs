//! What the measuring program is told, and what it tells. The program needs an MPI; the command that starts it, and reads
//! what it prints, does not.

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
pub use line::{Cause, Fault, Job, Line, Measurement, Reference, Trial};
pub use operation::Operation;
pub use series::Series;
pub use shape::Shape;
