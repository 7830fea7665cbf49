//! What the measuring program is told, and what it tells. The program needs an MPI; the command that starts it, and reads
//! what it prints, does not.

#![forbid(unsafe_code)]

mod contestant;
mod line;
mod series;

pub use contestant::Contestant;
pub use line::{Fault, Job, Line, Measurement};
pub use series::Series;
