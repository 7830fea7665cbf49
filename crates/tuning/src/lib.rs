//! What measurements say of an MPI's collectives: which algorithm to choose where, and which guidelines they violate. Nothing
//! is measured here, and nothing depends on when it was.

#![forbid(unsafe_code)]

mod result;
mod rules;
#[cfg(test)]
mod samples;
mod settings;
pub mod statistics;
pub mod words;

pub use result::{Chosen, Decision, Provenance, Skipped, Tried, Tuning};
pub use rules::{open_mpi_rules, rules, tuned_rules};
pub use settings::{Setting, Stretch};
