//! What measurements say of an MPI's collectives: which algorithm to choose where, and which guidelines they violate. Nothing
//! is measured here, and nothing depends on when it was.

#![forbid(unsafe_code)]

mod result;
pub mod statistics;

pub use result::{Chosen, Decision, Provenance, Skipped, Tried, Tuning};
