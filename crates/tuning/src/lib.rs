//! Evaluates measurements of an MPI library's collectives: which algorithm to choose in each cell, and which
//! guidelines the collectives violate. This crate measures nothing, and its results do not depend on the time.

#![forbid(unsafe_code)]

mod candidates;
mod chance;
mod decide;
mod field;
mod gains;
mod guidelines;
mod mock_up;
mod profiles;
mod result;
mod rules;
pub mod samples;
mod settings;
pub mod statistics;
mod strategy;
pub mod words;

pub use candidates::{candidate, contestant};
pub use decide::{Demands, decide};
pub use field::{Entrant, Field, fields};
pub use gains::Gains;
pub use guidelines::{Comparison, Guideline, Limits, comparisons, violations};
pub use mock_up::MockUp;
pub use profiles::{Profile, profiles};
pub use result::{Chosen, Decision, Provenance, Skipped, Tried, Tuning};
pub use rules::{open_mpi_rules, rules, tuned_rules};
pub use settings::{Setting, Stretch};
pub use strategy::{
    CellKey, MOST_STEPS, SURE_FINALS, Standing, can_win, finalists, is_default, leader, steps,
};
